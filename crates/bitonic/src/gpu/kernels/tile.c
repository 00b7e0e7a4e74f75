/* Tiles: 2^TILE_LOG2 elements in the registers of one work-group, with local memory to move them between work-items.

   The network compares places that differ in one bit. In an arrangement with shift s, the bits s .. s+HELD_LOG2-1 of a
   place are the number of the register, the other bits are the number of the work-item:

       place   [ item, high bits | register | item, low s bits ]

   so HELD_LOG2 steps need no communication at all. Then all elements go to local memory and come back in an arrangement
   whose registers are the next bits. Each work-item puts elements back to just the places that it took them from, so
   one barrier for each new arrangement, before taking, is enough.

   Barriers stand in loops and never under a condition: some compilers for CPUs get conditional ones wrong. (select_best.c, with SEARCHED
   set, which CPUs are not given, has some that all work-items of a group agree on.) */

#define TILE (1 << TILE_LOG2)
#define ITEMS (1 << (TILE_LOG2 - HELD_LOG2))

/* One unused element after every 2^PAD_LOG2 keeps the work-items of a sub-group in different banks of local memory, in every
   arrangement. The plan gives LOCAL_ELEMENTS, the tile with them. It also keeps the address of a register a constant away from the address of register 0, because
   the bits of the two numbers do not overlap. */
#define PADDED(place) ((place) + ((place) >> PAD_LOG2))

/* The merges of a tile are written out one by one where the plan says so: all addresses are constants then. */
#if UNROLLED
#define UNROLL_MERGES UNROLL
#else
#define UNROLL_MERGES
#endif

/* Where not all work-items have elements, `works` tells which do; the others only wait at barriers. Used are whole blocks of the longest
   runs, so that the same work-items have elements in every arrangement. */
#define ALL_WORK true

/* The place of this work-item's register 0. With flipped set, the low bits are the other way round: that is where the
   partners of a flip are. */
FUNCTION u32 first_place(int shift, bool flipped)
{
    u32 item = HIDDEN(ITEM);
    u32 low_bits = (1u << shift) - 1;
    u32 low = flipped ? ~item & low_bits : item & low_bits;
    return (item >> shift) << (shift + HELD_LOG2) | low;
}

/* The place of register a in an arrangement. */
FUNCTION u32 place_of(u32 a, int shift, bool flip)
{
    return first_place(shift, flip && a >= HELD / 2) + (a << shift);
}

/* In the arrangement of a flip, the upper half of the registers has its low bits the other way round. */
FUNCTION void put(LOCAL Element *tile, const Element *x, int shift, bool flip)
{
    LOCAL Element *lower = tile + PADDED(first_place(shift, false));
    LOCAL Element *upper = tile + PADDED(first_place(shift, flip));
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        (a < HELD / 2 ? lower : upper)[PADDED(a << shift)] = x[a];
    }
}

FUNCTION void take(LOCAL Element *tile, Element *x, int shift, bool flip)
{
    LOCAL Element *lower = tile + PADDED(first_place(shift, false));
    LOCAL Element *upper = tile + PADDED(first_place(shift, flip));
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = (a < HELD / 2 ? lower : upper)[PADDED(a << shift)];
    }
}

/* Moves all elements from one arrangement to another. Bits of a place above the registers of both are the same bits of
   the work-item's number before and after, so only work-items that differ below wait for each other. */
FUNCTION void exchange(LOCAL Element *tile, Element *x, int from, bool from_flip, int to, bool to_flip, bool works)
{
    if (works) {
        put(tile, x, from, from_flip);
    }
    BARRIER_OF(1 << (from > to ? from : to));
    if (works) {
        take(tile, x, to, to_flip);
    }
}

/* The same, before elements go to places of the arrays from which others took theirs. */
FUNCTION void exchange_to_store(LOCAL Element *tile, Element *x, int from, bool from_flip, int to)
{
    put(tile, x, from, from_flip);
    GLOBAL_BARRIER_OF(1 << (from > to ? from : to));
    take(tile, x, to, false);
}

/* The half-cleaner steps on bits count-1 down to 0 of the places; the elements are in local memory before, and in an arrangement with
   shift 0 afterwards. Registers are the highest bits that are left, so that the places of a work-item lie in one run of 2^count. */
FUNCTION void clean_put_tile(LOCAL Element *tile, Element *x, int count, bool works)
{
    UNROLL for (int round = (count - 1) / HELD_LOG2; round >= 0; round--)
    {
        int left = count - ((count - 1) / HELD_LOG2 - round) * HELD_LOG2;
        int shift = left > HELD_LOG2 ? left - HELD_LOG2 : 0;
        if (left < count) {
            exchange(tile, x, left, false, shift, false, works);
        } else if (works) {
            take(tile, x, shift, false);
        }
        if (works) {
            clean(x, left - shift);
        }
    }
}

