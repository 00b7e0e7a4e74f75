/*
 * one_item_groups: the work-group size left at 1.
 *
 *   comparator       c                          0   1   2   3            distance 2: mask = 01
 *   low bits         c & mask                   0   1   0   1            stay
 *   high bits        (c & ~mask) << 1           0   0   4   4            make room for the bit of the distance
 *   position         high | low                 0   1   4   5
 *   partner          position | distance        2   3   6   7
 *
 * What it teaches: the work-group is what a device schedules. A multiprocessor executes 32 or 64 work-items of a group in
 * lock step; in a group of one, all of those places but one stay empty, and no two work-items share a fetch from
 * memory. Everything else is done well here: context, queue and built kernel are kept between calls, and if the kernel
 * does not build, the error holds the compiler's log.
 *
 * What limits it: the scheduling of n / 2 groups a step. On a device that is a CPU it is a function call for each
 * comparator instead of a loop over many.
 */
KERNEL one_item_groups(GLOBAL KEY *keys, INDEX block, INDEX distance)
{
    const INDEX comparator = GROUP;
    const INDEX mask = distance - 1;
    const INDEX position = ((comparator & ~mask) << 1) | (comparator & mask);
    const INDEX partner = position | distance;

    const bool descending = (position & block) != 0;
    const KEY low = keys[position];
    const KEY high = keys[partner];
    if (less(high, low) != descending) {
        keys[position] = high;
        keys[partner] = low;
    }
}
