/* Sorting by counted buckets: every element is counted, moved once or twice, and sorted in a tile. For sorts that need not be oblivious.

       survey        take a sample, and the smallest and the largest of every group's share of it
       weigh         count the sample by cell: elements to numbers from 0 to CELLS-1, the larger the element the larger the number
       divide        divide cells that would not fit a tile, by bounds from the sample
       count         count all elements: by cell, and by part in a divided cell
       arrange       cells and parts, in their order, become buckets that fit a tile; all places follow from the counts
       distribute    every element to its bucket, or to a run of buckets and from there to its bucket
       counted_sort  sort every bucket in a tile: by counting, and the rest by windows; again, in a larger tile, for those that do not
                     fit and for parts that are too uneven
       settle        sort what does not fit that tile either, or is too uneven

   The counts are exact. So every bucket has just the places that it needs, the working memory is one more array, and nothing can
   overflow. The sample decides how fast the sort is, never whether it is right.

   A part whose elements are all equal is not moved. It is written down as often as it was counted.

   Cells are linear, logarithmic or levelled. Levelled ones are for elements that crowd in some stretches of their range, as floating-point
   numbers do: the range is cut into STRETCHES, and each of them gets cells by its share of the sample.

   Mostly elements are even: each 2^fine neighbouring cells fit a tile. Then these are the buckets, and the
   bucket of an element follows from its cell without a look into any table.

   Working memory: as many places as the array has, then the sample, the extremes and the bounds. It holds elements, not keys and
   values apart: what moves together lies together. */

#define CELLS (1 << CELLS_LOG2)
#define STRETCHES (CELLS / 4 < 2048 ? CELLS / 4 : 2048)
#define SAMPLES (1 << SAMPLES_LOG2)
#define TARGETS (1 << TARGETS_LOG2)
#define EVEN_TARGETS (1 << EVEN_TARGETS_LOG2)

/* `cell_count` is the number of linear cells: a multiple of 2^`fine`. */
#define BUCKET_PARAMETERS ALL_ARRAYS, GLOBAL u32 *control, Index total, u32 mapping, u32 cell_count, u32 fine

#define WORK ((GLOBAL Element *)work_keys)

/* What lies behind the elements in the working memory. */
#define AFTER_TOTAL (((Index)total + 15) / 16 * 16)
#define SAMPLE_AT(number) (AFTER_TOTAL + (number))
#define EXTREME_AT(number) (AFTER_TOTAL + SAMPLES + (number))
#define BOUND_AT(number) (AFTER_TOTAL + SAMPLES + EXTREMES + (number))

/* The counters, `control`. The plan gives the place of every table:
   WEIGHTS      the sample by cell: CELLS for the linear cells, CELLS for the logarithmic ones
   COUNTS       all elements by cell, then by part; EQUAL is set for parts whose elements are equal
   NODE_OF      for every cell, the number of its node plus one, or 0: only divided cells have one
   NODES        the nodes, see below
   LEVELS       for levelled cells: the first cell of every stretch, and in the upper half of the word how many it has
   BUCKET_OF    the bucket of every cell and every part
   STARTS       the first place of every bucket
   VALUE_OF     for buckets of equal elements the number of the bound plus one, else 0
   CURSORS      where the next element of a bucket goes
   RUN_STARTS, RUN_CURSORS      the same for runs of buckets
   FILLS        of equal elements: first place, how many, number of the bound
   AGAIN        what is left to the larger tile: first place, how many, whether they are in the working memory
   LONG         the same for what is left to `settle` */
#define EQUAL (1u << 31)

/* The buckets of a cell that has a node, and of parts that are not moved. */
#define FIRST_NODE 0xf000u
#define STAYS 0xffffu

/* Writes down that a range of elements is still to be sorted. */
FUNCTION void leave_over(GLOBAL u32 *count, GLOBAL u32 *list, u32 start, u32 length, bool in_work)
{
    GLOBAL u32 *entry = list + 3 * ATOMIC_ADD(count, 1);
    entry[0] = start;
    entry[1] = length;
    entry[2] = in_work;
}

/* ---- Cells ---- */

#define WORD_BITS (8 * (u32)sizeof(Word))

/* How the highest word of an element becomes the number of a cell. What lies outside of the sampled range is in the first or the last
   cell. */
typedef struct {
    Word low, base, most;
    u32 shift, scale, kind;
    bool exact;
} Cells;
#define LINEAR 0
#define LOGARITHMIC 1
#define LEVELLED 2

/* Whether a word is one of 32 bits. */
#define WORD_IS_SHORT (ELEMENT_WORDS == 1 && KEY_BITS <= 32 && VALUE_BITS == 0)

