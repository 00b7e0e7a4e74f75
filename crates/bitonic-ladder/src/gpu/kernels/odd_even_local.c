/*
 * odd_even_local: odd_even_one_kernel with its pairs staged in local memory.
 *
 *   tile     2 * items keys from `start` on, fewer at the end of the array
 *   load     work-item i takes the keys i and i + items: neighbours load neighbours
 *   compare  work-item i has the pair 2 i, 2 i + 1 of the tile
 *   store    as it was loaded
 *
 * What it teaches: local memory is not fast memory to put things in, it is memory to share and to use again. Here every
 * key is used once and by one work-item, so the copy and two barriers are added and nothing is saved. The loads of
 * odd_even_one_kernel were next to each other already.
 *
 * What limits it: the same n phases, each with more to do. Published: 2^22 keys in 153 s instead of 65.4.
 */
KERNEL odd_even_local(GLOBAL KEY *keys, INDEX count, INDEX phase)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const INDEX stride = 2 * GRID_ITEMS;

    /* The same number of rounds for the whole group, because all of it meets at the barriers. */
    for (INDEX start = GROUP * (2 * items) + phase; start + 1 < count; start += stride) {
        const INDEX left = count - start;
        const u32 filled = left < 2 * items ? (u32)left : 2 * items;

        if (item < filled)
            tile[item] = keys[start + item];
        if (item + items < filled)
            tile[item + items] = keys[start + item + items];
        BARRIER();

        const u32 low = 2 * item;
        if (low + 1 < filled) {
            const KEY first = tile[low];
            const KEY second = tile[low + 1];
            if (less(second, first)) {
                tile[low] = second;
                tile[low + 1] = first;
            }
        }
        BARRIER();

        /* A work-item reads the places that it will write in the next round, so no third barrier is needed. */
        if (item < filled)
            keys[start + item] = tile[item];
        if (item + items < filled)
            keys[start + item + items] = tile[item + items];
    }
}
