/*
 * xor_guarded: the loop body of an OpenMP program, moved to a device as it was.
 *
 *   for (k = 0; k < count; k++)         becomes    k = GRID_ITEM, in groups of 1024
 *       l = k ^ distance;                          the same
 *       if (l > k) ...                             one guard for the partner below and for the surplus
 *
 * What it teaches: how little a port takes, and how much it brings: fifteen times the speed of a good CPU sort on one
 * thread was published for 2^20 keys, with nothing optimised. The grid is a whole number of groups, so there may be more
 * work-items than keys; the guard that skips half of the work-items skips those, too.
 *
 * What limits it: memory, as in the naive forms. Groups as large as they can be bring nothing by themselves, because
 * the work-items of a group share nothing here.
 */
KERNEL xor_guarded(GLOBAL KEY *keys, INDEX count, INDEX block, INDEX distance)
{
    const INDEX k = GRID_ITEM;
    const INDEX l = k ^ distance;
    if (l > k && l < count) {
        const bool descending = (k & block) != 0;
        const KEY low = keys[k];
        const KEY high = keys[l];
        if (less(high, low) != descending) {
            keys[k] = high;
            keys[l] = low;
        }
    }
}
