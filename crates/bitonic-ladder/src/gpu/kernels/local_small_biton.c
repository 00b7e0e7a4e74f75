/*
 * local_small_biton: a step of local_memory whose bucket fits the work-group's tile.
 *
 *   bucket   the block that the stage sorts                 tile   the keys of a work-group, two for each work-item
 *   biton    the bitonic block of the step, 2 * distance
 *
 *   tile      |<--------------- 2 * items --------------->|
 *   buckets   |<- up ->|<- down ->|<- up ->|<- down ->|...      both directions in one group
 *   load      0 1 2 3 .. items-1 | 0 1 2 3 .. items-1           neighbouring work-items, neighbouring keys
 *
 * Keys go to local memory, barrier, compare, barrier, and back.
 *
 * What it teaches: with the keys in local memory, a work-item need not load the keys that it compares. Loads and stores
 * take the keys in the order in which they lie, so they are coalesced at every distance; the comparator's pattern
 * touches local memory only.
 *
 * What limits it: memory. A launch still does one step, so keys are brought in for a single comparison, and two barriers
 * are added. Local memory pays when several steps are done before the keys go back, and while distances are inside the
 * tile nothing speaks against it: the library's own engine does that.
 */
KERNEL local_small_biton(GLOBAL KEY *keys, INDEX bucket, INDEX distance)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const INDEX start = GROUP * (2 * items);

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    BARRIER();

    const u32 low = 2 * item - (item & ((u32)distance - 1));
    const u32 high = low + (u32)distance;
    const bool descending = ((start + low) & bucket) != 0;
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
