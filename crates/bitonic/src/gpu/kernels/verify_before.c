/* The sums of what is to be sorted: see verify.c. */

KERNEL(ITEMS)
verify_before(ARRAYS, GLOBAL u64 *words, TABLE ROWS)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 sums[SUMS] = {0, 0, 0};
    At at = PLACE_IN_ROWS(FIRST_PLACE), step = PLACE_IN_ROWS(STEP);
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
                x[a] = at.is_sorted ? load_first(ARRAY_NAMES, at.place, at.column) : load(ARRAY_NAMES, at.place);
                count = a + 1;
            }
            at = NEXT_PLACE(at, step);
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
