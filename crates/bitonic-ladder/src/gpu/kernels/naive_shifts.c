/*
 * naive_shifts: one work-item for every comparator, found by shifts.
 *
 *   work-item = comparator   c                  0  1  2  3  4  5  6  7      distance 2 = 2^1
 *   keys skipped             (c >> 1) << 1      0  0  2  2  4  4  6  6      the upper halves before it
 *   position                 c + skipped        0  1  4  5  8  9  12 13
 *
 * What it teaches: this is the body of the CPU's iterative_shifts, line for line. It has the fewest instructions of the
 * naive forms, and neighbouring work-items read neighbouring keys as soon as the distance is as long as a run of memory
 * that the device fetches at once.
 *
 * What limits it: memory still. m (m + 1) / 2 launches for 2^m keys go through all keys as often; only doing several
 * steps while the keys are at hand would help.
 */
KERNEL naive_shifts(GLOBAL KEY *keys, INDEX block_log2, INDEX distance_log2)
{
    const INDEX comparator = GRID_ITEM;
    const INDEX skipped = (comparator >> distance_log2) << distance_log2;
    const INDEX position = comparator + skipped;
    const INDEX partner = position + ((INDEX)1 << distance_log2);

    const bool descending = ((position >> block_log2) & 1) != 0;
    const KEY low = keys[position];
    const KEY high = keys[partner];
    if (less(high, low) != descending) {
        keys[position] = high;
        keys[partner] = low;
    }
}
