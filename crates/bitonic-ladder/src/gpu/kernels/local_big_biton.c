/*
 * local_big_biton: a step of local_memory whose biton is larger than the work-group's tile, and whose bucket fits it.
 *
 *   biton     |<----------------- up ------------------>|<---------------- down ---------------->|
 *   tiles     |  group 0  |  group 1  |  group 2  | ...
 *   buckets   | 0 | 1 | 2 | 3 | ...                             all of a group in one direction
 *
 * Keys go to local memory, barrier, compare, barrier, and back, as in local_small_biton, which has the words.
 *
 * What it teaches: a tile lies within one biton, so the direction is the same for the whole group: one computation
 * from the tile's start, and no work-item differs from its neighbour.
 *
 * What limits it: memory, one comparison for a key brought in. These are the last steps of every large stage, with all
 * distances inside the tile; done one by one, each pays for the way from and to global memory.
 */
KERNEL local_big_biton(GLOBAL KEY *keys, INDEX biton, INDEX bucket)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const u32 distance = (u32)bucket / 2;
    const INDEX start = GROUP * (2 * items);
    const bool descending = (start & biton) != 0;

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    BARRIER();

    const u32 element = item & (distance - 1);
    const u32 low = 2 * item - element;
    const u32 high = low + distance;
    const KEY first = tile[low];
    const KEY second = tile[high];
    if (less(second, first) != descending) {
        tile[low] = second;
        tile[high] = first;
    }
    BARRIER();

    keys[start + item] = tile[item];
    keys[start + item + items] = tile[item + items];
}
