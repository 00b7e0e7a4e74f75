/*
 * local_big_bucket: a step of local_memory whose bucket is larger than the work-group's tile, and whose bitonic block
 * (biton) fits it.
 *
 *   bucket    |<----------------- up ------------------>|<---------------- down ---------------->|
 *   tiles     |  group 0  |  group 1  |  group 2  | ...
 *   bitons    | 0 | 1 | 2 | 3 | ...                             all of a group in one direction
 *
 * Keys go to local memory, barrier, compare, barrier, and back, as in local_small_biton.
 *
 * What it teaches: a tile lies within one bucket, so the direction is the same for the whole group: one computation
 * from the tile's start, and no work-item differs from its neighbour.
 *
 * What limits it: memory, one comparison for a key brought in. These are the last steps of every large stage, with all
 * distances inside the tile; done one by one, each pays for the way from and to global memory.
 *
 * GROUP is the most work-items that a group of this launch can have.
 */
__kernel void local_big_bucket(__global KEY *keys, INDEX bucket, INDEX distance)
{
    __local KEY tile[2 * GROUP];
    const uint items = get_local_size(0);
    const uint item = get_local_id(0);
    const INDEX start = (INDEX)get_group_id(0) * (2 * items);
    const bool descending = (start & bucket) != 0;

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint low = 2 * item - (item & ((uint)distance - 1));
    const uint high = low + (uint)distance;
    const KEY first = tile[low];
    const KEY second = tile[high];
    if (less(second, first) != descending) {
        tile[low] = second;
        tile[high] = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    keys[start + item] = tile[item];
    keys[start + item + items] = tile[item + items];
}
