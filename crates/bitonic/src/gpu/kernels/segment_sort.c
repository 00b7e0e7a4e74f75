/* Sorts all segments of a class, 2^(TILE_LOG2 - MERGES) in a tile, each at a multiple of 2^MERGES places; or, with PIECES set, every tile
   of the longer segments. A group takes one tile after the other. */

#define ROWS (1 << (TILE_LOG2 - MERGES))

/* Behind the tile, at a multiple of 8 bytes, is where its segments begin, and how long they are: the plan sees to the room. */
#define PLACES_AT ((PADDED(TILE) * sizeof(Element) + 7) / 8 * 8)

/* What the work-items that exchange elements after loading them hold, as in tile_sort.c. */
#define NEIGHBOURS_LOG2 (HELD_LOG2 + STREAMED)

#define ROW(a) (place_of(a, STREAMED, false) >> MERGES)
#define COLUMN(a) (place_of(a, STREAMED, false) & ((1u << MERGES) - 1))
#if PIECES
#define BEGIN(a) begin
#define EXISTS(a) (COLUMN(a) < length)
#else
#define BEGIN(a) begins[ROW(a)]
#define EXISTS(a) (COLUMN(a) < lengths[ROW(a)])
#endif

KERNEL(ITEMS)
segment_sort(SEGMENT_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    AFTER_PREVIOUS();
#if PIECES
    u32 first = 0, end = control[TILE_COUNT];
#else
    LOCAL Index *begins = (LOCAL Index *)((LOCAL u8 *)tile + PLACES_AT);
    LOCAL u32 *lengths = (LOCAL u32 *)(begins + ROWS);
    u32 first = control[MERGES - 1], end = control[MERGES];
#endif
    u32 tiles = (end - first + ROWS - 1) / ROWS, number = (u32)GROUP;
    for (; number < tiles; number += (u32)GROUPS) {
        Index before = 0; /* what comes before the tile in its segment */
        bool to_work = false;
#if PIECES
        u32 segment = control[TILES + 2 * number];
        before = (Index)control[TILES + 2 * number + 1] << TILE_LOG2;
        Index begin = (Index)offsets[segment] + before, length = length_of(offsets, total, longest, segment);
        to_work = IS_IN_WORK(rounds_of(length));
        length -= before;
#else
        for (u32 row = ITEM; row < ROWS; row += ITEMS) {
            u32 place = first + number * ROWS + row;
            begins[row] = 0;
            lengths[row] = 0;
            if (place < end) {
                u32 segment = control[LIST + place];
                begins[row] = (Index)offsets[segment];
                lengths[row] = (u32)length_of(offsets, total, longest, segment);
            }
        }
        BARRIER();
#endif
        Element x[HELD];
        /* All loads first, so that they are under way at the same time. */
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = infinite();
            if (EXISTS(a)) {
                x[a] = load_first(ARRAY_NAMES, BEGIN(a) + COLUMN(a), before + COLUMN(a));
            }
        }
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (!EXISTS(a)) {
                x[a] = infinite();
            }
        }
#if MERGES < NEIGHBOURS_LOG2
        exchange(tile, x, STREAMED, false, 0, false, ALL_WORK);
#endif
        sort_tile(tile, x, MERGES, ALL_WORK);
        exchange_to_store(tile, x, 0, false, STREAMED);
        restore_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (EXISTS(a)) {
                if (to_work) {
                    store(WORK_NAMES, BEGIN(a) + COLUMN(a), x[a]);
                } else {
                    store(ARRAY_NAMES, BEGIN(a) + COLUMN(a), x[a]);
                }
            }
        }
        BARRIER();
    }
}
