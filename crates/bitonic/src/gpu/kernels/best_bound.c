/* One group for every row: see best.c. The rows are `stride` places apart, and begin at `from`. Their bounds go to `bound_at`. */

KERNEL(ITEMS)
best_bound(ARRAYS, WORK_ARRAYS, GLOBAL u32 *counters, Index stride, Index from, Index bound_at, u32 lengths,
           u32 counted, u32 best, u32 rank, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    Index row = GROUP, length = LENGTH_OF(row);
    bool is_spoilt = length < best || length > stride;
    length = is_spoilt ? 0 : length;
    /* Of every LEAST_OF elements of the sample only the least is sorted: the bound is among the first, and few of these share one. They
       are far from each other, because neighbours in rows that are sorted already would all be among the first. */
    u32 samples = TILE * LEAST_OF;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        /* All loads first, so that they are under way at the same time. A list may be shorter than the sample. Then all of it passes. */
        Element sample[LEAST_OF];
        UNROLL for (u32 other = 0; other < LEAST_OF; other++)
        {
            Index column = sampled(other * TILE + place_of(a, 0, false), samples, length > samples ? length : samples);
            sample[other] = infinite();
            if (column < length) {
                sample[other] = load_first(ARRAY_NAMES, from + row * stride + column, column);
                sample[other] = to_ordered(sample[other], ON_LOAD(mapping));
            }
        }
        x[a] = sample[0];
        UNROLL for (u32 other = 1; other < LEAST_OF; other++)
        {
            order(&x[a], &sample[other]);
        }
    }
    sort_tile(tile, x, TILE_LOG2);
    put(tile, x, 0, false);
    BARRIER();
    if (ITEM == 0) {
        Element bound = length > samples ? tile[PADDED(rank)] : infinite();
        store(WORK_NAMES, bound_at + row, bound);
        counters[counted + row] = is_spoilt ? SPOILT : 0;
    }
}
