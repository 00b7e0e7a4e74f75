/*
 * local_big_bucket: a step of local_memory whose bucket is larger than the work-group's tile, and with it its biton.
 *
 *   bucket    |<------ lower half ------>|<------ upper half ------>|
 *   group 0   [items]                    [items]                          two runs, half a bucket apart
 *   group 1          [items]                    [items]
 *
 * Keys go to local memory, barrier, compare, barrier, and back; local_small_biton has the words.
 *
 * What it teaches: partners are too far apart for one tile of neighbours, so a group takes a run of the lower half and
 * the run of the upper half that belongs to it. Both are coalesced.
 *
 * What limits it: memory, and here local memory is a detour: a work-item compares the very two keys that it loaded, so
 * they could have stayed in its registers, and naive_shifts does the same with less. For large arrays most steps are
 * of this kind.
 */
KERNEL local_big_bucket(GLOBAL KEY *keys, INDEX biton, INDEX bucket)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const INDEX distance = bucket / 2;
    const INDEX comparator = GROUP * items;
    const INDEX lower = 2 * comparator - (comparator & (distance - 1));
    const INDEX upper = lower + distance;
    const bool descending = (lower & biton) != 0;

    tile[item] = keys[lower + item];
    tile[item + items] = keys[upper + item];
    BARRIER();

    const KEY first = tile[item];
    const KEY second = tile[item + items];
    if (less(second, first) != descending) {
        tile[item] = second;
        tile[item + items] = first;
    }
    BARRIER();

    keys[lower + item] = tile[item];
    keys[upper + item] = tile[item + items];
}
