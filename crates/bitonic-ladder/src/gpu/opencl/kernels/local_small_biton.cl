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
 *
 * GROUP is the most work-items that a group of this launch can have.
 */
__kernel void local_small_biton(__global KEY *keys, INDEX bucket, INDEX distance)
{
    __local KEY tile[2 * GROUP];
    const uint items = get_local_size(0);
    const uint item = get_local_id(0);
    const INDEX start = (INDEX)get_group_id(0) * (2 * items);

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint low = 2 * item - (item & ((uint)distance - 1));
    const uint high = low + (uint)distance;
    const bool descending = ((start + low) & bucket) != 0;
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