/* The same, of elements in an arrangement with shift `from`. */
FUNCTION void clean_tile(LOCAL Element *tile, Element *x, int count, int from, bool from_flip, bool works)
{
    if (works) {
        put(tile, x, from, from_flip);
    }
    BARRIER_OF(1 << from);
    clean_put_tile(tile, x, count, works);
}

/* The merge of neighbouring runs of 2^(bits-1) elements, in shift 0 before and afterwards. */
FUNCTION void merge_tile(LOCAL Element *tile, Element *x, int bits, bool works)
{
    exchange(tile, x, 0, false, bits - HELD_LOG2, true, works);
    if (works) {
        merge(x, HELD_LOG2);
    }
    clean_tile(tile, x, bits - HELD_LOG2, bits - HELD_LOG2, true, works);
}

/* Sorts runs of 2^merges elements, in shift 0. */
FUNCTION void sort_tile(LOCAL Element *tile, Element *x, int merges, bool works)
{
    if (works) {
        sort_registers(x, merges < HELD_LOG2 ? merges : HELD_LOG2);
    }
    UNROLL_MERGES for (int bits = HELD_LOG2 + 1; bits <= merges; bits++)
    {
        merge_tile(tile, x, bits, works);
    }
}

/* ---- Where the tile lies in the arrays ---- */

/* The arrangement in which a tile is loaded and stored: neighbouring work-items access neighbouring places, so that memory
   is accessed in whole lines, and the exchange with shift 0 stays within 32 work-items. */
#define TOP_SHIFT (TILE_LOG2 - HELD_LOG2)
#define STREAMED (TOP_SHIFT < 5 ? TOP_SHIFT : 5)

/* Rows that fill less than a tile lie in it side by side, each at a multiple of 2^MERGES places; `count` is the number
   of rows. Where they are just that long, a tile lies in the arrays in one piece; with RAGGED_ROWS set they are shorter.
   Longer rows, of which there may be just one, have `count` tiles each, all of the row's own.

   Register a is loaded from, and stored to, this place of the tile, in an arrangement with this shift: */
#define PLACE(a) (first_place(shift, false) + ((a) << shift))

/* Its place in the arrays is a constant away from that of register 0 wherever that is possible: 32 addresses that have to
   be computed one by one would take the registers of the elements. */
#if !SHORT_ROWS
#define TILE_START (GROUP / count * row_length + GROUP % count * TILE)
#define COLUMN(a) (GROUP % count * TILE + PLACE(a))
#define EXISTS(a) (COLUMN(a) < row_length)
#define ALL_EXIST (GROUP % count * TILE + TILE <= row_length)
#define ADDRESS(a) (start + PLACE(a))
#elif !RAGGED_ROWS
#define TILE_START (GROUP * TILE)
#define COLUMN(a) (PLACE(a) & ((1u << MERGES) - 1))
#define EXISTS(a) (start + PLACE(a) < count << MERGES)
#define ALL_EXIST (start + TILE <= count << MERGES)
#define ADDRESS(a) (start + PLACE(a))
#else
#define TILE_START (GROUP << (TILE_LOG2 - MERGES)) /* the first row */
#define COLUMN(a) ((first_place(shift, false) & ((1u << MERGES) - 1)) + ((a) << shift & ((1u << MERGES) - 1)))
#define ROW(a) (start + (first_place(shift, false) >> MERGES) + ((a) << shift >> MERGES))
#define EXISTS(a) (COLUMN(a) < row_length && ROW(a) < count)
#define ADDRESS(a) (ROW(a) * row_length + COLUMN(a))
/* Never so; but without a second way through the loads and stores, compilers keep all addresses from the ones to the others,
   in registers that they then lack: twice the time on an H200. */
#define ALL_EXIST (row_length == (Index)1 << MERGES)
#endif
/* Places past the end of a row are infinite, and are never stored. */
FUNCTION void load_tile(ARRAYS, Element *x, int shift, Index row_length, Index count, u32 mapping)
{
    Index start = TILE_START;
    if (ALL_EXIST) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = load_first(ARRAY_NAMES, ADDRESS(a), COLUMN(a));
        }
        order_keys(x, mapping);
    } else {
        /* All loads first, so that they are under way at the same time. */
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = infinite();
            if (EXISTS(a)) {
                x[a] = load_first(ARRAY_NAMES, ADDRESS(a), COLUMN(a));
            }
        }
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (!EXISTS(a)) {
                x[a] = infinite();
            }
        }
    }
}

FUNCTION void store_tile(ARRAYS, LOCAL Element *tile, Element *x, Index row_length, Index count, u32 mapping)
{
    int shift = STREAMED;
    exchange_to_store(tile, x, 0, false, shift);
    restore_keys(x, mapping);
    Index start = TILE_START;
    if (ALL_EXIST) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            store(ARRAY_NAMES, ADDRESS(a), x[a]);
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (EXISTS(a)) {
                store(ARRAY_NAMES, ADDRESS(a), x[a]);
            }
        }
    }
}
