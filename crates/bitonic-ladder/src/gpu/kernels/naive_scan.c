/*
 * naive_scan: one work-item for every key, one launch for every step.
 *
 *   work-item = position             0  1  2  3  4  5  6  7      distance 2
 *   partner = position ^ distance    2  3  0  1  6  7  4  5
 *   partner below? return            .  .  x  x  .  .  x  x
 *
 * What it teaches: the inner loop of the CPU's iterative_scan becomes the grid, and the barrier between steps becomes
 * the end of a launch, which is the only barrier that all work-groups have.
 *
 * What limits it: memory. Every step reads all keys and writes those that change place, and does one comparison
 * between. Half of the work-items return at once. Where the device waits for memory anyway, that hardly matters: published
 * measurements on an integrated GPU found it stalled for more than nine tenths of the time, and the three naive forms
 * equally fast. Where memory is faster, the groups that come and go for nothing show: on an H200, 2^24 keys took 15.0 ms,
 * with a work-item for every comparator 11.0 ms.
 */
KERNEL naive_scan(GLOBAL KEY *keys, INDEX block, INDEX distance)
{
    const INDEX position = GRID_ITEM;
    const INDEX partner = position ^ distance;
    if (partner < position)
        return;

    const bool descending = (position & block) != 0;
    const KEY low = keys[position];
    const KEY high = keys[partner];
    if (less(high, low) != descending) {
        keys[position] = high;
        keys[partner] = low;
    }
}
