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

   A part whose elements are all equal is not moved. It is written down as often as it was counted. With values, it is moved.

   Cells are linear, logarithmic or levelled. Levelled ones are for elements that crowd in some stretches of their range, as floating-point
   numbers do: the range is cut into STRETCHES, and each of them gets cells by its share of the sample.

   Elements with values: these are in no order where keys are equal, so all goes by the keys. Elements whose keys are equal are moved,
   but not sorted.

   Elements with indices: a key that is there often has elements that are as close together as their indices are, and far from those of
   the next key. So indices are moved up to the key, as they are short, and a key that would not fit a tile gets parts of its own, which
   divide the range of its indices evenly. FREE_VALUES is 0 for such elements, and 1 where values are in no order.

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

/* What lies behind the elements in the working memory: the sample, its extremes, the bounds. */
#define AFTER_TOTAL (((Index)total + 15) / 16 * 16)
#define SAMPLE_AT(number) (AFTER_TOTAL + (number))
#define EXTREME_AT(number) (AFTER_TOTAL + SAMPLES + (number))
#define BOUND_AT(number) (AFTER_TOTAL + SAMPLES + EXTREMES + (number))

/* The counters, `control`. The plan gives the place of every table:
   WEIGHTS      the sample by cell: CELLS for the linear cells, CELLS for the logarithmic ones
   COUNTS       all elements by cell, then by part; EQUAL is set for parts whose elements, or keys with values, are equal
   NODE_OF      for every cell, the number of its node plus one, or 0: only divided cells have one
   NODES        the nodes, see below
   SECTIONS     where elements have indices: the parts of every section of a node, see below
   VALUES_SEEN  the bits that are set in indices of each group's share of the sample
   LEVELS       for levelled cells: the first cell of every stretch, and in the upper half of the word how many it has
   BUCKET_OF    the bucket of every cell and every part
   STARTS       the first place of every bucket
   VALUE_OF     for buckets of equal elements the number of the bound plus one, else 0
   CURSORS      where the next element of a bucket goes
   RUN_STARTS, RUN_CURSORS      the same for runs of buckets
   FILLS        of equal elements: first place, how many, number of the bound; with values, elements that are in their places
   AGAIN        what is left to the larger tile: first place, how many, whether they are in the working memory
   LONG         the same for what is left to `settle` */
#define EQUAL (1u << 31)

/* Whether values are part of the order: they are indices. */
#define ORDERS_VALUES (VALUE_BITS > 0 && !FREE_VALUES)

/* The buckets of a cell that has a node, and of parts that are not moved. */
#define FIRST_NODE 0xf000u
#define STAYS 0xffffu

FUNCTION u32 least(u32 a, u32 b)
{
    return a < b ? a : b;
}

/* Writes down that a range of elements is still to be sorted. */
FUNCTION void leave_over(GLOBAL u32 *count, GLOBAL u32 *list, u32 start, u32 length, bool in_work)
{
    GLOBAL u32 *entry = list + 3 * ATOMIC_ADD(count, 1);
    entry[0] = start;
    entry[1] = length;
    entry[2] = in_work;
}

/* ---- Cells ---- */

/* Whether keys make words of 32 bits. No cell looks at more than the highest 32 bits of a range. */
#define WORD_IS_SHORT (KEY_BITS <= 32)
#if WORD_IS_SHORT
typedef u32 CellWord;
#else
typedef u64 CellWord;
#endif
#define WORD_BITS (8 * (u32)sizeof(CellWord))

/* How an element becomes a word, and the word the number of a cell. What lies outside of the sampled range is in the first or the last
   cell.

   The word of a key is its highest one. With an index it is the key's distance from the least key, and below it as many bits
   of the index as there is room for, from the highest bit on that is set in some index of the sample. */
typedef struct {
    CellWord low, base, most;
    u32 shift, scale, kind;
    bool exact;
#if ORDERS_VALUES
    CellWord least_key, key_range;
    Value most_value;
    u32 up, down;
#endif
} Cells;
#define LINEAR 0
#define LOGARITHMIC 1
#define LEVELLED 2

