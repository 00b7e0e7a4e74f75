/* Puts every segment into its list: each group those of its share, behind what the groups before it put there. */

KERNEL(ITEMS)
segments_list(SEGMENT_PARAMETERS)
{
    /* Of every column: what all groups counted, and where this group goes on. */
    OWN_LOCAL_ARRAY(u32, counted, COLUMNS);
    OWN_LOCAL_ARRAY(u32, cursors, COLUMNS);
    /* Long segments that were found: their number, their first tile, how many they have. */
    OWN_LOCAL_ARRAY(u32, found, 3 * ITEMS);
    OWN_LOCAL_ARRAY(u32, found_count, 1);
    AFTER_PREVIOUS();
    for (u32 column = ITEM; column < COLUMNS; column += ITEMS) {
        counted[column] = 0;
        cursors[column] = 0;
    }
    BARRIER();
    for (u32 word = ITEM; word < GROUP_COUNT * COLUMNS; word += ITEMS) {
        u32 column = word % COLUMNS, count = control[COUNTS + word];
        if (column == ROUND_COLUMN) {
            ATOMIC_OR(&counted[column], count);
        } else if (count > 0) {
            ATOMIC_ADD(&counted[column], count);
            ATOMIC_ADD(&cursors[column], word / COLUMNS < GROUP ? count : 0);
        }
    }
    BARRIER();
    if (ITEM == 0) {
        u32 start = 0;
        for (u32 column = 0; column < TILE_COLUMN; column++) {
            cursors[column] += start;
            if (GROUP == 0) {
                control[column] = start;
            }
            start += counted[column];
        }
        if (GROUP == 0) {
            control[TILE_COLUMN] = start;
            control[TILE_COUNT] = counted[TILE_COLUMN] < most_tiles ? counted[TILE_COLUMN] : most_tiles;
            control[ROUNDS] = counted[ROUND_COLUMN];
        }
    }
    SHARE_OF_GROUP
    for (bool more = true; more;) {
        if (ITEM == 0) {
            *found_count = 0;
        }
        BARRIER();
        u32 segment = first + ITEM;
        Index length = segment < end ? length_of(offsets, total, longest, segment) : 0;
        if (length > LARGEST) {
            u32 at = 3 * ATOMIC_ADD(found_count, 1), tiles = tiles_of(length);
            found[at] = segment;
            found[at + 1] = ATOMIC_ADD(&cursors[TILE_COLUMN], tiles);
            found[at + 2] = tiles;
        } else if (length > 0) {
            control[LIST + ATOMIC_ADD(&cursors[class_of(length) - 1], 1)] = segment;
        }
        BARRIER();
        /* All work-items write the tiles of one segment: it may have very many. */
        for (u32 at = 0; at < 3 * *found_count; at += 3) {
            for (u32 tile = ITEM; tile < found[at + 2]; tile += ITEMS) {
                u32 number = found[at + 1] + tile;
                if (number < most_tiles) {
                    control[TILES + 2 * number] = found[at];
                    control[TILES + 2 * number + 1] = tile;
                }
            }
        }
        BARRIER();
        more = end > ITEMS && first < end - ITEMS;
        first += ITEMS;
    }
}
