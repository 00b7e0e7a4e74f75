/*
 * odd_even_strided: odd-even transposition with a grid of the device's size, whatever the number of keys.
 *
 *   grid       two groups of the largest size for every unit
 *   work-item  its pair, then the one a whole grid further on, ..
 *
 *   phase 0    0-1  2-3  4-5  6-7  8-9 ..        grid of 2:  item 0: 0-1, 4-5, 8-9;  item 1: 2-3, 6-7
 *   phase 1    0  1-2  3-4  5-6  7-8 ..
 *
 * What it teaches: the other way to fill a device. odd_even_one_kernel has a work-item for every pair and leaves it to the device
 * to run groups one after the other; here all groups are there from the beginning to the end of a phase and take pairs
 * in turn, so no group is ever scheduled twice.
 *
 * What limits it: the same n phases.
 */
KERNEL odd_even_strided(GLOBAL KEY *keys, INDEX count, INDEX phase)
{
    const INDEX stride = 2 * GRID_ITEMS;
    for (INDEX low = 2 * GRID_ITEM + phase; low + 1 < count; low += stride) {
        const KEY first = keys[low];
        const KEY second = keys[low + 1];
        if (less(second, first)) {
            keys[low] = second;
            keys[low + 1] = first;
        }
    }
}
