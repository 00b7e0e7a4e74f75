/* A pass over memory with more steps than registers have bits: STEPS steps of a merge that is longer than a tile.

   A tile is made of 2^STEPS pieces of 2^PIECE_LOG2 neighbours, at the distance of the last step. The steps are those on the high
   bits of the tile's places:

       place in the tile   [ piece, STEPS bits | in the piece, PIECE_LOG2 bits ]
       place in the row    [ high bits | piece | low bits, `shift` of them ]

   With FLIP set, the first step is the flip. The partners of a piece's elements are in the piece whose bits are all the other
   way round, so the upper half of the pieces is taken from the other end of the low bits. */

#define PIECE_LOG2 (TILE_LOG2 - STEPS)

/* The place of register a in its row, in an arrangement of the tile. */
FUNCTION Index strided(u32 place, Index first, Index to_partner, u32 distance)
{
    Index column = first + ((Index)(place >> PIECE_LOG2) << distance) + (place & ((1 << PIECE_LOG2) - 1));
    return FLIP && place >= TILE / 2 ? column + to_partner : column;
}

#define FROM_SHIFT (TILE_LOG2 - HELD_LOG2)
/* The arrangement of the last steps. */
#define LAST_SHIFT (TILE_LOG2 - 2 * HELD_LOG2)

KERNEL(ITEMS) strided_pass(ARRAYS, Index row_length, Index count, u32 shift)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    Index number = GROUP % count;
    Index start = GROUP / count * row_length;
    Index pieces = (Index)1 << (shift - PIECE_LOG2); /* of a row of low bits */
    Index low = number & (pieces - 1);
    Index first = number >> (shift - PIECE_LOG2) << (shift + STEPS) | low << PIECE_LOG2;
    Index to_partner = (pieces - 1 - 2 * low) << PIECE_LOG2; /* may wrap around */
    bool whole = (number >> (shift - PIECE_LOG2) << (shift + STEPS)) + ((Index)1 << (shift + STEPS)) <= row_length;
    Element x[HELD];
    AFTER_PREVIOUS();
    if (whole) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first_place(FROM_SHIFT, FLIP && a >= HELD / 2) + (a << FROM_SHIFT);
            x[a] = load(ARRAY_NAMES, start + strided(place, first, to_partner, shift));
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first_place(FROM_SHIFT, FLIP && a >= HELD / 2) + (a << FROM_SHIFT);
            Index column = strided(place, first, to_partner, shift);
            x[a] = infinite();
            if (column < row_length) {
                x[a] = load(ARRAY_NAMES, start + column);
            }
        }
    }
#if FLIP
    merge(x, HELD_LOG2);
#else
    clean(x, HELD_LOG2);
#endif
    exchange_to_store(tile, x, FROM_SHIFT, FLIP, LAST_SHIFT);
    UNROLL for (int bit = HELD_LOG2 - 1; bit >= 2 * HELD_LOG2 - STEPS; bit--)
    {
        UNROLL for (int a = 0; a < HELD; a++)
        {
            if (!(a >> bit & 1)) {
                order(&x[a], &x[a | 1 << bit]);
            }
        }
    }
    LET_NEXT_START();
    u32 distance = HIDDEN(shift);
    if (whole) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first_place(LAST_SHIFT, false) + (a << LAST_SHIFT);
            store(ARRAY_NAMES, start + strided(place, first, to_partner, distance), x[a]);
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first_place(LAST_SHIFT, false) + (a << LAST_SHIFT);
            Index column = strided(place, first, to_partner, distance);
            if (column < row_length) {
                store(ARRAY_NAMES, start + column, x[a]);
            }
        }
    }
}
