/* The sums of what is to be sorted: see verify.c. */

KERNEL(ITEMS)
verify_before(ARRAYS, GLOBAL u64 *words, Index total, Index row_length)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 sums[SUMS] = {0, 0, 0};
    At at = place_in_rows(FIRST_PLACE, row_length), step = place_in_rows(STEP, row_length);
    while (at.place < total) {
        /* All loads first, so that they are under way at the same time. */
        Element x[READ];
        Index rows[READ];
        u32 count = 0;
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            x[a] = zero();
            rows[a] = at.row;
            if (at.place < total) {
                x[a] = load_first(ARRAY_NAMES, at.place, at.column);
                count = a + 1;
            }
            at = next_place(at, step, row_length);
        }
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            if (a < count) {
                add_element(sums, x[a], rows[a]);
            }
        }
    }
    leave(words, BEFORE, room, sums);
}
