/* The first pass: sorts every tile, or the rows in it. MERGES merges are made: TILE_LOG2, or as many as rows in the tile
   need. */

KERNEL(ITEMS) tile_sort(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    load_tile(ARRAY_NAMES, x, row_length, count, mapping);
#if SHORT_ROWS
    put(tile, x, STREAMED, false);
    BARRIER();
    take(tile, x, 0, false);
#endif
    /* Otherwise the tile is one unsorted piece of one row. Its order does not matter yet, so the elements are where they
       have to be: each work-item says that its own are HELD neighbours. */

    UNROLL for (int bits = 1; bits <= (MERGES < HELD_LOG2 ? MERGES : HELD_LOG2); bits++)
    {
        merge(x, bits);
    }
    put(tile, x, 0, false);
    UNROLL_MERGES for (int bits = HELD_LOG2 + 1; bits <= MERGES; bits++)
    {
        BARRIER();
        take(tile, x, bits - HELD_LOG2, true);
        merge(x, HELD_LOG2);
        put(tile, x, bits - HELD_LOG2, true);
        clean_tile(tile, x, bits - HELD_LOG2);
    }
    store_tile(ARRAY_NAMES, tile, x, row_length, count, mapping);
}
