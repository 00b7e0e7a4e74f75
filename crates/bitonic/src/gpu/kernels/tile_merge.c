/* The last pass of a merge that is longer than a tile: its steps on the low TILE_LOG2 bits of the places. */

KERNEL(ITEMS) tile_merge(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    load_tile(ARRAY_NAMES, x, TOP_SHIFT, row_length, count, mapping);
    clean(x, HELD_LOG2);
    clean_tile(tile, x, TOP_SHIFT, TOP_SHIFT, false, ALL_WORK);
    LET_NEXT_START();
    store_tile(ARRAY_NAMES, tile, x, row_length, count, mapping);
}
