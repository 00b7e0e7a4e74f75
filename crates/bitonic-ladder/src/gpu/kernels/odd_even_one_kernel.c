/*
 * odd_even_one_kernel: odd-even transposition, one kernel with the phase as an argument.
 *
 *   grid       as many work-items as the device can hold at a time, whatever the number of keys
 *   work-item  its pair, then the one a whole grid further on, ..
 *
 *   phase 0    0-1  2-3  4-5  6-7  8-9 ..        grid of 2:  item 0: 0-1, 4-5, 8-9;  item 1: 2-3, 6-7
 *   phase 1    0  1-2  3-4  5-6  7-8 ..
 *
 * What it teaches: three things that cost odd_even_two_kernels time and have nothing to do with sorting. Groups as large as
 * the device allows fill it; a grid of the device's size is scheduled once; and a queue that is in order needs no
 * wait, so launches are prepared while others run.
 *
 * What limits it: the same n phases. Published: 2^20 keys in 7.94 s instead of 11.2, 2^22 in 65.4 instead of 77.8.
 */
KERNEL odd_even_one_kernel(GLOBAL KEY *keys, INDEX count, INDEX phase)
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
