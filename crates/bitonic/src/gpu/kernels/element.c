/* Elements: what the network compares.

   An element is one unsigned integer: the ordered bits of the key and, below them, what travels with the key:

       key alone            key + value            key + index (argsort, stable sorts)
       [   key   ]          [  key  | value ]      [  key  | index ]

   Integers are compared whole, so no two different elements are ever equal: a sort with the index below the key is
   stable, and the element of all ones, which stands for every place past the end, can be mistaken only for its equals.

   Given by the plan: KEY_BITS 8, 16, 32, 64 or 128; VALUE_BITS 0, 32 or 64; INDEX_BITS 32 or 64 for places in the
   arrays; INDEXED 1 where the values are to be the places themselves. Keys and values lie in two arrays. */

#if INDEX_BITS == 64
typedef u64 Index;
#else
typedef u32 Index;
#endif

#if KEY_BITS == 8
typedef u8 Key;
#elif KEY_BITS == 16
typedef u16 Key;
#elif KEY_BITS == 32
typedef u32 Key;
#elif KEY_BITS == 64
typedef u64 Key;
#else
typedef u64x2 Key; /* x is the low half, as in memory */
#endif

#if VALUE_BITS == 64
typedef u64 Value;
#else
typedef u32 Value;
#endif

/* ---- The integer, by its width ---- */

#if KEY_BITS == 128 && VALUE_BITS > 0
#define ELEMENT_WORDS 3
#elif KEY_BITS == 128 || VALUE_BITS == 64 || (KEY_BITS == 64 && VALUE_BITS > 0)
#define ELEMENT_WORDS 2
#else
#define ELEMENT_WORDS 1
#endif

#if ELEMENT_WORDS == 1
#if KEY_BITS == 64 || VALUE_BITS > 0
typedef u64 Element;
#else
typedef u32 Element;
#endif

FUNCTION Element infinite(void)
{
    return ~(Element)0;
}

FUNCTION Element zero(void)
{
    return 0;
}

FUNCTION bool is_less(Element a, Element b)
{
    return a < b;
}

FUNCTION bool is_equal(Element a, Element b)
{
    return a == b;
}

/* Puts the smaller element at a and the larger one at b. */
FUNCTION void order(Element *a, Element *b)
{
    Element smaller = min(*a, *b);
    *b = max(*a, *b);
    *a = smaller;
}

#else
typedef struct {
    u64 word[ELEMENT_WORDS]; /* the highest word first */
} Element;

FUNCTION Element infinite(void)
{
    Element all_ones;
    UNROLL for (int w = 0; w < ELEMENT_WORDS; w++)
    {
        all_ones.word[w] = ~(u64)0;
    }
    return all_ones;
}

FUNCTION Element zero(void)
{
    Element no_ones;
    UNROLL for (int w = 0; w < ELEMENT_WORDS; w++)
    {
        no_ones.word[w] = 0;
    }
    return no_ones;
}

FUNCTION bool is_less(Element a, Element b)
{
    bool less = false;
    UNROLL for (int w = ELEMENT_WORDS - 1; w >= 0; w--)
    {
        less = (a.word[w] < b.word[w]) | ((a.word[w] == b.word[w]) & less);
    }
    return less;
}

FUNCTION bool is_equal(Element a, Element b)
{
    bool equal = true;
    UNROLL for (int w = 0; w < ELEMENT_WORDS; w++)
    {
        equal &= a.word[w] == b.word[w];
    }
    return equal;
}

/* Puts the smaller element at a and the larger one at b. */
FUNCTION void order(Element *a, Element *b)
{
    bool swap = is_less(*b, *a);
    UNROLL for (int w = 0; w < ELEMENT_WORDS; w++)
    {
        u64 x = a->word[w], y = b->word[w];
        a->word[w] = swap ? y : x;
        b->word[w] = swap ? x : y;
    }
}
#endif

/* ---- Between keys and ordered bits ---- */

/* What a pass does besides sorting. Keys become ordered bits in the first load and keys again in the last store;
   between the two, passes find and leave ordered bits. The plan gives the bits of `mapping`: SIGNED_KEYS, the sign bit is flipped;
   FLOAT_KEYS, the sign bit is flipped, and the others too where it was set; DESCENDING, all bits are flipped; NAN_LAST, the NaNs of
   the sign that would come first come last. Those for the store are STORE_SHIFT bits above those for the load. */
#define ON_LOAD(mapping) ((mapping) & ((1u << STORE_SHIFT) - 1))
#define ON_STORE(mapping) ((mapping) >> STORE_SHIFT & ((1u << STORE_SHIFT) - 1))

/* The key's part of an element, and the word that has its highest bit. */
#if ELEMENT_WORDS == 1
typedef Element Word;
#define TOP(element) (element)
#define KEY_SHIFT VALUE_BITS
#else
typedef u64 Word;
#define TOP(element) ((element).word[0])
#define KEY_SHIFT 0
#endif
#define TOP_BITS (KEY_BITS == 128 ? 64 : KEY_BITS)
#define SIGN_BIT ((Word)1 << (TOP_BITS - 1 + KEY_SHIFT))
#define ALL_BITS (((SIGN_BIT - 1) | SIGN_BIT) >> KEY_SHIFT << KEY_SHIFT)

