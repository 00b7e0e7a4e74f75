/* Steps of the network on elements in registers.

   A work-item holds HELD = 2^HELD_LOG2 elements. Which bits of an element's place are the bits of its register's number
   differs from pass to pass; the steps here know registers only. All loops have constant bounds and are unrolled, since a
   register cannot be indexed by a variable. */

#define HELD (1 << HELD_LOG2)

/* Each of these has a form for any number of registers, `held`, with what is past the end infinite: comparators with it change nothing and
   are left out. */

/* The half-cleaner steps on register bits count-1 down to 0. */
FUNCTION void clean_of(Element *x, int held, int count)
{
    UNROLL for (int bit = HELD_LOG2 - 1; bit >= 0; bit--)
    {
        if (bit < count) {
            UNROLL for (int a = 0; a < held; a++)
            {
                if (!(a >> bit & 1) && (a | 1 << bit) < held) {
                    order(&x[a], &x[a | 1 << bit]);
                }
            }
        }
    }
}

FUNCTION void clean(Element *x, int count)
{
    clean_of(x, HELD, count);
}

/* A whole merge on register bits bits-1 down to 0: the flip, which pairs each register with the one whose number has
   all these bits the other way, then half-cleaners. */
FUNCTION void merge_of(Element *x, int held, int bits)
{
    UNROLL for (int a = 0; a < held; a++)
    {
        int partner = a ^ ((1 << bits) - 1);
        if (!(a >> (bits - 1) & 1) && partner < held) {
            order(&x[a], &x[partner]);
        }
    }
    clean_of(x, held, bits - 1);
}

FUNCTION void merge(Element *x, int bits)
{
    merge_of(x, HELD, bits);
}

/* Merges runs of 2^top registers by Batcher's odd-even merge: a fifth fewer comparators than the merge above, whose virtue, that
   all places change alike, registers do not need. */
FUNCTION void merge_odd_even_of(Element *x, int held, int top)
{
    UNROLL for (int bit = HELD_LOG2 - 1; bit >= 0; bit--)
    {
        UNROLL for (int a = 0; a < held; a++)
        {
            /* The first step compares the halves; the others compare what lies between the pairs before. */
            int in_run = a & ((2 << top) - 1), partner = in_run + (1 << bit);
            bool compared = bit == top ? in_run < 1 << bit : (in_run >> bit & 1) && partner < 2 << top;
            if (bit <= top && compared && a + (1 << bit) < held) {
                order(&x[a], &x[a + (1 << bit)]);
            }
        }
    }
}

FUNCTION void merge_odd_even(Element *x, int top)
{
    merge_odd_even_of(x, HELD, top);
}

/* Sorts runs of 2^bits registers by such merges. */
FUNCTION void sort_registers_of(Element *x, int held, int bits)
{
    UNROLL for (int top = 0; top < HELD_LOG2; top++)
    {
        if (top < bits) {
            merge_odd_even_of(x, held, top);
        }
    }
}

FUNCTION void sort_registers(Element *x, int bits)
{
    sort_registers_of(x, HELD, bits);
}

/* Ordered bits from keys, and back: nothing at all in most passes. All work-items of a launch agree. */
FUNCTION void order_keys_of(Element *x, int held, u32 mapping)
{
    if (ON_LOAD(mapping)) {
        UNROLL for (int a = 0; a < held; a++)
        {
            x[a] = to_ordered(x[a], ON_LOAD(mapping));
        }
    }
}

FUNCTION void order_keys(Element *x, u32 mapping)
{
    order_keys_of(x, HELD, mapping);
}

FUNCTION void restore_keys_of(Element *x, int held, u32 mapping)
{
    if (ON_STORE(mapping)) {
        UNROLL for (int a = 0; a < held; a++)
        {
            x[a] = from_ordered(x[a], ON_STORE(mapping));
        }
    }
}

FUNCTION void restore_keys(Element *x, u32 mapping)
{
    restore_keys_of(x, HELD, mapping);
}
