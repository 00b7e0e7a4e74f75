/* A sort that is checked by the device itself.

       verify_before     two sums of all elements, whatever their order
       the sort
       verify_after      the same sums again, and whether each element follows the one before it in its row
       verify_compare    the verdict: one word, with a bit for everything that is wrong

   Every group adds up its share and leaves its sums in `words`; verify_compare adds up those of all groups. So no atomics of 64 bits are
   needed, which OpenCL 1.2 does not have.

   An element is one to three words. They are mixed one after the other, beginning with a number for the row, so that an element that went
   to another row is noticed:

       hash of no word     mix(row)
       hash of one more    mix(hash before ^ word)
       first sum           + hash of all words
       second sum          + hash of all words but the last + the lower half of the hash of all x its upper half

   Host memory is checked by such sums, too: cpu/fingerprint.rs says why one wrong bit is always noticed. The two are never compared with
   each other.

   `words` is the verdict, then the sums of every group before, then those after. The third sum counts elements that are out of order. */

#define SUMS 3
#define BEFORE 1
#define AFTER (BEFORE + SUMS * MOST_GROUPS)

/* A place of the arrays. All work-items of all groups take neighbouring places, then the next ones, in steps that are the same for all:
   rows and columns are counted along, because a division for every element would take longer than reading it. */
typedef struct {
    Index place, row, column;
    bool is_sorted; /* places of no segment are left as they are, and are rows of their own */
} At;

#define FIRST_PLACE (GROUP * ITEMS + ITEM)
#define STEP (GROUPS * ITEMS)

#if SEGMENTED
/* Rows of different lengths: where a place is in them is looked up in the table. */
FUNCTION At place_in_segments(Index place, GLOBAL const Offset *offsets, u32 segments, Index total, Index longest)
{
    /* How many offsets are no higher. */
    u32 low = 0, high = place < total ? segments + 1 : 0;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        bool is_before = offsets[middle] <= place;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    At at;
    at.place = place;
    at.row = segments + place;
    at.column = 0;
    at.is_sorted = false;
    if (low > 0 && low <= segments && length_of(offsets, total, longest, low - 1) > 0) {
        at.row = low - 1;
        at.column = place - (Index)offsets[low - 1];
        at.is_sorted = true;
    }
    return at;
}

/* What kernels are told of rows. */
#define TABLE GLOBAL const Offset *offsets,
#define ROWS Index total, u32 segments, Index longest
#define PLACE_IN_ROWS(place) place_in_segments(place, offsets, segments, total, longest)
#define NEXT_PLACE(at, step) PLACE_IN_ROWS((at).place + (step).place)

#else
#define TABLE
#define ROWS Index total, Index row_length
#define PLACE_IN_ROWS(place) place_in_rows(place, row_length)
#define NEXT_PLACE(at, step) next_place(at, step, row_length)
#endif

FUNCTION At place_in_rows(Index place, Index row_length)
{
    At at;
    at.place = place;
    at.row = place / row_length;
    at.column = place % row_length;
    at.is_sorted = true;
    return at;
}

FUNCTION At next_place(At at, At step, Index row_length)
{
    at.place += step.place;
    at.row += step.row;
    at.column += step.column;
    if (at.column >= row_length) {
        at.column -= row_length;
        at.row += 1;
    }
    return at;
}

/* A bijection that lets every bit change many others. */
FUNCTION u64 mix(u64 word)
{
    u64 product = (word ^ word >> 32) * 0x9E3779B1u;
    return product ^ product >> 32;
}

FUNCTION void add_element(u64 *sums, Element element, Index row)
{
    u64 hash = mix(row), before = hash;
#if ELEMENT_WORDS == 1
    hash = mix(hash ^ element);
#else
    UNROLL for (int w = 0; w < ELEMENT_WORDS; w++)
    {
        before = hash;
        hash = mix(hash ^ element.word[w]);
    }
#endif
    sums[0] += hash;
    sums[1] += before + (hash & 0xFFFFFFFFu) * (hash >> 32);
}

/* Whether an element may follow another one in a row; both are ordered bits. No two have the same index, so that indices are in order
   strictly. Values are in no order. */
FUNCTION bool follows(Element element, Element previous)
{
#if ORDERED_VALUES
    return is_less(previous, element);
#else
    return !is_less(element, previous);
#endif
}

/* What is compared of the element at a place. */
FUNCTION Element ordered_at(ARRAYS, Index place, u32 mapping)
{
#if ORDERED_VALUES
    Element element = load(ARRAY_NAMES, place);
#else
    Element element = element_of(keys[place], 0);
#endif
    return to_ordered(element, ON_LOAD(mapping));
}

/* Adds up the sums of all work-items of the group, for each of them to see. `room` has SUMS words for every work-item. */
FUNCTION void add_up(LOCAL u64 *room, u64 *sums)
{
    UNROLL for (u32 s = 0; s < SUMS; s++)
    {
        room[s * ITEMS + ITEM] = sums[s];
    }
    BARRIER();
    for (u32 others = ITEMS / 2; others > 0; others /= 2) {
        if (ITEM < others) {
            UNROLL for (u32 s = 0; s < SUMS; s++)
            {
                room[s * ITEMS + ITEM] += room[s * ITEMS + ITEM + others];
            }
        }
        BARRIER();
    }
    UNROLL for (u32 s = 0; s < SUMS; s++)
    {
        sums[s] = room[s * ITEMS];
    }
    BARRIER();
}

/* Leaves the sums of the group behind. */
FUNCTION void leave(GLOBAL u64 *words, u32 where, LOCAL u64 *room, u64 *sums)
{
    add_up(room, sums);
    if (ITEM == 0) {
        UNROLL for (u32 s = 0; s < SUMS; s++)
        {
            words[where + SUMS * GROUP + s] = sums[s];
        }
    }
}
