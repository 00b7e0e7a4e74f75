/* Sorts a sample of TILE elements, or of a tile for each group of a cluster, and takes the splitters from it. Begins anew with
   `control`. */

#define SAMPLES (TILE << CLUSTER_LOG2)

KERNEL(ITEMS)
sample(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    for (u32 number = RANK * ITEMS + ITEM; number < LENGTHS + buckets; number += ITEMS << CLUSTER_LOG2) {
        control[number] = 0;
    }
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        Index place = sampled(RANK << TILE_LOG2 | place_of(a, STREAMED, false), SAMPLES, total);
        x[a] = load_first(ARRAY_NAMES, place, place);
    }
    order_keys(x, mapping);
    sort_tile(tile, x, TILE_LOG2);
#if CLUSTER_LOG2
    UNROLL for (int bits = 1; bits <= CLUSTER_LOG2; bits++)
    {
        merge_cluster(tile, x, bits);
    }
#endif
    LET_NEXT_START();
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        /* Splitter number s - 1 is at place s * SAMPLES / buckets, for s from 1 on. */
        u32 place = RANK << TILE_LOG2 | place_of(a, 0, false);
        u32 s = (place * buckets + SAMPLES - 1) / SAMPLES;
        if (s > 0 && s * SAMPLES / buckets == place) {
            store(WORK_NAMES, (Index)buckets * capacity + s - 1, x[a]);
        }
    }
}