FUNCTION u32 bit_length(Word word)
{
#if WORD_IS_SHORT
    return word ? 32 - LEADING_ZEROS(word) : 0;
#else
    return word ? 64 - LEADING_ZEROS_64(word) : 0;
#endif
}

FUNCTION Cells make_cells(Word low, Word high, u32 count, u32 kind)
{
    Cells cells;
    Word range = high - low;
    u32 bits = bit_length(range), shift = bits > 32 ? bits - 32 : 0;
    u32 highest = (u32)(range >> shift);
    /* Where there are more cells than values, every value has its own: the high half of (v + 1) * (2^32 - 1) is v. */
    cells.exact = kind != LOGARITHMIC && highest < count && bits <= 32;
    cells.low = low;
    cells.base = low - cells.exact;
    cells.most = range + cells.exact;
    cells.shift = shift;
    cells.scale = cells.exact ? ~0u : (u32)(((u64)count << 32) / ((u64)highest + 1));
    cells.kind = kind;
    return cells;
}

/* Bits below the highest one that a logarithmic cell looks at. Without any, the largest words would be in a cell too many. */
#define CELL_BITS (CELLS_LOG2 - (WORD_BITS > 32 ? 6 : 5))
typedef char cells_are_enough[CELL_BITS > 0 ? 1 : -1];

/* Within the sampled range, from its lower end. */
FUNCTION Word within(Cells cells, Element element)
{
    Word word = TOP(element);
    word = (word > cells.low ? word : cells.low) - cells.base;
    return word < cells.most ? word : cells.most;
}

/* The same in 32 bits. */
#if WORD_IS_SHORT
#define SHORT_WITHIN(cells, element) within(cells, element)
#else
#define SHORT_WITHIN(cells, element) (u32)(within(cells, element) >> cells.shift)
#endif

FUNCTION u32 linear_cell_of(Cells cells, Element element)
{
    return HIGH_HALF(SHORT_WITHIN(cells, element), cells.scale);
}

/* `levels` is the table LEVELS, for levelled cells; these are linear in every stretch. A stretch without cells of its own shares the next
   one. */
FUNCTION u32 cell_of(Cells cells, LOCAL const u32 *levels, Element element)
{
    if (cells.kind == LINEAR) {
        return linear_cell_of(cells, element);
    }
    if (cells.kind == LEVELLED) {
        u64 stretch = (u64)SHORT_WITHIN(cells, element) * cells.scale;
        u32 level = levels[stretch >> 32];
        return (level & 0xffffu) + HIGH_HALF((u32)stretch, level >> 16);
    }
    Word word = within(cells, element);
    u32 bits = bit_length(word);
    u32 below = bits > CELL_BITS + 1 ? bits - CELL_BITS - 1 : 0;
    return (below << CELL_BITS) + (u32)(word >> below);
}

/* The least element that is larger. Not for the largest of all. */
FUNCTION Element successor(Element element)
{
#if ELEMENT_WORDS == 1
    return element + 1;
#else
    bool carry = true;
    UNROLL for (int w = ELEMENT_WORDS - 1; w >= 0; w--)
    {
        element.word[w] += carry;
        carry = carry && element.word[w] == 0;
    }
    return element;
#endif
}

/* ---- Nodes: how a cell is divided ---- */

/* A node has its first part, and parts between bounds: one more than it has bounds. */
#define NODE(first, bounds) ((first) | (bounds) << 16)
#define NODE_FIRST(node) ((node) & 0xffffu)
#define NODE_BOUNDS(node) ((node) >> 16)

/* The part of a node that an element belongs to: how many of its bounds are not larger. */
FUNCTION u32 part_of(LOCAL const Element *bounds, u32 node, Element element)
{
    u32 first = NODE_FIRST(node), count = NODE_BOUNDS(node), part = 0;
    /* Most have two bounds, around an element that is there often. The one behind the last is infinite. */
    if (count <= 2) {
        part += count >= 1 && !is_less(element, bounds[first]);
        part += count == 2 && !is_less(element, bounds[first + 1]);
        return first + part;
    }
    /* The count is less than 64. */
    for (u32 step = 1u << (31 - LEADING_ZEROS(count)); step > 0; step /= 2) {
        if (part + step <= count && !is_less(element, bounds[first + part + step - 1])) {
            part += step;
        }
    }
    return first + part;
}

