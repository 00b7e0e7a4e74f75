/*
 * local_many_steps: as many steps as possible while the keys are in local memory.
 *
 *   stage    blocks up to a tile      twice a tile          four tiles
 *   steps    1 | 2 1 | 4 2 1 | ..     t | t/2 .. 2 1        2t | t | t/2 .. 2 1
 *   launch   sort_tiles: one          1 + one               1 + 1 + one           global_step, finish_tiles
 *
 *   tile     |<----------- 2 * items ----------->|          a work-group's, two keys for each work-item
 *   load     0 1 2 3 .. items-1 | 0 1 2 3 .. items-1        once
 *   step     compare, barrier, compare, barrier, ..         in local memory, no way to global memory between
 *   store    as loaded                                      once
 *
 * What it teaches: local memory pays by being used again. All steps with distances inside a tile are done with one load and one store:
 * with tiles of 2^t keys a sort of 2^m keys has 1 + (m - t) (m - t + 3) / 2 launches instead of m (m + 1) / 2. 2^20 keys in
 * tiles of 2^9 are 78 passes over memory instead of 210.
 *
 * What limits it: the steps whose partners are further apart than a tile, one pass over memory each; and in the tile the barriers, one
 * for each step, with two keys a work-item between them. The library's engine keeps several keys of a work-item in registers,
 * so that it meets at barriers less often, and does several steps in each pass over memory.
 */

/* One comparator of a tile that begins at `start`. */
FUNCTION void compare_in_tile(LOCAL KEY *tile, u32 comparator, u32 distance, bool descending)
{
    const u32 low = 2 * comparator - (comparator & (distance - 1));
    const u32 high = low + distance;
    const KEY first = tile[low];
    const KEY second = tile[high];
    if (less(second, first) != descending) {
        tile[low] = second;
        tile[high] = first;
    }
}

/* All stages whose blocks fit a tile. */
KERNEL sort_tiles(GLOBAL KEY *keys)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const INDEX start = GROUP * (2 * items);

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    BARRIER();

    for (u32 block = 2; block <= 2 * items; block *= 2) {
        for (u32 distance = block / 2; distance > 0; distance /= 2) {
            const u32 low = 2 * item - (item & (distance - 1));
            compare_in_tile(tile, item, distance, ((start + low) & block) != 0);
            BARRIER();
        }
    }

    keys[start + item] = tile[item];
    keys[start + item + items] = tile[item + items];
}

/* One step with a distance of at least a tile. */
KERNEL global_step(GLOBAL KEY *keys, INDEX block, INDEX distance)
{
    const INDEX comparator = GRID_ITEM;
    const INDEX low = 2 * comparator - (comparator & (distance - 1));
    const INDEX high = low + distance;
    const bool descending = (low & block) != 0;
    const KEY first = keys[low];
    const KEY second = keys[high];
    if (less(second, first) != descending) {
        keys[low] = second;
        keys[high] = first;
    }
}

/* The rest of a stage, all steps with distances inside a tile. A tile lies within one block, so it has one direction. */
KERNEL finish_tiles(GLOBAL KEY *keys, INDEX block)
{
    LOCAL_ARRAY(KEY, tile, 2 * MOST_ITEMS);
    const u32 items = ITEMS;
    const u32 item = ITEM;
    const INDEX start = GROUP * (2 * items);
    const bool descending = (start & block) != 0;

    tile[item] = keys[start + item];
    tile[item + items] = keys[start + item + items];
    BARRIER();

    for (u32 distance = items; distance > 0; distance /= 2) {
        compare_in_tile(tile, item, distance, descending);
        BARRIER();
    }

    keys[start + item] = tile[item];
    keys[start + item + items] = tile[item + items];
}
