/* Sorts an array of up to 2^CLUSTER_LOG2 tiles by one cluster of work-groups. */

KERNEL(ITEMS) cluster_sort(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Element x[HELD];
    AFTER_PREVIOUS();
    load_tile(ARRAY_NAMES, x, STREAMED, row_length, count, mapping);
    sort_tile(tile, x, TILE_LOG2, ALL_WORK);
    UNROLL for (int bits = 1; bits <= CLUSTER_LOG2; bits++)
    {
        merge_cluster(tile, x, bits);
    }
    LET_NEXT_START();
    store_tile(ARRAY_NAMES, tile, x, row_length, count, mapping);
}