FUNCTION Element flip_bits(Element element, u32 mapping)
{
    Word sign = mapping & (SIGNED_KEYS | FLOAT_KEYS) ? SIGN_BIT : 0;
    TOP(element) ^= mapping & DESCENDING ? sign ^ ALL_BITS : sign;
#if KEY_BITS == 128
    element.word[1] ^= mapping & DESCENDING ? ~(u64)0 : 0;
#endif
    return element;
}

/* Where the sign bit is set, flips the bits below it; its own inverse, because the sign bit stays. */
FUNCTION Element fold_float(Element element, u32 mapping)
{
    bool negative = (TOP(element) & SIGN_BIT) != 0;
    TOP(element) ^= (mapping & FLOAT_KEYS) && negative ? ALL_BITS ^ SIGN_BIT : 0;
    return element;
}

/* How many NaNs of one sign there are. FEW_NANS: there are two types of that width, and this one, bf16 or F8E4M3, has fewer. */
#if KEY_BITS == 8
#define NANS(mapping) ((Word)((mapping)&FEW_NANS ? 1 : 3))
#elif KEY_BITS == 16
#define NANS(mapping) (((Word)1 << ((mapping)&FEW_NANS ? 7 : 10)) - 1)
#elif KEY_BITS == 32
#define NANS(mapping) (((Word)1 << 23) - 1)
#else
#define NANS(mapping) ((Word)(((u64)1 << 52) - 1))
#endif

/* Counts all keys from behind the first ones, as many as there are NaNs of one sign: these come last then, behind the other NaNs. */
FUNCTION Element begin_behind_nans(Element element, u32 mapping, bool forward)
{
    Word key = TOP(element) & ALL_BITS, nans = mapping & NAN_LAST ? NANS(mapping) << KEY_SHIFT : 0;
    TOP(element) = (TOP(element) ^ key) | ((forward ? key - nans : key + nans) & ALL_BITS);
    return element;
}

FUNCTION Element to_ordered(Element element, u32 mapping)
{
    return begin_behind_nans(flip_bits(fold_float(element, mapping), mapping), mapping, true);
}

FUNCTION Element from_ordered(Element element, u32 mapping)
{
    return fold_float(flip_bits(begin_behind_nans(element, mapping, false), mapping), mapping);
}

/* ---- Between memory and elements ---- */

/* The array of values is a parameter only where there are values. */
#if VALUE_BITS > 0
#define ARRAYS GLOBAL Key *keys, GLOBAL Value *values
#define ARRAY_NAMES keys, values
#define WORK_ARRAYS GLOBAL Key *work_keys, GLOBAL Value *work_values
#define WORK_NAMES work_keys, work_values
#else
#define ARRAYS GLOBAL Key *keys
#define ARRAY_NAMES keys
#define WORK_ARRAYS GLOBAL Key *work_keys
#define WORK_NAMES work_keys
#endif

/* The arrays, and memory to work in. */
#define ALL_ARRAYS ARRAYS, WORK_ARRAYS

/* The element of a key and of what travels with it. */
FUNCTION Element element_of(Key key, Value value)
{
    Element element;
#if KEY_BITS == 128
    element.word[0] = key.y;
    element.word[1] = key.x;
#if VALUE_BITS > 0
    element.word[2] = value;
#endif
#elif ELEMENT_WORDS == 2
    element.word[0] = key;
    element.word[1] = value;
#elif VALUE_BITS == 32
    element = (u64)key << 32 | value;
#else
    element = key;
#endif
    return element;
}

/* The element at a place of the arrays. */
FUNCTION Element load(ARRAYS, Index place)
{
#if VALUE_BITS > 0
    return element_of(keys[place], values[place]);
#else
    return element_of(keys[place], 0);
#endif
}

/* The same in the first pass. `column` is the element's place in its row: with INDEXED set, that is the value, and the array
   of values is not read. */
FUNCTION Element load_first(ARRAYS, Index place, Index column)
{
#if INDEXED
    return element_of(keys[place], (Value)column);
#else
    return load(ARRAY_NAMES, place);
#endif
}

FUNCTION void store(ARRAYS, Index place, Element element)
{
#if KEY_BITS == 128
    u64x2 key;
    key.y = element.word[0];
    key.x = element.word[1];
    keys[place] = key;
#if VALUE_BITS > 0
    values[place] = (Value)element.word[2];
#endif
#elif ELEMENT_WORDS == 2
    keys[place] = (Key)element.word[0];
    values[place] = (Value)element.word[1];
#elif VALUE_BITS == 32
    keys[place] = (Key)(element >> 32);
    values[place] = (Value)element;
#else
    keys[place] = (Key)element;
#endif
}
