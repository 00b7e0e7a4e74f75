/* Counts keys in local memory. Where that does not hold a counter for every key, groups count the keys of one slice of them, and as many
   groups as there are slices read the same part of the array. Where it holds many more, every work-item of a sub-group has its own: those of
   neighbours lie in different banks, and never wait for each other. */

#define SLICE (POSSIBLE / SLICES)
#define NEIGHBOURS 32
/* Behind the counters is one for every neighbour, for keys of other slices. */
#define COUNTERS (SLICE * COPIES)

KERNEL(ITEMS)
tally_count(TALLY_PARAMETERS)
{
    LOCAL_ARRAY(u32, counts, COUNTERS + NEIGHBOURS);
    for (u32 place = ITEM; place < COUNTERS + NEIGHBOURS; place += ITEMS) {
        counts[place] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    u32 first = (u32)GROUP % SLICES * SLICE, neighbour = ITEM % NEIGHBOURS;
    Index part = GROUP / SLICES, parts = GROUPS / SLICES;
    for (Index start = part * TILE; start < total; start += parts * TILE) {
        Element x[HELD];
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            Index place = start + a * ITEMS + ITEM;
            x[a] = 0;
            if (place < total) {
                x[a] = load(ARRAY_NAMES, place);
            }
        }
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            bool counts_here = start + a * ITEMS + ITEM < total && x[a] - first < SLICE;
            if (COPIES > 1) {
                if (counts_here) {
                    ATOMIC_ADD(&counts[(x[a] - first) * COPIES + neighbour % COPIES], 1);
                }
            } else {
                COUNT_ONE(counts, counts_here ? x[a] - first : COUNTERS + neighbour);
            }
        }
    }
    BARRIER();
    LET_NEXT_START();
    for (u32 key = ITEM; key < SLICE; key += ITEMS) {
        u32 count = 0;
        UNROLL for (u32 copy = 0; copy < COPIES; copy++)
        {
            count += counts[key * COPIES + (copy + neighbour) % COPIES];
        }
        if (count > 0) {
            ATOMIC_ADD(&control[first + key], count);
        }
    }
}
