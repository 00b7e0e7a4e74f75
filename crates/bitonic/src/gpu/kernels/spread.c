/* Columnsort's third pass, in place: sorts every column, which is runs of RUN elements. A group for every column. */

KERNEL(ITEMS)
spread(COLUMN_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    BEGIN_COLUMN(most_columns)
    if (column >= columns) {
        return;
    }
    Index first = column << TILE_LOG2;
    Element x[HELD];
    AFTER_PREVIOUS();
    LOAD_CHUNK(first, RUN_SHIFT)
    merge_runs(tile, x);
    exchange_to_store(tile, x, 0, false, STREAMED);
    LET_NEXT_START();
    STORE_CHUNK(first)
}
