/* Columnsort's first pass: from the array to the working memory. A group for every column. */

KERNEL(ITEMS)
deal(COLUMN_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    BEGIN_COLUMN(most_columns)
    if (column >= columns) {
        return;
    }
    Index first = column << TILE_LOG2;
    Element x[HELD];
    AFTER_PREVIOUS();
    /* The order of what is not sorted yet does not matter: the elements are loaded as it is fast. An index that is to
       travel with a key counts from the start of its row: of the chunk, or of the array if it is one row in several chunks. */
    Index row_start = CHUNKS_ARE_ROWS ? 0 : start;
    if (first + TILE <= length) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            Index place = first + place_of(a, STREAMED, false);
            x[a] = load_first(ARRAY_NAMES, place, row_start + place);
        }
        order_keys(x, mapping);
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            Index place = first + place_of(a, STREAMED, false);
            x[a] = infinite();
            if (place < length) {
                x[a] = load_first(ARRAY_NAMES, place, row_start + place);
            }
        }
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (first + place_of(a, STREAMED, false) >= length) {
                x[a] = infinite();
            }
        }
    }
    sort_tile(tile, x, TILE_LOG2, ALL_WORK);
    LET_NEXT_START();
    /* Neighbouring work-items hold what goes to neighbouring places, or in 2^(DEALT_LOG2 - HELD_LOG2) rows of such. */
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 place = place_of(a, 0, false);
        Index new_column = place & ((1 << DEALT_LOG2) - 1);
        Index to = (new_column * columns + column) * RUN + (place >> DEALT_LOG2);
        store(WORK_NAMES, to, x[a]);
    }
}
