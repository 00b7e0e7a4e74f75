/* The last pass of a merge that is longer than a tile: its steps on the low TILE_LOG2 bits of the places. */

KERNEL(ITEMS) tile_merge(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    load_tile(ARRAY_NAMES, x, row_length, count, mapping);
    clean(x, HELD_LOG2);
    put(tile, x, STREAMED, false);
    clean_tile(tile, x, STREAMED);
    store_tile(ARRAY_NAMES, tile, x, row_length, count, mapping);
}
