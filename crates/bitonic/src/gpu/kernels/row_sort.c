/* Sorts rows of any length, 2^(TILE_LOG2 - MERGES) in a tile. A row has BLOCKS blocks of 2^LOW_LOG2 places, just enough for its keys; the
   blocks up to the next power of two, 2^(MERGES - LOW_LOG2), would be infinite, and take no place and no time:

       place in a row   [ block, 0 .. BLOCKS-1 | low, LOW_LOG2 bits ]

   Rows lie in local memory one after the other. Steps on low bits do not mind where a row ends: work-items take HELD places each, in the
   arrangements of tile.c, and only as many work-items as there are places for have work. For steps on bits of a block, a work-item takes one
   place of every block of a row, its low bits the same in all. */

/* The work-items that have places. */
#define WORKS (ITEM < WORKING_ITEMS)

#define LOWS (1 << LOW_LOG2)
#define ROWS (1 << (TILE_LOG2 - MERGES))
#define ROW_PLACES (BLOCKS << LOW_LOG2)
/* The places of a block that a work-item takes. */
#define LOWS_EACH (ROWS * LOWS / ITEMS)

/* Where a place of a row is in local memory. If a work-item has all of a row, rows have an odd distance, and work-items different banks. */
#if LOW_LOG2 == 0
#define AT(row, place) ((row) * (BLOCKS | 1) + (place))
#else
#define AT(row, place) PADDED((row) * ROW_PLACES + (place))
#endif

#if LOW_LOG2 == 0
/* A work-item sorts a row. */
FUNCTION void sort_row(LOCAL Element *tile, u32 rows, u32 length)
{
    Element x[BLOCKS];
    length = ITEM < rows ? length : 0;
    UNROLL for (u32 a = 0; a < BLOCKS; a++)
    {
        x[a] = tile[AT(ITEM, a)];
        x[a] = a < length ? x[a] : infinite();
    }
    sort_registers_of(x, BLOCKS, MERGES);
    UNROLL for (u32 a = 0; a < BLOCKS; a++)
    {
        tile[AT(ITEM, a)] = x[a];
    }
}
#else
/* The steps of a merge of 2^bits blocks that compare blocks. In the upper half, low bits are the other way round, as the flip wants it.
   Blocks have a multiple of 2^PAD_LOG2 places, so that they are constants away from each other. */
FUNCTION void merge_blocks(LOCAL Element *tile, int bits)
{
    u32 row = ITEM / (LOWS / LOWS_EACH), first = ITEM % (LOWS / LOWS_EACH);
    UNROLL for (u32 turn = 0; turn < LOWS_EACH; turn++)
    {
        u32 low = turn * (LOWS / LOWS_EACH) + first;
        LOCAL Element *lower = tile + AT(row, low), *upper = tile + AT(row, LOWS - 1 - low);
        Element x[BLOCKS];
        UNROLL for (u32 a = 0; a < BLOCKS; a++)
        {
            x[a] = (a >> (bits - 1) & 1 ? upper : lower)[PADDED(a << LOW_LOG2)];
        }
        merge_of(x, BLOCKS, bits);
        UNROLL for (u32 a = 0; a < BLOCKS; a++)
        {
            (a >> (bits - 1) & 1 ? upper : lower)[PADDED(a << LOW_LOG2)] = x[a];
        }
    }
}

FUNCTION void sort_rows(LOCAL Element *tile)
{
    Element x[HELD];
    if (WORKS) {
        take(tile, x, 0, false);
    }
    sort_tile(tile, x, LOW_LOG2, WORKS);
    UNROLL_MERGES for (int bits = 1; bits <= MERGES - LOW_LOG2; bits++)
    {
        if (WORKS) {
            put(tile, x, 0, false);
        }
        BARRIER();
        merge_blocks(tile, bits);
        BARRIER();
        clean_put_tile(tile, x, LOW_LOG2, WORKS);
    }
    if (WORKS) {
        put(tile, x, 0, false);
    }
}
#endif

/* ---- Between the arrays and local memory ---- */

#if LOW_LOG2 == 0
/* Neighbouring work-items have neighbouring keys, of whatever row: `place` says which of the tile's. `inverse` is 2^32 / length, rounded up:
   that makes divisions by the length of a row products, exact for places in a tile. */
