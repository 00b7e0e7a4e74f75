/*
 * odd_even_two_kernels: odd-even transposition, a kernel for even phases and one for odd phases.
 *
 *   even_phase    0-1  2-3  4-5  6        one work-item for every pair
 *   odd_phase     0  1-2  3-4  5-6
 *
 * Each is launched n / 2 times, in groups of 32, and the host waits after each pair of launches.
 *
 * What it teaches: the simplest network maps to a device without any thought, and a device does not mend an algorithm.
 * Keys travel one place a phase, so n phases are needed whatever the number of work-items.
 *
 * What limits it: for few keys the launches, n of them, and n / 2 waits; for many keys n passes over memory. Groups of 32
 * fill a multiprocessor only if it can hold very many groups. Published: 2^20 keys in 11.2 s, 2^22 in 77.8 s.
 */
KERNEL even_phase(GLOBAL KEY *keys, INDEX count)
{
    const INDEX low = 2 * GRID_ITEM;
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

KERNEL odd_phase(GLOBAL KEY *keys, INDEX count)
{
    const INDEX low = 2 * GRID_ITEM + 1;
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
