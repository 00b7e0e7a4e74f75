/* Sorts rows somewhat longer than a power of two, 2^(TILE_LOG2 - MERGES) in a tile. A row is a head of 2^MERGES keys and a rest of up to
   2^REST_LOG2. Both are sorted as tiles are, at the same time and by different work-items, and then merged.

       local memory   [ head of row 0 | head of row 1 | .. | rest of row 0 | rest of row 1 | .. | splits ]

   A work-item of the merge has HELD places of a row, head and rest taken together, in the arrangement with shift 0. It looks for how
   much of the rest belongs before them, by halving. Then it knows which elements of either are its own: those of the head, infinite ones,
   and those of the rest, the other way round, rise and then fall, so that half-cleaners sort them.

   What is compared in the search depends on the keys: rows that must not show theirs are sorted by row_sort.c. */

#define ROWS (1 << (TILE_LOG2 - MERGES))
#define HEAD (1u << MERGES)
#define REST (1u << REST_LOG2)
/* Heads have ITEMS work-items, as tiles have; behind them are those of the rests. */
#define HAS_HEAD (ITEM < ITEMS)

#define HEAD_AT(row, place) PADDED(((row) << MERGES) + (place))
#define REST_AT(row, place) PADDED(TILE + ((row) << REST_LOG2) + (place))
/* How much of the rest comes before the places of a work-item is behind all elements; the plan sees to the room. */
#define SPLITS_AT PADDED(TILE + ROWS * REST)

/* The part of a row that a work-item has places of: heads, or rests, which begin at `begin` in the tile and behind `before` keys of a row.
   Register a of the arrangement in which keys are loaded and stored belongs to this row and column of the part. A row has all of its head. */
#define ROW_OF(a) ((first >> log2) + ((a) << STREAMED >> log2))
#define COLUMN_OF(a) (before + (first & ((1u << log2) - 1)) + ((a) << STREAMED & ((1u << log2) - 1)))
#define IN_ROW(a) (before == 0 || COLUMN_OF(a) < length)
#define ADDRESS_OF(a) (start + ROW_OF(a) * length + COLUMN_OF(a))

/* Where there is nothing to load, something else is: that takes no branches. Rows past the last one are never stored, and what is past the
   end of a row is replaced. */
FUNCTION void load_part(ARRAYS, Element *x, Index start, u32 length, u32 rows, u32 log2, u32 begin, u32 before)
{
    u32 first = first_place(STREAMED, false) - begin;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 row = ROW_OF(a) < rows ? ROW_OF(a) : rows - 1, column = IN_ROW(a) ? COLUMN_OF(a) : length - 1;
        x[a] = load_first(ARRAY_NAMES, start + row * length + column, column);
    }
}

/* Rests end before the places for them do. */
FUNCTION void end_rests(Element *x, u32 length)
{
    u32 first = first_place(STREAMED, false), before = HEAD, log2 = REST_LOG2;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = IN_ROW(a) ? x[a] : infinite();
    }
}

FUNCTION void store_part(ARRAYS, const Element *x, Index start, u32 length, u32 rows, u32 log2, u32 begin, u32 before)
{
    u32 first = first_place(STREAMED, false) - begin;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        if (ROW_OF(a) < rows && IN_ROW(a)) {
            store(ARRAY_NAMES, ADDRESS_OF(a), x[a]);
        }
    }
}

/* How many elements of the rest are among the first `count` of the sorted row. */
FUNCTION u32 rest_before(LOCAL const Element *tile, u32 row, u32 count, u32 rest)
{
    u32 low = count > HEAD ? count - HEAD : 0, high = count < rest ? count : rest;
    while (low < high) {
        u32 middle = (low + high) / 2;
        bool is_before = is_less(tile[REST_AT(row, middle)], tile[HEAD_AT(row, count - 1 - middle)]);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* Merges every head with its rest; elements are in shift 0 before and afterwards. */
FUNCTION void merge_rests(LOCAL Element *tile, Element *x, u32 length)
{
    LOCAL u32 *splits = (LOCAL u32 *)(tile + SPLITS_AT);
    u32 rest = length - HEAD, place = HIDDEN(ITEM) * HELD, behind = place - TILE;
    u32 row = HAS_HEAD ? place >> MERGES : behind >> REST_LOG2;
    u32 begin = HAS_HEAD ? place & (HEAD - 1) : HEAD + (behind & (REST - 1)), end = begin + HELD;
    /* The next places of the row: behind the head's last ones come the rest's first. */
    u32 next = end == HEAD ? ITEMS + (row << (REST_LOG2 - HELD_LOG2)) : ITEM + 1;
    begin = begin < length ? begin : length;
    end = end < length ? end : length;
    put(tile, x, 0, false);
    BARRIER();
    u32 split = rest_before(tile, row, begin, rest);
    splits[ITEM] = split;
    BARRIER();
    u32 next_split = end == length ? rest : splits[next];
    u32 of_rest = next_split - split, of_head = end - begin - of_rest;
    u32 from_head = (row << MERGES) + begin - split, from_rest = TILE + (row << REST_LOG2) + split + (HELD - 1);
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 from = a < of_head ? from_head + a : from_rest - a;
        x[a] = tile[PADDED(from)];
    }
    /* Behind the last of a row, what was read is something else. */
    if (of_head + of_rest < HELD) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = a < of_head || a >= HELD - of_rest ? x[a] : infinite();
        }
    }
    clean(x, HELD_LOG2);
    BARRIER();
}

KERNEL(ITEMS + ITEMS_BEHIND) row_merge_sort(ARRAYS, Index row_length, Index count, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    AFTER_PREVIOUS();
    Index first_row = GROUP * ROWS, start = first_row * row_length;
    u32 length = (u32)row_length, rows = count - first_row < ROWS ? (u32)(count - first_row) : ROWS;
    Element x[HELD];
    if (HAS_HEAD) {
        load_part(ARRAY_NAMES, x, start, length, rows, MERGES, 0, 0);
    } else {
        load_part(ARRAY_NAMES, x, start, length, rows, REST_LOG2, TILE, HEAD);
    }
    order_keys(x, mapping);
    if (!HAS_HEAD) {
        end_rests(x, length);
    }
    exchange(tile, x, STREAMED, false, 0, false, ALL_WORK);
    sort_registers(x, HELD_LOG2);
    UNROLL_MERGES for (int bits = HELD_LOG2 + 1; bits <= MERGES; bits++)
    {
        /* A rest that is short is sorted after the first merges. */
        bool has_rest = bits <= REST_LOG2 && 1u << (bits - 1) < length - HEAD;
        merge_tile(tile, x, bits, HAS_HEAD || has_rest);
    }
    merge_rests(tile, x, length);
    LET_NEXT_START();
    exchange_to_store(tile, x, 0, false, STREAMED);
    restore_keys(x, mapping);
    if (HAS_HEAD) {
        store_part(ARRAY_NAMES, x, start, length, rows, MERGES, 0, 0);
    } else {
        store_part(ARRAY_NAMES, x, start, length, rows, REST_LOG2, TILE, HEAD);
    }
}