#define SHARE BLOCKS
#define FIND_PLACE(a) u32 place = HIDDEN((a) * ITEMS + ITEM)
#define ROW_OF(a) HIGH_HALF(place, inverse)
#define COLUMN_OF(a) (place - ROW_OF(a) * length)
#define EXISTS_IN_ROW(a) (place < rows * length)
#define IS_LOADED(a) EXISTS_IN_ROW(a)
#define HAS_PLACE(a) EXISTS_IN_ROW(a)
#define ADDRESS_OF(a) (start + place)
#else
/* 32 neighbouring work-items have 32 neighbouring places of a row, which is a piece: all pieces of as many rows, or some of one row. That way
   all places of a work-item are constants away from each other. */
#define FIND_PLACE(a)
#define BANDS (ITEMS / 32)
#define SHARERS (ROWS < BANDS ? BANDS / ROWS : 1)
#define PIECES (ROW_PLACES / 32)
#define PIECES_EACH ((PIECES + SHARERS - 1) / SHARERS)
#define SHARE (ROWS < BANDS ? PIECES_EACH : ROWS / BANDS * PIECES_EACH)
#define ROW_OF(a) (ITEM / 32 / SHARERS + (a) / PIECES_EACH * BANDS)
#define PIECE_OF(a) ((a) % PIECES_EACH * SHARERS + ITEM / 32 % SHARERS)
#define COLUMN_OF(a) (PIECE_OF(a) * 32 + ITEM % 32)
/* What is sure of all work-items needs no look: rows are longer than half of 2^MERGES. */
#define IS_SURE(a) (((a) % PIECES_EACH + 1) * SHARERS * 32 <= 1 << (MERGES - 1))
#define HAS_PLACE(a) (((a) % PIECES_EACH + 1) * SHARERS <= PIECES || PIECE_OF(a) < PIECES)
#define EXISTS_IN_ROW(a) (IS_SURE(a) || COLUMN_OF(a) < length)
#define IS_LOADED(a) (ROW_OF(a) < rows && EXISTS_IN_ROW(a))
#define ADDRESS_OF(a) (start + ROW_OF(a) * length + COLUMN_OF(a))
#endif

KERNEL(ITEMS) row_sort(ARRAYS, Index row_length, Index count, u32 inverse, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    AFTER_PREVIOUS();
    Index first = GROUP * ROWS, start = first * row_length;
    u32 length = (u32)row_length, rows = count - first < ROWS ? (u32)(count - first) : ROWS;
    Element x[SHARE];
    /* All loads first, so that they are under way at the same time. */
    UNROLL for (u32 a = 0; a < SHARE; a++)
    {
        FIND_PLACE(a);
        x[a] = infinite();
        if (IS_LOADED(a)) {
            x[a] = load_first(ARRAY_NAMES, ADDRESS_OF(a), COLUMN_OF(a));
        }
    }
    order_keys_of(x, SHARE, mapping);
    /* Places past the end of a row are infinite. */
    UNROLL for (u32 a = 0; a < SHARE; a++)
    {
        FIND_PLACE(a);
        if (HAS_PLACE(a)) {
            tile[AT(ROW_OF(a), COLUMN_OF(a))] = EXISTS_IN_ROW(a) ? x[a] : infinite();
        }
    }
    BARRIER();
#if LOW_LOG2 == 0
    sort_row(tile, rows, length);
#else
    sort_rows(tile);
#endif
    LET_NEXT_START();
    /* Elements go to places of the arrays from which others took theirs. */
    GLOBAL_BARRIER();
    UNROLL for (u32 a = 0; a < SHARE; a++)
    {
        FIND_PLACE(a);
        if (HAS_PLACE(a)) {
            x[a] = tile[AT(ROW_OF(a), COLUMN_OF(a))];
        }
    }
    restore_keys_of(x, SHARE, mapping);
    UNROLL for (u32 a = 0; a < SHARE; a++)
    {
        FIND_PLACE(a);
        if (IS_LOADED(a)) {
            store(ARRAY_NAMES, ADDRESS_OF(a), x[a]);
        }
    }
}
