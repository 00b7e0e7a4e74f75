/*
 * odd_even_local: odd_even_one_kernel with keys staged in local memory, one work-item for every key; V2.
 *
 *   phase 0, groups of 4     group 0          group 1                 phase 1     group 0             group 1
 *   load, by work-item       0   1   2   3    4   5   6   7                       0   1   2   3+4     .   5   6   7+8
 *   compare                  0-1     2-3      4-5     6-7                             1-2     3-4         5-6     7-8
 *   idle                         1       3        5       7                       0       2           4       6
 *
 * A pair belongs to the group of its first key. Where its second key lies beyond the group's edge, the work-item at the edge fetches
 * that one, too, and puts it back; the next group leaves it alone.
 *
 * What it teaches: local memory is not fast memory to put things in, it is memory to share and to use again. Here every key is
 * used once, so the copy and two barriers are added and nothing is saved: the loads of odd_even_one_kernel were next to each other
 * already. And a work-item for every key means twice as many of them, half of which compare nothing.
 *
 * What limits it: the same n phases, each with more to do. Published: 2^22 keys in 153 s instead of 65.4.
 */
KERNEL odd_even_local(GLOBAL KEY *keys, INDEX count, INDEX phase)
{
    LOCAL_ARRAY(KEY, tile, MOST_ITEMS + 1);
    const u32 item = ITEM;
    const INDEX place = GRID_ITEM;

    const bool first_of_pair = (place & 1) == phase && place + 1 < count;
    const bool second_of_pair = (place & 1) != phase && item > 0 && place < count;
    const bool at_edge = first_of_pair && item + 1 == ITEMS;

    if (first_of_pair || second_of_pair)
        tile[item] = keys[place];
    if (at_edge)
        tile[item + 1] = keys[place + 1];
    BARRIER();

    if (first_of_pair) {
        const KEY first = tile[item];
        const KEY second = tile[item + 1];
        if (less(second, first)) {
            tile[item] = second;
            tile[item + 1] = first;
        }
    }
    BARRIER();

    if (first_of_pair || second_of_pair)
        keys[place] = tile[item];
    if (at_edge)
        keys[place + 1] = tile[item + 1];
}
