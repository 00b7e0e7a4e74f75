/* Counts the segments of every class: each group those of its share. */

KERNEL(ITEMS)
segments_count(SEGMENT_PARAMETERS)
{
    OWN_LOCAL_ARRAY(u32, counts, COLUMNS);
    AFTER_PREVIOUS();
    for (u32 column = ITEM; column < COLUMNS; column += ITEMS) {
        counts[column] = 0;
    }
    BARRIER();
    SHARE_OF_GROUP
    for (u32 segment = first + ITEM; segment < end; segment += ITEMS) {
        Index length = length_of(offsets, total, longest, segment);
        if (length > LARGEST) {
            ATOMIC_ADD(&counts[TILE_COLUMN], tiles_of(length));
            ATOMIC_OR(&counts[ROUND_COLUMN], ~(~0u << rounds_of(length)));
        } else if (length > 0) {
            ATOMIC_ADD(&counts[class_of(length) - 1], 1);
        }
    }
    BARRIER();
    for (u32 column = ITEM; column < COLUMNS; column += ITEMS) {
        control[COUNTS + (u32)GROUP * COLUMNS + column] = counts[column];
    }
}
