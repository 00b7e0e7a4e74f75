/* Tiles: 2^TILE_LOG2 elements in the registers of one work-group, with local memory to move them between work-items.

   The network compares places that differ in one bit. In an arrangement with shift s, the bits s .. s+HELD_LOG2-1 of a
   place are the number of the register, the other bits are the number of the work-item:

       place   [ item, high bits | register | item, low s bits ]

   so HELD_LOG2 steps need no communication at all. Then all elements go to local memory and come back in an arrangement
   whose registers are the next bits. Each work-item puts elements back to just the places that it took them from, so
   one barrier for each new arrangement, before taking, is enough.

   Barriers stand in loops and never under a condition: some compilers for CPUs get conditional ones wrong. */

#define TILE (1 << TILE_LOG2)
#define ITEMS (1 << (TILE_LOG2 - HELD_LOG2))

/* One unused element after every 32 keeps the work-items of a sub-group in different banks of local memory, in every
   arrangement. It also keeps the address of a register a constant away from the address of register 0, because
   the bits of the two numbers do not overlap. */
#define PADDED(place) ((place) + ((place) >> 5))
#define LOCAL_ELEMENTS PADDED(TILE)

/* The place of this work-item's register 0. With flipped set, the low bits are the other way round: that is where the
   partners of a flip are. */
FUNCTION u32 first_place(int shift, bool flipped)
{
    u32 low_bits = (1u << shift) - 1;
    u32 low = flipped ? ~ITEM & low_bits : ITEM & low_bits;
    return (ITEM >> shift) << (shift + HELD_LOG2) | low;
}

/* In the arrangement of a flip, the upper half of the registers has its low bits the other way round. */
FUNCTION void put(LOCAL Element *tile, const Element *x, int shift, bool flip)
{
    u32 lower = PADDED(first_place(shift, false)), upper = PADDED(first_place(shift, flip));
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        tile[(a < HELD / 2 ? lower : upper) + PADDED(a << shift)] = x[a];
    }
}

FUNCTION void take(LOCAL Element *tile, Element *x, int shift, bool flip)
{
    u32 lower = PADDED(first_place(shift, false)), upper = PADDED(first_place(shift, flip));
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = tile[(a < HELD / 2 ? lower : upper) + PADDED(a << shift)];
    }
}

/* The half-cleaner steps on bits count-1 down to 0 of the places. Local memory holds the elements before and after,
   afterwards in the arrangement with shift 0. */
FUNCTION void clean_tile(LOCAL Element *tile, Element *x, int count)
{
    UNROLL for (int round = (count - 1) / HELD_LOG2; round >= 0; round--)
    {
        int shift = round * HELD_LOG2;
        int steps = count - shift;
        BARRIER();
        take(tile, x, shift, false);
        clean(x, steps < HELD_LOG2 ? steps : HELD_LOG2);
        put(tile, x, shift, false);
    }
}

/* ---- Where the tile lies in the arrays ---- */

/* Neighbouring work-items load and store neighbouring places, so that memory is accessed in whole lines. */
#define STREAMED (TILE_LOG2 - HELD_LOG2)

/* Rows that fill less than a tile lie in it side by side, each at a multiple of 2^MERGES places; `count` is the number
   of rows. Where they are just that long, a tile lies in the arrays in one piece; with RAGGED_ROWS set they are shorter.
   Longer rows, of which there may be just one, have `count` tiles each, all of the row's own.

   Register a is loaded from, and stored to, this place of the tile: */
#define PLACE(a) ((a) << STREAMED | ITEM)

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
#if MERGES >= TILE_LOG2 - HELD_LOG2
#define COLUMN(a) (((a) << STREAMED & ((1u << MERGES) - 1)) + ITEM)
#define ROW(a) (start + ((a) << STREAMED >> MERGES))
#else
#define COLUMN(a) (ITEM & ((1u << MERGES) - 1))
#define ROW(a) (start + ((a) << (STREAMED - MERGES)) + (ITEM >> MERGES))
#endif
#define EXISTS(a) (COLUMN(a) < row_length && ROW(a) < count)
#define ADDRESS(a) (ROW(a) * row_length + COLUMN(a))
/* Never so; but without a second way through the loads and stores, compilers keep all addresses from the ones to the others,
   in registers that they then lack: twice the time on an H200. */
#define ALL_EXIST (row_length == (Index)1 << MERGES)
#endif

/* Places past the end of a row are infinite, and are never stored. */
FUNCTION void load_tile(ARRAYS, Element *x, Index row_length, Index count, u32 mapping)
{
    Index start = TILE_START;
    if (ALL_EXIST) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = load(ARRAY_NAMES, ADDRESS(a), COLUMN(a));
        }
        order_keys(x, mapping);
    } else {
        /* All loads first, so that they are under way at the same time. */
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = infinite();
            if (EXISTS(a)) {
                x[a] = load(ARRAY_NAMES, ADDRESS(a), COLUMN(a));
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
    BARRIER();
    take(tile, x, STREAMED, false);
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
