/* Columnsort's last passes, in place: merges the second half of every column with the first half of the next, with `offset`
   1; the halves of every column, with `offset` 0. A group for every column, and one more with `offset` 1: what is before the
   first half is as if zero, what is behind the last as if infinite. */

KERNEL(ITEMS)
shift_columns(COLUMN_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Index groups = most_columns + offset;
    BEGIN_COLUMN(groups)
    if (column >= columns + offset) {
        return;
    }
    Index first = (column << TILE_LOG2) - offset * (TILE / 2); /* of column 0, it may be before the array */
    Index end = columns << TILE_LOG2;
    bool inside = !(offset && column == 0) && first + TILE <= end;
    Element x[HELD];
    AFTER_PREVIOUS();
    if (inside) {
        LOAD_CHUNK(first, TOP_SHIFT)
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            /* Registers below HELD / 2 are the lower half. */
            Index place = first + place_of(a, TOP_SHIFT, true);
            if (column == 0) {
                x[a] = zero();
                if (a >= HELD / 2) {
                    x[a] = load(AT(place));
                }
            } else {
                x[a] = infinite();
                if (a < HELD / 2) {
                    x[a] = load(AT(place));
                }
            }
        }
    }
    merge(x, HELD_LOG2);
    clean_tile(tile, x, TOP_SHIFT, TOP_SHIFT, true, ALL_WORK);
    exchange_to_store(tile, x, 0, false, STREAMED);
    LET_NEXT_START();
    restore_keys(x, mapping);
    if (inside) {
        STORE_CHUNK(first)
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 in_tile = place_of(a, STREAMED, false);
            Index place = first + in_tile;
            if ((column == 0) == (in_tile >= TILE / 2)) {
                store(AT(place), x[a]);
            }
        }
    }
}