/* The cells between the extremes of the sample. */
FUNCTION Cells sampled_cells(Element smallest, Element largest, u32 cell_count, u32 kind)
{
    Word low = TOP(smallest), high = TOP(largest);
    /* Some elements lie outside of the sample: of so many as the margin is for, hardly ever one. */
    Word margin = (high - low) >> (SAMPLES_LOG2 - 4);
    low = low > margin ? low - margin : 0;
    high = high < ~(Word)0 - margin ? high + margin : ~(Word)0;
    return make_cells(low, high, kind == LEVELLED ? STRETCHES : cell_count, kind);
}
/* Those that the sample has led to. */
#define CHOSEN_CELLS() sampled_cells(WORK[EXTREME_AT(0)], WORK[EXTREME_AT(1)], cell_count, control[KIND])

/* ---- Sums and extremes over a group ---- */

/* Leaves the smallest of all work-items' `low` at smallest[0], and the largest `high` at largest[0]. */
#if defined OF_LANE_ACROSS && ELEMENT_WORDS == 1
GROUP_FUNCTION void find_extremes(LOCAL Element *smallest, LOCAL Element *largest, Element low, Element high)
{
    /* In every warp, and then in the first one over all. */
    UNROLL for (int stage = 0; stage < 2; stage++)
    {
        if (stage == 0 || ITEM < 32) {
            UNROLL for (u32 distance = 16; distance > 0; distance /= 2)
            {
                Element lower = OF_LANE_ACROSS(low, distance), higher = OF_LANE_ACROSS(high, distance);
                low = lower < low ? lower : low;
                high = higher > high ? higher : high;
            }
        }
        if (stage == 0 ? ITEM % 32 == 0 : ITEM == 0) {
            smallest[ITEM / 32] = low;
            largest[ITEM / 32] = high;
        }
        BARRIER();
        if (stage == 0 && ITEM < 32) {
            low = smallest[ITEM < ITEMS / 32 ? ITEM : 0];
            high = largest[ITEM < ITEMS / 32 ? ITEM : 0];
        }
    }
}
#else
GROUP_FUNCTION void find_extremes(LOCAL Element *smallest, LOCAL Element *largest, Element low, Element high)
{
    smallest[ITEM] = low;
    largest[ITEM] = high;
    BARRIER();
    for (u32 distance = ITEMS / 2; distance > 0; distance /= 2) {
        if (ITEM < distance) {
            Element other = smallest[ITEM + distance];
            smallest[ITEM] = is_less(other, smallest[ITEM]) ? other : smallest[ITEM];
            other = largest[ITEM + distance];
            largest[ITEM] = is_less(largest[ITEM], other) ? other : largest[ITEM];
        }
        BARRIER();
    }
}
#endif

/* Adds up, or takes the largest of, what the work-items have. The result is that of all work-items up to this one; `room` has a word for
   each of them, and one more, which gets that of all. */
#define SCAN(room, number, combine)                                                                                    \
    (room)[ITEM] = (number);                                                                                           \
    BARRIER();                                                                                                         \
    for (u32 distance = 1; distance < ITEMS; distance *= 2) {                                                          \
        u32 other = ITEM >= distance ? (room)[ITEM - distance] : 0;                                                    \
        BARRIER();                                                                                                     \
        (room)[ITEM] = combine((room)[ITEM], other);                                                                   \
        BARRIER();                                                                                                     \
    }
#define SUM(a, b) ((a) + (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/* The sum of the numbers of all work-items before this one. The sum of all is in the last word of `room`. */
#ifdef SUM_IN_WARP
GROUP_FUNCTION u32 sum_before(LOCAL u32 *room, u32 number)
{
    u32 sum = SUM_IN_WARP(number), warp = ITEM / 32, lane = ITEM % 32;
    if (lane == 31) {
        room[warp] = sum;
    }
    BARRIER();
    u32 of_warp = SUM_IN_WARP(lane < ITEMS / 32 ? room[lane] : 0);
    BARRIER();
    u32 before = warp > 0 ? OF_LANE(of_warp, warp - 1) : 0;
    if (ITEM == ITEMS - 1) {
        room[ITEMS] = before + sum;
    }
    BARRIER();
    return before + sum - number;
}
#else
GROUP_FUNCTION u32 sum_before(LOCAL u32 *room, u32 number)
{
    SCAN(room, number, SUM)
    u32 before = room[ITEM] - number;
    if (ITEM == ITEMS - 1) {
        room[ITEMS] = room[ITEM];
    }
    BARRIER();
    return before;
}
#endif
#define ALL_TOGETHER(room) ((room)[ITEMS])

/* The largest number of the work-items before this one, or 0. */
GROUP_FUNCTION u32 largest_before(LOCAL u32 *room, u32 number)
{
    SCAN(room, number, LARGER)
    u32 before = ITEM > 0 ? room[ITEM - 1] : 0;
    BARRIER();
    return before;
}