FUNCTION u32 bit_length(CellWord word)
{
#if WORD_IS_SHORT
    return word ? 32 - LEADING_ZEROS(word) : 0;
#else
    return word ? 64 - LEADING_ZEROS_64(word) : 0;
#endif
}

/* ---- Elements with values ---- */

#if VALUE_BITS > 0
#if ELEMENT_WORDS == 1
#define KEY_OF(element) ((element) >> VALUE_BITS)
#define VALUE_IN(element) ((Value)(element))
#define IS_SAME_KEY(a, b) (KEY_OF(a) == KEY_OF(b))
FUNCTION Element with_value(Element element, Value value)
{
    return (element >> VALUE_BITS << VALUE_BITS) | value;
}
#else
/* Of a key of 128 bits only the upper half. */
#define KEY_OF(element) TOP(element)
#define VALUE_IN(element) ((Value)(element).word[ELEMENT_WORDS - 1])
FUNCTION bool is_same_key(Element a, Element b)
{
    bool same = true;
    UNROLL for (int w = 0; w < ELEMENT_WORDS - 1; w++)
    {
        same &= a.word[w] == b.word[w];
    }
    return same;
}
#define IS_SAME_KEY(a, b) is_same_key(a, b)
FUNCTION Element with_value(Element element, Value value)
{
    element.word[ELEMENT_WORDS - 1] = value;
    return element;
}
#endif
#else
#define KEY_OF(element) TOP(element)
#define IS_SAME_KEY(a, b) is_equal(a, b)
#endif

#if ORDERS_VALUES
FUNCTION CellWord word_of(Cells cells, Element element)
{
    CellWord key = (CellWord)KEY_OF(element), distance = key - cells.least_key;
    /* Indices of so few elements have less than 32 bits, and so a shift does, too. */
    Value value = VALUE_IN(element);
    value = value < cells.most_value ? value : cells.most_value;
    CellWord word = distance << cells.up | (CellWord)(value >> cells.down);
    word = distance > cells.key_range ? ~(CellWord)0 : word;
    return key < cells.least_key ? 0 : word;
}

/* Finds room for values of so many bits behind keys of a range. A key of 128 bits has bits between the two, so nothing is made of its value. */
FUNCTION Cells make_room(CellWord least_key, CellWord most_key, u32 value_bits)
{
    Cells cells;
    u32 room = WORD_BITS - bit_length(most_key - least_key);
    room = room < WORD_BITS ? room : WORD_BITS - 1;
    cells.least_key = least_key;
    cells.key_range = most_key - least_key;
    cells.most_value = KEY_BITS < 128 && value_bits > 0 ? ~(Value)0 >> (VALUE_BITS - value_bits) : 0;
    cells.up = KEY_BITS == 128 ? 0 : value_bits < room ? value_bits : room;
    cells.down = KEY_BITS == 128 ? 0 : value_bits - cells.up;
    return cells;
}
#else
#define word_of(cells, element) ((CellWord)KEY_OF(element))
#endif

/* The first and the last element that there could be with a key. */
#if FREE_VALUES
#define FIRST_OF_KEY(element) with_value(element, 0)
#define LAST_OF_KEY(element) with_value(element, ~(Value)0)
#else
#define FIRST_OF_KEY(element) (element)
#define LAST_OF_KEY(element) (element)
#endif

/* Whether elements are the same for the order. */
#if FREE_VALUES
#define IS_TIE(a, b) IS_SAME_KEY(a, b)
#define IS_BEFORE(a, b) (KEY_OF(a) < KEY_OF(b))
#else
#define IS_TIE(a, b) is_equal(a, b)
#define IS_BEFORE(a, b) is_less(a, b)
#endif

/* ---- Making cells ---- */

/* `count` / (`highest` + 1) in 2^32ths. */
FUNCTION u32 scale_to(u32 count, u32 highest)
{
    return (u32)(((u64)count << 32) / ((u64)highest + 1));
}

