/* Steps of the network on elements in registers.

   A work-item holds HELD = 2^HELD_LOG2 elements. Which bits of an element's place are the bits of its register's number
   differs from pass to pass; the steps here know registers only. All loops have constant bounds and are unrolled, since a
   register cannot be indexed by a variable. */

#define HELD (1 << HELD_LOG2)

/* The half-cleaner steps on register bits count-1 down to 0. */
FUNCTION void clean(Element *x, int count)
{
    UNROLL for (int bit = HELD_LOG2 - 1; bit >= 0; bit--)
    {
        if (bit < count) {
            UNROLL for (int a = 0; a < HELD; a++)
            {
                if (!(a >> bit & 1)) {
                    order(&x[a], &x[a | 1 << bit]);
                }
            }
        }
    }
}

/* A whole merge on register bits bits-1 down to 0: the flip, which pairs each register with the one whose number has
   all these bits the other way, then half-cleaners. */
FUNCTION void merge(Element *x, int bits)
{
    UNROLL for (int a = 0; a < HELD; a++)
    {
        if (!(a >> (bits - 1) & 1)) {
            order(&x[a], &x[a ^ ((1 << bits) - 1)]);
        }
    }
    clean(x, bits - 1);
}

/* Ordered bits from keys, and back: nothing at all in most passes. All work-items of a launch agree. */
FUNCTION void order_keys(Element *x, u32 mapping)
{
    if (ON_LOAD(mapping)) {
        UNROLL for (int a = 0; a < HELD; a++)
        {
            x[a] = to_ordered(x[a], ON_LOAD(mapping));
        }
    }
}

FUNCTION void restore_keys(Element *x, u32 mapping)
{
    if (ON_STORE(mapping)) {
        UNROLL for (int a = 0; a < HELD; a++)
        {
            x[a] = from_ordered(x[a], ON_STORE(mapping));
        }
    }
}
