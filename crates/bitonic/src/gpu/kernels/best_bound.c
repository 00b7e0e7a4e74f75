/* One group for every row, or for every cell: see best.c. Bounds go to `bound_at`. */

KERNEL(ITEMS)
best_bound(ARRAYS, WORK_ARRAYS, GLOBAL u32 *counters, TABLE ROWS, Index bound_at, u32 counted, u32 best, u32 rank,
           u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    /* Of every LEAST_OF elements of the sample only the least is sorted: the bound is among the first, and few of these share one. They
       are far from each other, because neighbours in rows that are sorted already would all be among the first. */
#if SEGMENTED
    Owner owner = owner_of(GROUP, cell_length, offsets, segments, total, longest);
    if (owner.length == 0 || owner.first_cell != GROUP) {
        return;
    }
    Index length = owner.length;
    bool is_spoilt = false;
    /* The longer the segment, the larger the sample, and the lower the rank: as the plan reckons it, for a segment of this length. */
    u32 least_of = owner.cells < MOST_LEAST_OF / LEAST_OF ? (u32)owner.cells * LEAST_OF : MOST_LEAST_OF;
    u32 samples = TILE * least_of;
    float mean = (float)samples * (float)best / (float)length;
    u32 rank_here = (u32)(mean + 4.5f * sqrt(mean) + 5.0f);
    rank = rank_here < rank ? rank_here : rank;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = infinite();
    }
    for (u32 other = 0; other < least_of; other++) {
        Element sample[HELD];
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            Index column = sampled(other * TILE + place_of(a, 0, false), samples, length);
            sample[a] = load_first(ARRAY_NAMES, owner.begin + column, column);
        }
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            sample[a] = to_ordered(sample[a], ON_LOAD(mapping));
            order(&x[a], &sample[a]);
        }
    }
#else
    Index row = GROUP, length = LENGTH_OF(row);
    bool is_spoilt = length < best || length > stride;
    length = is_spoilt ? 0 : length;
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
#endif
    sort_tile(tile, x, TILE_LOG2);
    put(tile, x, 0, false);
    BARRIER();
    if (ITEM == 0) {
        Element bound = length > samples ? tile[PADDED(rank)] : infinite();
        store(WORK_NAMES, bound_at + GROUP, bound);
        counters[counted + GROUP] = is_spoilt ? SPOILT : 0;
    }
}
