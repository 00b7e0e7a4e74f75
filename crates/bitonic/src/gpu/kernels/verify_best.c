/* Whether these are the best elements of every row of `input`, which has `total` elements: see verify.c.

   They are if they are in order, each is an element of its row, and no other element of the row comes before the last of them. So these
   are the sums: before, how many there are; after, how many elements of the rows come no later than the last one of their row, and how
   many of the best are not in the input. */

KERNEL(ITEMS)
verify_best(ARRAYS, GLOBAL Key *input, GLOBAL u64 *words, Index total, Index row_length, Index best, u32 mapping)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 there[SUMS] = {0, 0, 0}, found[SUMS] = {0, 0, 0};
    Index total_best = total / row_length * best;
    At step = place_in_rows(STEP, best);
    for (At at = place_in_rows(FIRST_PLACE, best); at.place < total_best; at = next_place(at, step, best)) {
        Element element = load(ARRAY_NAMES, at.place);
        Index index = values[at.place];
        bool is_there = index < row_length;
        if (is_there) {
            is_there = is_equal(element_of(input[at.row * row_length + index], (Value)index), element);
        }
        there[0] += 1;
        found[1] += is_there ? 0 : 1;
        if (at.column > 0) {
            Element previous = ordered_at(ARRAY_NAMES, at.place - 1, mapping);
            found[2] += follows(to_ordered(element, ON_LOAD(mapping)), previous) ? 0 : 1;
        }
    }
    step = place_in_rows(STEP, row_length);
    At at = place_in_rows(FIRST_PLACE, row_length);
    while (at.place < total) {
        /* All loads first, so that they are under way at the same time. */
        Element x[READ], last[READ];
        u32 count = 0;
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            x[a] = last[a] = zero();
            if (at.place < total) {
                x[a] = to_ordered(element_of(input[at.place], (Value)at.column), ON_LOAD(mapping));
                last[a] = ordered_at(ARRAY_NAMES, at.row * best + best - 1, mapping);
                count = a + 1;
            }
            at = next_place(at, step, row_length);
        }
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            found[0] += a < count && !is_less(last[a], x[a]) ? 1 : 0;
        }
    }
    leave(words, BEFORE, room, there);
    leave(words, AFTER, room, found);
}
