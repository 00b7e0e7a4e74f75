/*
 * naive_folded: one work-item for every comparator, found by a division and a multiplication.
 *
 *   work-item = comparator              0  1  2  3  4  5  6  7         distance 2
 *   quotient  = comparator / distance   0  0  1  1  2  2  3  3         the run of 2 * distance keys it is in
 *   remainder                           0  1  0  1  0  1  0  1         its place in the lower half of the run
 *   position                            0  1  4  5  8  9  12 13
 *
 * What it teaches: no work-item is idle, and half as many are needed. On a CPU the division makes this form slower than
 * the scan; here its tens of instructions are done while others wait for their keys.
 *
 * What limits it: memory, as in naive_scan. Work saved beside the bottleneck is not time saved.
 */
KERNEL naive_folded(GLOBAL KEY *keys, INDEX block, INDEX distance)
{
    const INDEX comparator = GRID_ITEM;
    const INDEX quotient = comparator / distance;
    const INDEX remainder = comparator % distance;
    const INDEX position = quotient * (2 * distance) + remainder;
    const INDEX partner = position + distance;

    const bool descending = (position & block) != 0;
    const KEY low = keys[position];
    const KEY high = keys[partner];
    if (less(high, low) != descending) {
        keys[position] = high;
        keys[partner] = low;
    }
}
