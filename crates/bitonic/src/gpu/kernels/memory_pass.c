/* A pass over memory: HELD_LOG2 consecutive steps of a merge that is longer than a tile. A work-item holds the elements
   whose places differ in just the bits of these steps:

       place   [ high bits | register | low bits, `shift` of them ]

   Work-items are numbered by the other bits, so neighbours access neighbouring places whatever the distance of a step.
   With FLIP set, the first step is the flip: partners differ in all bits below too, so the upper half of the registers
   comes from places whose low bits are the other way round, which are neighbours as well. */

/* The place of register a in its row. */
#define COLUMN(a) (first + ((Index)(a) << distance) + (FLIP && (a) >= HELD / 2 ? to_partner : 0))

KERNEL(ITEMS) memory_pass(ARRAYS, Index row_length, Index count, u32 shift)
{
    Index number = GROUP % count * ITEMS + ITEM;
    Index start = GROUP / count * row_length;
    Index low_bits = ((Index)1 << shift) - 1;
    Index low = number & low_bits;
    Index first = number >> shift << (shift + HELD_LOG2) | low;
    Index to_partner = low_bits - 2 * low; /* from low bits to the same the other way round; may wrap around */
    Element x[HELD];
    AFTER_PREVIOUS();

    u32 distance = shift;

    /* The last block of a row may end anywhere; all others are whole. */
    bool whole = (first | low_bits) + ((Index)(HELD - 1) << shift) < row_length;
    if (whole) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = load(ARRAY_NAMES, start + COLUMN(a));
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (COLUMN(a) < row_length) {
                x[a] = load(ARRAY_NAMES, start + COLUMN(a));
            } else {
                x[a] = infinite();
            }
        }
    }
#if FLIP
    merge(x, HELD_LOG2);
#else
    clean(x, HELD_LOG2);
#endif
    LET_NEXT_START();
    distance = HIDDEN(shift);
    if (whole) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            store(ARRAY_NAMES, start + COLUMN(a), x[a]);
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (COLUMN(a) < row_length) {
                store(ARRAY_NAMES, start + COLUMN(a), x[a]);
            }
        }
    }
}
