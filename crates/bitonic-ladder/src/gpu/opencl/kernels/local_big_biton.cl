/*
 * local_big_biton: a step of local_memory whose bitonic block (biton) is larger than the work-group's tile.
 *
 *   biton     |<------ lower half ------>|<------ upper half ------>|
 *   group 0   [items]                    [items]                          two runs, a distance apart
 *   group 1          [items]                    [items]
 *
 * Keys go to local memory, barrier, compare, barrier, and back.
 *
 * What it teaches: partners are too far apart for one tile of neighbours, so a group takes a run of the lower half and
 * the run of the upper half that belongs to it. Both are coalesced.
 *
 * What limits it: memory, and here local memory is a detour: a work-item compares the very two keys that it loaded, so
 * they could have stayed in its registers, and naive_shifts does the same with less. For large arrays most steps are
 * of this kind.
 *
 * GROUP is the most work-items that a group of this launch can have.
 */
__kernel void local_big_biton(__global KEY *keys, INDEX bucket, INDEX distance)
{
    __local KEY tile[2 * GROUP];
    const uint items = get_local_size(0);
    const uint item = get_local_id(0);
    const INDEX comparator = (INDEX)get_group_id(0) * items;
    const INDEX lower = 2 * comparator - (comparator & (distance - 1));
    const INDEX upper = lower + distance;
    const bool descending = (lower & bucket) != 0;

    tile[item] = keys[lower + item];
    tile[item + items] = keys[upper + item];
    barrier(CLK_LOCAL_MEM_FENCE);

    const KEY first = tile[item];
    const KEY second = tile[item + items];
    if (less(second, first) != descending) {
        tile[item] = second;
        tile[item + items] = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    keys[lower + item] = tile[item];
    keys[upper + item] = tile[item + items];
}
