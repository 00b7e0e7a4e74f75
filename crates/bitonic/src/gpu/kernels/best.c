/* The best elements of every row: the first `best` of its order. No two elements are equal, since their indices differ, so there is one
   answer, and keys in any order are alike.

   Sorting takes far longer than reading, so as little as possible is sorted:

     best_bound    sorts a sample of every row; an element of it becomes the bound
     best_filter   goes through the row, and puts the elements before the bound into a list
     select_best   takes the best from the list

   The first two come again for a list that is still long. The plan chooses the rank of the bound in the sample such that the list has the
   best elements nearly always, and has room for it nearly always. Neither is certain: the length of the list tells, and
   select_best goes through the row itself where it is wrong. Lengths are in `counters`, those of one launch after the other. */

/* Says that a list did not work out: no list is so long. */
#define SPOILT 0x80000000u

/* The highest word of a key. It decides nearly always whether an element comes before the bound, so that is all that is made of most keys. */
#if KEY_BITS == 128
typedef u64 Head;
#define HEAD(key) ((key).y)
#else
typedef Key Head;
#define HEAD(key) (key)
#endif
#define HEAD_SIGN ((Head)((Head)1 << (8 * sizeof(Head) - 1)))

FUNCTION Head head_of(Element element)
{
#if ELEMENT_WORDS == 1
    return (Head)(element >> VALUE_BITS);
#else
    return (Head)element.word[0];
#endif
}

/* What a key's highest word is changed by to get its ordered bits: where its sign bit is set, by `folded` as well; and what is subtracted
   in the end. */
typedef struct {
    Head folded, flipped, skipped;
} Change;

FUNCTION Change change_of(u32 mapping)
{
    Change change;
    change.folded = mapping & FLOAT_KEYS ? (Head)~HEAD_SIGN : (Head)0;
    change.flipped = mapping & (SIGNED_KEYS | FLOAT_KEYS) ? HEAD_SIGN : (Head)0;
    change.flipped = mapping & DESCENDING ? (Head)~change.flipped : change.flipped;
    change.skipped = mapping & NAN_LAST ? (Head)NANS(mapping) : (Head)0;
    return change;
}

/* What a row is for these kernels: of keys as they are, or a list of elements. */
#if INDEXED
#define LENGTH_OF(row) (stride)
#else
#define LENGTH_OF(row) (counters[lengths + (row)])
#endif
