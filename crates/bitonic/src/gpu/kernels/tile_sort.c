/* The first pass: sorts every tile, or the rows in it. MERGES merges are made: TILE_LOG2, or as many as rows in the tile
   need. */

/* What the work-items that exchange elements after loading them hold: 2^NEIGHBOURS_LOG2. Rows of that length and more can
   have them in any order. */
#define NEIGHBOURS_LOG2 (HELD_LOG2 + STREAMED)

KERNEL(ITEMS) tile_sort(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    load_tile(ARRAY_NAMES, x, STREAMED, row_length, count, mapping);
#if SHORT_ROWS && MERGES < NEIGHBOURS_LOG2
    exchange(tile, x, STREAMED, false, 0, false, ALL_WORK);
#endif
    /* Otherwise they are unsorted pieces of one row. Their order does not matter yet, so the elements are where they
       have to be: each work-item says that its own are HELD neighbours. */
    sort_tile(tile, x, MERGES, ALL_WORK);
    LET_NEXT_START();
    store_tile(ARRAY_NAMES, tile, x, row_length, count, mapping);
}