/* The same, or up to a 2^14th less, if `highest` is not less than `count`. */
FUNCTION u32 about_scale_to(u32 count, u32 highest)
{
    u32 shift = 16 - LEADING_ZEROS(highest | 0xffffu);
    return (u32)((u64)count * (~0u / ((highest >> shift) + 1)) >> shift);
}

/* Cells for words of a range: `cells` says how elements become words. Kernels that make them at their start, in all work-items, save most
   of a microsecond by a division of 32 bits (`at_start`). */
FUNCTION Cells make_cells(Cells cells, CellWord low, CellWord high, u32 count, u32 kind, bool at_start)
{
    CellWord range = high - low;
    u32 bits = bit_length(range), shift = bits > 32 ? bits - 32 : 0;
    u32 highest = (u32)(range >> shift);
    /* Where there are more cells than values, every value has its own: the high half of (v + 1) * (2^32 - 1) is v. */
    cells.exact = kind != LOGARITHMIC && highest < count && bits <= 32;
    cells.low = low;
    cells.base = low - cells.exact;
    cells.most = range + cells.exact;
    cells.shift = shift;
    cells.scale = cells.exact ? ~0u : at_start ? about_scale_to(count, highest) : scale_to(count, highest);
    cells.kind = kind;
    return cells;
}

/* Bits below the highest one that a logarithmic cell looks at. Without any, the largest words would be in a cell too many. */
#define CELL_BITS (CELLS_LOG2 - (WORD_BITS > 32 ? 6 : 5))
typedef char cells_are_enough[CELL_BITS > 0 ? 1 : -1];

