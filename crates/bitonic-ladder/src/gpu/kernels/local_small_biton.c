/*
 * local_small_biton: a step of local_memory whose biton fits the work-group's tile, and so does its bucket.
 *
 *   biton    the block that the stage sorts; doubled from stage to stage
 *   bucket   the part of it within which the step compares, 2 * distance; first as large as the biton, halved at each step
 *   tile     the keys of a work-group, two for each work-item
 *
 *   tile      |<----------------- 2 * items ----------------->|
 *   bitons    |<-- up --->|<- down -->|<-- up --->|<- down -->|      both directions in one group
 *   buckets   | 0  |  1   | 0  |  1   | ..
 *   load      0 1 2 3 .. items-1 | 0 1 2 3 .. items-1                neighbouring work-items, neighbouring keys
 *
 * Keys go to local memory, barrier, compare, barrier, and back.
 *
 * Who compares what: comparators are numbered in three dimensions, biton, bucket in the biton, element in the lower half of the bucket.
 * All three lengths are powers of two, so they are bit fields of one number, the element lowest:
 *
 *   comparator = [ biton | bucket | element ]        position = [ biton | bucket | 0 | element ]
 *
 * A range of one dimension runs through the same comparators in the same order as one of three with the element innermost, and
 * groups of so many neighbours are the same groups. So one dimension is enough, and no length has to be passed for the others.
 *
 * What it teaches: with the keys in local memory, a work-item need not load the keys that it compares. Loads and stores
 * take the keys in the order in which they lie, so they are coalesced at every distance; the comparator's pattern
 * touches local memory only.
 *
 * What limits it: memory. A launch still does one step, so keys are brought in for a single comparison, and two barriers
 * are added. Local memory pays when several steps are done before the keys go back: local_many_steps.
 */
KERNEL local_small_biton(GLOBAL KEY *keys, INDEX biton, INDEX bucket)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const u32 distance = (u32)bucket / 2;
    const INDEX start = GROUP * (2 * items);

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    BARRIER();

    const u32 element = item & (distance - 1);
    const u32 low = 2 * item - element;
    const u32 high = low + distance;
    const bool descending = ((start + low) & biton) != 0;
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
