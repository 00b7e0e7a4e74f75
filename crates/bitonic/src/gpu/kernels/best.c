/* The best elements of every row: the first `best` of its order. No two elements are equal, since their indices differ, so there is one
   answer, and keys in any order are alike.

   Sorting takes far longer than reading, so as little as possible is sorted:

     best_bound    looks for a bound in a sample of every row
     best_filter   goes through the row, and puts the elements before the bound into a list
     select_best   takes the best from the list

   The first two come again for a list that is still long. The plan chooses the rank of the bound in the sample such that the list has the
   best elements nearly always, and has room for it nearly always. Neither is certain: the length of the list tells, and
   select_best goes through the row itself where it is wrong. Lengths are in `counters`, those of one launch after the other.

   With SEGMENTED set, rows are segments of different lengths, which a table of offsets tells and nobody on the host looks at. The arrays are
   cut into cells of `cell_length` elements. A segment has as many of them as its length has whole ones, beginning with the one that it
   begins in; shorter segments have none, and are not filtered. No cell has two owners, because segments do not overlap:

       segments     | a                       | b | c | d             |
       cells        |       |       |       |       |       |       |
       owner            a       a       a       -       d       -

   Bounds, lists and their lengths are kept by cell. So memory and groups are planned for the cells of the arrays, whatever the segments are:
   a long one has as many groups, and as much room, as it has cells. */

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

FUNCTION Head changed(Head head, Change change)
{
    head ^= (head & HEAD_SIGN ? change.folded : (Head)0) ^ change.flipped;
    return head - change.skipped;
}

#if SEGMENTED
/* Who has a cell. */
typedef struct {
    Index begin, length;      /* in the arrays; a length of 0: the cell has no owner */
    Index first_cell, cells;
} Owner;

FUNCTION Owner owner_of(Index cell, Index cell_length, GLOBAL const Offset *offsets, u32 segments, Index total, Index longest)
{
    /* The last segment that begins before the end of the cell is the only one that may have it. */
    Index end = (cell + 1) * cell_length;
    u32 low = 0, high = segments;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        bool is_before = offsets[middle] < end;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    Owner owner = {0, 0, 0, 1};
    if (low > 0) {
        Index length = length_of(offsets, total, longest, low - 1), begin = length > 0 ? (Index)offsets[low - 1] : 0;
        Index first_cell = begin / cell_length, cells = length / cell_length;
        if (cell >= first_cell && cell - first_cell < cells) {
            owner.begin = begin;
            owner.length = length;
            owner.first_cell = first_cell;
            owner.cells = cells;
        }
    }
    return owner;
}

/* What kernels are told of rows: segments that are in `total` elements, and no longer than `longest`. */
#define TABLE GLOBAL const Offset *offsets,
#define ROWS u32 segments, Index total, Index longest, Index cell_length

#else
/* What a row is for these kernels: of keys as they are, or a list of elements. The rows are `stride` places apart, and begin at `from`. */
#define TABLE
#define ROWS Index stride, Index from, u32 lengths
#if INDEXED
#define LENGTH_OF(row) (stride)
#else
#define LENGTH_OF(row) (counters[lengths + (row)])
#endif
#endif