/* Within the sampled range, from its lower end. */
FUNCTION CellWord within(Cells cells, Element element)
{
    CellWord word = word_of(cells, element);
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

FUNCTION u32 logarithmic_cell_of(Cells cells, Element element)
{
    CellWord word = within(cells, element);
    u32 bits = bit_length(word);
    u32 below = bits > CELL_BITS + 1 ? bits - CELL_BITS - 1 : 0;
    return (below << CELL_BITS) + (u32)(word >> below);
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
    return logarithmic_cell_of(cells, element);
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

/* A node has bounds, and a section before and after each of them: one more than it has bounds. They have the numbers of their sections. */
#define NODE(first, bounds) ((first) | (bounds) << 16)
#define NODE_FIRST(node) ((node) & 0xffffu)
#define NODE_BOUNDS(node) ((node) >> 16)

/* A section is one part, and has its number. Where elements have indices, a section of one key may have several, and its two words say
   which: the first one and how many more; and how far indices are shifted to get from the section's lower bound to the part. */
#if ORDERS_VALUES
#define SECTION_WORDS 2
#define SECTION(first, more) ((first) | (more) << 16)
#define SECTION_FIRST(section) ((section) & 0xffffu)
#define SECTION_MORE(section) ((section) >> 16)
#define NODE_FIRST_PART(sections, node) SECTION_FIRST((sections)[2 * NODE_FIRST(node)])
#else
#define SECTION_WORDS 0
#define NODE_FIRST_PART(sections, node) NODE_FIRST(node)
#endif

/* How many parts a node has. */
FUNCTION u32 node_parts(LOCAL const u32 *sections, u32 node)
{
#if ORDERS_VALUES
    u32 last = sections[2 * (NODE_FIRST(node) + NODE_BOUNDS(node))];
    return SECTION_FIRST(last) + SECTION_MORE(last) + 1 - NODE_FIRST_PART(sections, node);
#else
    return NODE_BOUNDS(node) + 1;
#endif
}

/* The section of a node that an element belongs to: how many of its bounds are not larger. */
FUNCTION u32 section_of(LOCAL const Element *bounds, u32 node, Element element)
{
    u32 first = NODE_FIRST(node), count = NODE_BOUNDS(node), section = 0;
    /* Most have two bounds, around an element that is there often. The one behind the last is infinite. */
    if (count <= 2) {
        section += count >= 1 && !is_less(element, bounds[first]);
        section += count == 2 && !is_less(element, bounds[first + 1]);
        return first + section;
    }
    /* The count is at most 64. */
    for (u32 step = 1u << (31 - LEADING_ZEROS(count)); step > 0; step /= 2) {
        if (section + step <= count && !is_less(element, bounds[first + section + step - 1])) {
            section += step;
        }
    }
    return first + section;
}

FUNCTION u32 part_of(LOCAL const Element *bounds, LOCAL const u32 *sections, u32 node, Element element)
{
    u32 section = section_of(bounds, node, element);
#if ORDERS_VALUES
    u32 parts = sections[2 * section], more = SECTION_MORE(parts);
    if (more > 0) {
        /* The key is that of the lower bound. */
        Value distance = VALUE_IN(element) - VALUE_IN(bounds[section - 1]);
        distance >>= sections[2 * section + 1];
        more = distance < more ? (u32)distance : more;
    }
    return SECTION_FIRST(parts) + more;
#else
    return section;
#endif
}

/* The cells between the extremes of the sample. */
FUNCTION Cells sampled_cells(Element smallest, Element largest, u32 value_bits, u32 cell_count, u32 kind)
{
    Cells cells;
#if ORDERS_VALUES
    CellWord least_key = (CellWord)KEY_OF(smallest), most_key = (CellWord)KEY_OF(largest), largest_key = ~(CellWord)0;
    CellWord beyond = (most_key - least_key) >> (SAMPLES_LOG2 - 4);
    cells = make_room(least_key > beyond ? least_key - beyond : 0, most_key < largest_key - beyond ? most_key + beyond : largest_key,
                      value_bits);
#endif
    CellWord low = word_of(cells, smallest), high = word_of(cells, largest);
    /* Some elements lie outside of the sample: of so many as the margin is for, hardly ever one. Logarithmic cells have none below, as they
       are finest there, and the margin would be in the finest ones: what is less than the sample shares the first cell. */
    CellWord margin = (high - low) >> (SAMPLES_LOG2 - 4), below = kind == LOGARITHMIC ? 0 : margin;
    low = low > below ? low - below : 0;
    high = high < ~(CellWord)0 - margin ? high + margin : ~(CellWord)0;
    return make_cells(cells, low, high, kind == LEVELLED ? STRETCHES : cell_count, kind, true);
}
#define SAMPLED_CELLS(kind) sampled_cells(WORK[EXTREME_AT(0)], WORK[EXTREME_AT(1)], control[VALUE_WIDTH], cell_count, kind)
/* Those that the sample has led to. */
#define CHOSEN_CELLS() SAMPLED_CELLS(control[KIND])

/* The cells between elements of a tile. */
FUNCTION Cells cells_between(Element smallest, Element largest, u32 value_bits, u32 count)
{
    Cells cells;
#if ORDERS_VALUES
    cells = make_room((CellWord)KEY_OF(smallest), (CellWord)KEY_OF(largest), value_bits);
#endif
    return make_cells(cells, word_of(cells, smallest), word_of(cells, largest), count, LINEAR, false);
}

/* Copies a table of `control` to local memory. */
#define COPY_TABLE(to, from, words)                                                                                    \
    for (u32 word = ITEM; word < (words); word += ITEMS) {                                                             \
        (to)[word] = control[(from) + word];                                                                           \
    }
/* The same for at most so many words, with all of them under way at the same time. */
#define COPY_AT_ONCE(to, from, words, most)                                                                            \
    UNROLL for (u32 first_word = 0; first_word < (most); first_word += ITEMS)                                          \
    {                                                                                                                  \
        u32 word = first_word + ITEM;                                                                                  \
        if (word < (words)) {                                                                                          \
            (to)[word] = control[(from) + word];                                                                       \
        }                                                                                                              \
    }
#define COPY_LEVELS(levels, cells)                                                                                     \
    if ((cells).kind == LEVELLED) {                                                                                    \
        COPY_TABLE(levels, LEVELS, STRETCHES)                                                                          \
    }
/* Those that there was room for. */
#define COUNT_NODES()                                                                                                  \
    u32 node_count = least(control[NODE_COUNT], MOST_NODES);                                                           \
    u32 section_count = node_count > 0 ? least(control[SECTION_COUNT], MOST_SECTIONS) : 0;                             \
    u32 part_count = node_count > 0 ? least(control[ORDERS_VALUES ? PART_COUNT : SECTION_COUNT], PARTS) : 0;
#define COPY_BOUNDS(bounds)                                                                                            \
    for (u32 bound = ITEM; bound < section_count; bound += ITEMS) {                                                    \
        (bounds)[bound] = WORK[BOUND_AT(bound)];                                                                       \
    }

/* ---- Sums and extremes over a group ---- */

/* Leaves the smallest of all work-items' `low` at smallest[0], and the largest `high` at largest[0]. */
#if defined OF_LANE_ACROSS && ELEMENT_WORDS == 1
FUNCTION void find_extremes(LOCAL Element *smallest, LOCAL Element *largest, Element low, Element high)
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
FUNCTION void find_extremes(LOCAL Element *smallest, LOCAL Element *largest, Element low, Element high)
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

#define SUM(a, b) ((a) + (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/* What the work-items before this one have together. `room` has a word for each of them, and one more, which gets what all have. */
#ifdef OF_LANE_BELOW
/* In every warp, and then in each over all. */
#define SCAN_IN_WARP(number, combine)                                                                                  \
    UNROLL for (u32 distance = 1; distance < 32; distance *= 2)                                                        \
    {                                                                                                                  \
        u32 other = OF_LANE_BELOW(number, distance);                                                                   \
        number = combine(number, lane >= distance ? other : 0);                                                        \
    }
/* `up_to` becomes what the work-items up to this one have together, `before` what those of the warps before have. */
#define SCAN(up_to, before, combine)                                                                                   \
    u32 warp = ITEM / 32, lane = ITEM % 32;                                                                            \
    SCAN_IN_WARP(up_to, combine)                                                                                       \
    if (lane == 31) {                                                                                                  \
        room[warp] = up_to;                                                                                            \
    }                                                                                                                  \
    BARRIER();                                                                                                         \
    u32 of_warps = lane < ITEMS / 32 ? room[lane] : 0;                                                                 \
    SCAN_IN_WARP(of_warps, combine)                                                                                    \
    BARRIER();                                                                                                         \
    u32 before = warp > 0 ? OF_LANE(of_warps, warp - 1) : 0;                                                           \
    if (ITEM == ITEMS - 1) {                                                                                           \
        room[ITEMS] = combine(before, up_to);                                                                          \
    }                                                                                                                  \
    BARRIER();
FUNCTION u32 sum_before(LOCAL u32 *room, u32 number)
{
    u32 up_to = number;
    SCAN(up_to, before, SUM)
    return before + up_to - number;
}
FUNCTION u32 largest_before(LOCAL u32 *room, u32 number)
{
    u32 up_to = number;
    SCAN(up_to, before, LARGER)
    u32 below = OF_LANE_BELOW(up_to, 1);
    return lane > 0 ? LARGER(before, below) : before;
}
#else
#define SCAN(name, combine)                                                                                            \
    FUNCTION u32 name(LOCAL u32 *room, u32 number)                                                                     \
    {                                                                                                                  \
        room[ITEM] = number;                                                                                           \
        BARRIER();                                                                                                     \
        for (u32 distance = 1; distance < ITEMS; distance *= 2) {                                                      \
            u32 other = ITEM >= distance ? room[ITEM - distance] : 0;                                                  \
            BARRIER();                                                                                                 \
            room[ITEM] = combine(room[ITEM], other);                                                                   \
            BARRIER();                                                                                                 \
        }                                                                                                              \
        u32 before = ITEM > 0 ? room[ITEM - 1] : 0;                                                                    \
        if (ITEM == ITEMS - 1) {                                                                                       \
            room[ITEMS] = room[ITEM];                                                                                  \
        }                                                                                                              \
        BARRIER();                                                                                                     \
        return before;                                                                                                 \
    }
SCAN(sum_before, SUM)
SCAN(largest_before, LARGER)
#endif
#define ALL_TOGETHER(room) ((room)[ITEMS])
