/* Whether these are the best elements of every row of `input`, which has `total` elements: see verify.c.

   They are if they are in order, each is an element of its row, and no other element of the row comes before the last of them. So these
   are the sums: before, how many there are; after, how many elements of the rows come no later than the last one of their row, and how
   many of the best are not in the input. A segment that has fewer elements than are asked for has all of them among its best. */

/* Where a row begins in the input, and how long it is. */
#if SEGMENTED
#define ROW_AT(row) ((Index)offsets[row])
#define LENGTH_AT(row) length_of(offsets, total, longest, (u32)(row))
#define ROW_COUNT ((Index)segments)
#else
#define ROW_AT(row) ((row) * row_length)
#define LENGTH_AT(row) (row_length)
#define ROW_COUNT (total / row_length)
#endif

KERNEL(ITEMS)
verify_best(ARRAYS, GLOBAL Key *input, GLOBAL u64 *words, TABLE ROWS, Index best, u32 mapping)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 there[SUMS] = {0, 0, 0}, found[SUMS] = {0, 0, 0};
    Index total_best = ROW_COUNT * best;
    At step = place_in_rows(STEP, best);
    for (At at = place_in_rows(FIRST_PLACE, best); at.place < total_best; at = next_place(at, step, best)) {
        Index length = LENGTH_AT(at.row);
        if (at.column < length) {
            Element element = load(ARRAY_NAMES, at.place);
            Index index = values[at.place];
            bool is_there = index < length;
            if (is_there) {
                is_there = is_equal(element_of(input[ROW_AT(at.row) + index], (Value)index), element);
            }
            there[0] += 1;
            found[1] += is_there ? 0 : 1;
            if (at.column > 0) {
                Element previous = ordered_at(ARRAY_NAMES, at.place - 1, mapping);
                found[2] += follows(to_ordered(element, ON_LOAD(mapping)), previous) ? 0 : 1;
            }
        }
    }
    step = PLACE_IN_ROWS(STEP);
    At at = PLACE_IN_ROWS(FIRST_PLACE);
    while (at.place < total) {
        /* All loads first, so that they are under way at the same time. */
        Element x[READ], last[READ];
        u32 is_input = 0;
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            x[a] = last[a] = zero();
            if (at.place < total && at.is_sorted) {
                Index length = LENGTH_AT(at.row);
                x[a] = to_ordered(element_of(input[at.place], (Value)at.column), ON_LOAD(mapping));
                last[a] = ordered_at(ARRAY_NAMES, at.row * best + (best < length ? best : length) - 1, mapping);
                is_input |= 1u << a;
            }
            at = NEXT_PLACE(at, step);
        }
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            found[0] += (is_input >> a & 1) != 0 && !is_less(last[a], x[a]) ? 1 : 0;
        }
    }
    leave(words, BEFORE, room, there);
    leave(words, AFTER, room, found);
}
