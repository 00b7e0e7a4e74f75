/*
 * odd_even_one_kernel: odd-even transposition, one kernel with the phase as an argument; V1.
 *
 *   phase 0    0-1  2-3  4-5  6-7  8-9 ..        one work-item for every pair
 *   phase 1    0  1-2  3-4  5-6  7-8 ..
 *
 *   groups     as many as the device can hold at a time, each as small as it can be then:
 *
 *              pairs / (units * groups a unit holds), rounded up to whole lock-step widths
 *
 * What it teaches: two things that cost odd_even_two_kernels time and have nothing to do with sorting. Groups of 32 leave a unit half
 * empty once it holds no more groups; groups that grow with the number of pairs fill every slot. And a queue that is in order
 * needs no wait, so launches are prepared while others run.
 *
 * What limits it: the same n phases. Published: 2^20 keys in 7.94 s instead of 11.2, 2^22 in 65.4 instead of 77.8.
 */
KERNEL odd_even_one_kernel(GLOBAL KEY *keys, INDEX count, INDEX phase)
{
    const INDEX low = 2 * GRID_ITEM + phase;
    const INDEX high = low + 1;
    if (high < count) {
        const KEY first = keys[low];
        const KEY second = keys[high];
        if (less(second, first)) {
            keys[low] = second;
            keys[high] = first;
        }
    }
}
