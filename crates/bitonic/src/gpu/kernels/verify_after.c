/* The sums of what was sorted, and whether it is in order: see verify.c. */

KERNEL(ITEMS)
verify_after(ARRAYS, GLOBAL u64 *words, TABLE ROWS, u32 mapping)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 sums[SUMS] = {0, 0, 0};
    At at = PLACE_IN_ROWS(FIRST_PLACE), step = PLACE_IN_ROWS(STEP);
    while (at.place < total) {
        /* All loads first, so that they are under way at the same time. */
        Element x[READ], compared[READ], previous[READ];
        Index rows[READ];
        u32 count = 0, begins = 0;
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            x[a] = compared[a] = previous[a] = zero();
            rows[a] = at.row;
            begins |= at.column == 0 ? 1u << a : 0;
            if (at.place < total) {
                x[a] = load(ARRAY_NAMES, at.place);
                compared[a] = ordered_at(ARRAY_NAMES, at.place, mapping);
                previous[a] = ordered_at(ARRAY_NAMES, at.place - (at.column > 0 ? 1 : 0), mapping);
                count = a + 1;
            }
            at = NEXT_PLACE(at, step);
        }
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            if (a < count) {
                add_element(sums, x[a], rows[a]);
                sums[2] += (begins >> a & 1) != 0 || follows(compared[a], previous[a]) ? 0 : 1;
            }
        }
    }
    leave(words, AFTER, room, sums);
}
