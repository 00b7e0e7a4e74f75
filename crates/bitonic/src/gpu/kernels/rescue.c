/* Sorts the array if a bucket was too long, which hardly ever is: the network in its plainest form, one step at a time over
   memory, by one cluster of groups or by a single group. Many times slower than any other way, so that it need not be
   anything else: it costs one launch that ends at once. */

#if CLUSTER_LOG2
#define STEP_BARRIER() cluster_barrier()
#else
#define STEP_BARRIER() GLOBAL_BARRIER()
#endif

KERNEL(ITEMS)
rescue(BUCKET_PARAMETERS)
{
    AFTER_PREVIOUS();
    if (control[FAILED] == 0) {
        return;
    }
    Index first = RANK * ITEMS + ITEM, all = ITEMS << CLUSTER_LOG2;
    for (Index place = first; place < total; place += all) {
        store(ARRAY_NAMES, place, to_ordered(load_first(ARRAY_NAMES, place, place), ON_LOAD(mapping)));
    }
    STEP_BARRIER();
    for (u32 bits = 1; (Index)1 << (bits - 1) < total; bits++) {
        for (u32 bit = bits; bit-- > 0;) {
            /* The comparators by number: of place a, which has a 0 at this bit. The first step of a merge is the flip. */
            Index below = ((Index)1 << bit) - 1;
            for (Index number = first; number < ((total >> (bit + 1)) + 1) << bit; number += all) {
                Index a = (number & ~below) << 1 | (number & below);
                Index b = bit + 1 == bits ? a ^ (2 * below + 1) : a | (below + 1);
                if (b < total) {
                    Element x = load(ARRAY_NAMES, a), y = load(ARRAY_NAMES, b);
                    order(&x, &y);
                    store(ARRAY_NAMES, a, x);
                    store(ARRAY_NAMES, b, y);
                }
            }
            STEP_BARRIER();
        }
    }
    for (Index place = first; place < total; place += all) {
        store(ARRAY_NAMES, place, from_ordered(load(ARRAY_NAMES, place), ON_STORE(mapping)));
    }
}
