/* Every group makes starts of the counters of a chunk, and says how many keys that has. */

#define EACH (CHUNK / ITEMS)

KERNEL(ITEMS)
tally_sum(TALLY_PARAMETERS)
{
    OWN_LOCAL_ARRAY(u32, sums, ITEMS);
    AFTER_PREVIOUS();
    u32 first = ((u32)GROUP << CHUNK_LOG2) + ITEM * EACH, start = 0;
    u32 counts[EACH];
    UNROLL for (u32 a = 0; a < EACH; a++)
    {
        counts[a] = control[first + a];
        start += counts[a];
    }
    sums[ITEM] = start;
    BARRIER();
    for (u32 distance = 1; distance < ITEMS; distance *= 2) {
        u32 before = ITEM >= distance ? sums[ITEM - distance] : 0;
        BARRIER();
        sums[ITEM] += before;
        BARRIER();
    }
    LET_NEXT_START();
    start = ITEM > 0 ? sums[ITEM - 1] : 0;
    UNROLL for (u32 a = 0; a < EACH; a++)
    {
        control[first + a] = start;
        start += counts[a];
    }
    if (ITEM == ITEMS - 1) {
        control[POSSIBLE + (u32)GROUP] = start;
    }
}
