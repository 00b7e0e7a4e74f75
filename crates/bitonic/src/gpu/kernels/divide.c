/* Chooses the cells, linear, logarithmic or levelled, and divides those that would not fit a tile. A group looks at SLICE cells, not
   neighbours: heavy cells often are.

   A cell is heavy if the sample has `heavy` elements of it or more, and may be hot from `hot` on: then one element is there often. Its
   node gets bounds from up to POOL of them: before and after an element that is there so often that it gets a bucket of its own, and
   between the others. A key that is there often, with many indices, gets several buckets; `filling` elements of the sample fill one. More
   such cells than a group has slots for stay whole, which makes the sort slower and not wrong.

   A pool has a work-item for each of its elements, which finds out whether there is a bound before or after it. How many bounds are
   before that one is how many bits are set in the words of its slot. */

#define POOL 64
/* Elements of the sample that a work-item has under way at the same time. */
#define BATCH 8

/* Cells of another kind are better if so many fewer elements of the sample are in cells that are too full. */
#define BETTER (SAMPLES / 32)

/* Words for the weights of all cells, in which numbers of all work-items are added up before. */
#define WEIGHT_WORDS (CELLS > ITEMS ? CELLS : ITEMS + 1)

/* Words of a slot: a bit for every element of the pool before which a section ends, and after whose equals one ends; whether an element
   is there often; the cell; the numbers of the first section and the first part, or NONE. */
#define OPENS 0
#define CLOSES 2
#define HOT_ELEMENT 4
#define CELL 5
#define FIRST_SECTION 6
#define FIRST_PART 7
#define SLOT_WORDS 8
#define NONE (~0u)

/* Where elements have indices: how many parts more than one the key has whose first element in the pool it is. */
#define MORE_WORDS (ORDERS_VALUES ? POOL : 0)

/* The plan gives LOCAL_ELEMENTS, which hold the elements of all slots, and words for each cell, each slot and each stretch. */
#define WORDS (SLICE + SLOTS * (1 + SLOT_WORDS + MORE_WORDS) + 6 + STRETCHES + WEIGHT_WORDS)
typedef char local_memory_is_enough[LOCAL_ELEMENTS * sizeof(Element) >= SLOTS * POOL * sizeof(Element) + WORDS * 4 ? 1 : -1];

/* How many of two words' bits are set before a place. */
FUNCTION u32 bits_before(LOCAL const u32 *words, u32 place)
{
    u32 below = (1u << place % 32) - 1;
    return place < 32 ? BITS_SET(words[0] & below) : BITS_SET(words[0]) + BITS_SET(words[1] & below);
}

/* How many bounds a node has before those of an element of its pool, and in all. */
#define BOUNDS_BEFORE(slot, place) (bits_before((slot) + OPENS, place) + bits_before((slot) + CLOSES, place))
#define ALL_BOUNDS(slot) (BITS_SET((slot)[OPENS]) + BITS_SET((slot)[OPENS + 1]) + BITS_SET((slot)[CLOSES]) + BITS_SET((slot)[CLOSES + 1]))

/* What an element of a pool is: its place in the order, where its equals begin and end, and whether they get a section of their own. */
typedef struct {
    u32 place, from, to;
    bool own, opens, closes;
} Member;

/* Looks an element of a pool up in the pool, of which each of `count` elements stands for `weight` / `count` of the sample. */
FUNCTION Member find_member(LOCAL const Element *pool, u32 mine, u32 count, u32 weight, u32 heavy, u32 hot)
{
    Member member;
    Element element = pool[mine];
    u32 place = 0, from = 0, same = 0;
    UNROLL_SOME for (u32 other = 0; other < count; other++)
    {
        bool is_first = other < mine;
#if ORDERS_VALUES
        from += KEY_OF(pool[other]) < KEY_OF(element);
        same += IS_SAME_KEY(pool[other], element);
        place += is_less(pool[other], element) || (is_first && is_equal(pool[other], element));
#else
        bool is_tie = IS_TIE(pool[other], element);
        from += IS_BEFORE(pool[other], element);
        same += is_tie;
        place += is_tie && is_first;
#endif
    }
    member.place = ORDERS_VALUES ? place : from + place;
    member.from = from;
    member.to = from + same;
    u32 share = same * weight / count;
    /* Where elements are never equal, these are the elements of a key that would not fit a tile. */
    bool own = ORDERS_VALUES ? 2 * share >= heavy && same > 4 : 2 * share >= hot && same > 1;
    /* Others get one together that fills half of a tile: a section ends before those that reach across a multiple of that. */
    u32 first = ORDERS_VALUES ? member.place : from, last = ORDERS_VALUES ? member.place : from + same - 1;
    u32 fill = heavy / 2 > 0 ? heavy / 2 : 1;
    bool crosses = first > 0 && (first - 1) * weight / count / fill != last * weight / count / fill;
    member.own = own && member.place == from;
    member.opens = own ? member.own : crosses && member.place == first;
    /* Behind the last of all elements there is none. */
    member.closes = member.own && (ORDERS_VALUES || is_less(LAST_OF_KEY(element), infinite()));
    return member;
}

#if ORDERS_VALUES
/* The elements of a key that would not fit a tile: a range of indices, as far as the pool shows it, and a margin on the sides where the
   key begins and ends: of what lies beyond, there is hardly ever one. It is cut into `more` + 1 parts of equal ranges. */
typedef struct {
    Value low, high;
    u32 more, shift;
} Range;

/* `filling` elements of the sample are what fills a part. */
FUNCTION Range divide_key(LOCAL const Element *pool, Member member, u32 count, u32 weight, u32 filling)
{
    Range range;
    u32 same = member.to - member.from, share = same * weight / count;
    Value low = VALUE_IN(pool[member.from]), high = VALUE_IN(pool[member.to - 1]), most = ~(Value)0;
    Value width = (high - low) / share * filling, margin = (high - low) / same * 8;
    range.low = low > margin ? low - margin : 0;
    range.high = high < most - margin ? high + margin : most;
    range.shift = 0;
    while (width >> range.shift > 1) {
        range.shift++;
    }
    /* Hardly ever is it so uneven. */
    while ((range.high - range.low) >> range.shift >= PARTS / 2) {
        range.shift++;
    }
    range.more = (u32)((range.high - range.low) >> range.shift);
    return range;
}

/* How many parts more than one the keys before a place have, of a node. */
FUNCTION u32 more_before(LOCAL const u32 *slot, LOCAL const u32 *more, u32 place)
{
    u32 sum = 0;
    for (u32 word = 0; word < 2; word++) {
        u32 keys = place < 32 * word ? 0 : place < 32 * word + 32 ? (1u << place % 32) - 1 : ~0u;
        for (keys &= slot[CLOSES + word]; keys != 0; keys &= keys - 1) {
            sum += more[32 * word + 31 - LEADING_ZEROS(keys & (0 - keys))];
        }
    }
    return sum;
}
#endif

/* Finds places for the node of a slot, unless its cell may stay whole. */
FUNCTION void open_node(GLOBAL u32 *control, LOCAL u32 *slot, LOCAL const u32 *more, u32 weight, u32 heavy)
{
    u32 bounds = ALL_BOUNDS(slot), parts = bounds + 1;
    slot[FIRST_SECTION] = NONE;
    if (slot[HOT_ELEMENT] == 0 && weight < heavy) {
        return;
    }
#if ORDERS_VALUES
    parts += more_before(slot, more, POOL);
#endif
    /* All under way at the same time. */
    u32 number = ATOMIC_ADD(&control[NODE_COUNT], 1);
    u32 first_section = ATOMIC_ADD(&control[SECTION_COUNT], bounds + 1);
    u32 first_part = ORDERS_VALUES ? ATOMIC_ADD(&control[PART_COUNT], parts) : first_section;
    bool has_room = number < MOST_NODES && first_section + bounds + 1 <= MOST_SECTIONS && first_part + parts <= PARTS;
    if (number < MOST_NODES) {
        control[NODES + number] = has_room ? NODE(first_section, bounds) : 0;
    }
    if (has_room) {
        slot[FIRST_SECTION] = first_section;
        slot[FIRST_PART] = first_part;
        control[NODE_OF + slot[CELL]] = number + 1;
    }
}

/* Writes down the section that ends with a bound. It has `more` parts than one. */
FUNCTION void end_section(GLOBAL Element *work, GLOBAL u32 *control, Index total, u32 section, Element bound, u32 part, u32 more,
                          u32 shift)
{
    work[BOUND_AT(section)] = bound;
#if ORDERS_VALUES
    control[SECTIONS + 2 * section] = SECTION(part, more);
    control[SECTIONS + 2 * section + 1] = shift;
#endif
}

/* Walks through the sample, with several elements under way at the same time. */
#define FOR_EACH_SAMPLE(work)                                                                                          \
    for (u32 first = 0; first < SAMPLES; first += BATCH * ITEMS) {                                                     \
        Element batch[BATCH];                                                                                          \
        UNROLL for (u32 a = 0; a < BATCH; a++)                                                                         \
        {                                                                                                              \
            u32 number = first + a * ITEMS + ITEM;                                                                     \
            batch[a] = (work)[SAMPLE_AT(number < SAMPLES ? number : 0)];                                                \
        }                                                                                                              \
        UNROLL for (u32 a = 0; a < BATCH; a++)                                                                         \
        {                                                                                                              \
            if (first + a * ITEMS + ITEM < SAMPLES) {                                                                  \
                Element element = batch[a];
#define END_OF_SAMPLE                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }

#define STRETCHES_EACH (STRETCHES > ITEMS ? STRETCHES / ITEMS : 1)

/* Gives every stretch cells by its share of the sample. `room` has a word for every work-item, and one more. */
FUNCTION void level(GLOBAL const Element *work, Index total, Cells cells, LOCAL u32 *levels, LOCAL u32 *room)
{
    for (u32 stretch = ITEM; stretch < STRETCHES; stretch += ITEMS) {
        levels[stretch] = 0;
    }
    BARRIER();
    FOR_EACH_SAMPLE(work)
        ATOMIC_ADD(&levels[linear_cell_of(cells, element)], 1);
    END_OF_SAMPLE
    BARRIER();
    u32 from = ITEM * STRETCHES_EACH, sum = 0, weight[STRETCHES_EACH];
    UNROLL for (u32 a = 0; a < STRETCHES_EACH; a++)
    {
        weight[a] = from + a < STRETCHES ? levels[from + a] : 0;
        sum += weight[a];
    }
    u32 before = sum_before(room, sum);
    UNROLL for (u32 a = 0; a < STRETCHES_EACH; a++)
    {
        u32 cell = (before << CELLS_LOG2) >> SAMPLES_LOG2;
        before += weight[a];
        u32 end = (before << CELLS_LOG2) >> SAMPLES_LOG2;
        if (from + a < STRETCHES) {
            levels[from + a] = (cell < CELLS ? cell : CELLS - 1) | (end - cell) << 16;
        }
    }
    BARRIER();
}

KERNEL(ITEMS)
divide(BUCKET_PARAMETERS, u32 heavy, u32 hot, u32 filling)
{
    LOCAL_ARRAY(Element, pools, LOCAL_ELEMENTS);
    LOCAL u32 *slot_of = (LOCAL u32 *)(pools + SLOTS * POOL); /* of a cell, plus one */
    LOCAL u32 *filled = slot_of + SLICE;
    LOCAL u32 *in_heavy = filled + SLOTS; /* elements of the sample in heavy cells: linear and logarithmic ones */
    LOCAL u32 *in_hot = in_heavy + 2;     /* the same for cells that may be hot; levelled ones, too */
    LOCAL u32 *slots_taken = in_hot + 3;
    LOCAL u32 *slot_words = slots_taken + 1;
    LOCAL u32 *more_parts = slot_words + SLOTS * SLOT_WORDS;
    LOCAL u32 *levels = more_parts + SLOTS * MORE_WORDS;
    LOCAL u32 *weights = levels + STRETCHES; /* the sample by levelled cell */
    if (ITEM < 6) {
        in_heavy[ITEM] = 0;
    }
    for (u32 slot = ITEM; slot < SLOTS; slot += ITEMS) {
        filled[slot] = 0;
    }
    for (u32 word = ITEM; word < SLOTS * SLOT_WORDS; word += ITEMS) {
        slot_words[word] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    u32 heavy_linear = 0, heavy_logarithmic = 0, hot_linear = 0, hot_logarithmic = 0;
    UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
    {
        u32 weight = control[WEIGHTS + cell], other = control[WEIGHTS + CELLS + cell];
        heavy_linear += weight >= heavy ? weight : 0;
        heavy_logarithmic += other >= heavy ? other : 0;
        hot_linear += weight >= hot ? weight : 0;
        hot_logarithmic += other >= hot ? other : 0;
    }
    ADD_ALL(&in_heavy[LINEAR], heavy_linear);
    ADD_ALL(&in_heavy[LOGARITHMIC], heavy_logarithmic);
    ADD_ALL(&in_hot[LINEAR], hot_linear);
    ADD_ALL(&in_hot[LOGARITHMIC], hot_logarithmic);
    BARRIER();
    u32 kind = in_heavy[LOGARITHMIC] + BETTER < in_heavy[LINEAR] ? LOGARITHMIC : LINEAR;
    GLOBAL const u32 *weights_there = control + WEIGHTS + (kind == LOGARITHMIC ? CELLS : 0);
    /* Once, or not at all: barriers stand in loops. */
    for (bool is_full = in_hot[kind] > BETTER; is_full; is_full = false) {
        Cells levelled = SAMPLED_CELLS(LEVELLED);
        level(WORK, total, levelled, levels, weights);
        for (u32 cell = ITEM; cell < CELLS; cell += ITEMS) {
            weights[cell] = 0;
        }
        BARRIER();
        FOR_EACH_SAMPLE(WORK)
            ATOMIC_ADD(&weights[cell_of(levelled, levels, element)], 1);
        END_OF_SAMPLE
        BARRIER();
        u32 hot_levelled = 0;
        for (u32 cell = ITEM; cell < CELLS; cell += ITEMS) {
            hot_levelled += weights[cell] >= hot ? weights[cell] : 0;
        }
        ADD_ALL(&in_hot[LEVELLED], hot_levelled);
        BARRIER();
        kind = in_hot[LEVELLED] + BETTER < in_hot[kind] ? LEVELLED : kind;
        if (kind == LEVELLED && GROUP == 0) {
            for (u32 stretch = ITEM; stretch < STRETCHES; stretch += ITEMS) {
                control[LEVELS + stretch] = levels[stretch];
            }
        }
        BARRIER();
    }
    Cells cells = SAMPLED_CELLS(kind);
#define WEIGHT_OF(cell) (kind == LEVELLED ? weights[cell] : weights_there[cell])
/* One of so many of a cell's elements goes to the pool, and so many are there. */
#define APART(weight) (((weight) + POOL - 1) / POOL)
#define IN_POOL(weight) (((weight) + APART(weight) - 1) / APART(weight))
    for (u32 number = ITEM; number < SLICE; number += ITEMS) {
        u32 slot = SLOTS, cell = number * (u32)GROUPS + (u32)GROUP;
        if (WEIGHT_OF(cell) >= hot) {
            slot = ATOMIC_ADD(slots_taken, 1);
        }
        if (slot < SLOTS) {
            slot_words[slot * SLOT_WORDS + CELL] = cell;
        }
        slot_of[number] = slot < SLOTS ? slot + 1 : 0;
    }
    if (GROUP == 0 && ITEM == 0) {
        control[KIND] = kind;
    }
    BARRIER();
    u32 slots = *slots_taken < SLOTS ? *slots_taken : SLOTS;
    LET_NEXT_START();
    if (slots > 0) {
        FOR_EACH_SAMPLE(WORK)
            u32 cell = cell_of(cells, levels, element);
            u32 slot = cell % (u32)GROUPS == (u32)GROUP ? slot_of[cell / (u32)GROUPS] : 0;
            if (slot > 0) {
                /* From all over the array: values may be places. */
                u32 number = ATOMIC_ADD(&filled[slot - 1], 1), apart = APART(WEIGHT_OF(cell));
                if (number % apart == 0) {
                    pools[(slot - 1) * POOL + number / apart] = element;
                }
            }
        END_OF_SAMPLE
    }
    BARRIER();
    /* Divides the cells, ITEMS / POOL at a time: each element of a pool finds the bounds that it is the reason for. */
    for (u32 from = 0; from < slots; from += ITEMS / POOL) {
        u32 number = from + ITEM / POOL, mine = ITEM % POOL;
        bool has_slot = number < slots;
        LOCAL u32 *slot = slot_words + (has_slot ? number : 0) * SLOT_WORDS;
        LOCAL Element *pool = pools + (has_slot ? number : 0) * POOL;
        LOCAL u32 *more = more_parts + (has_slot ? number : 0) * MORE_WORDS;
        u32 weight = has_slot ? WEIGHT_OF(slot[CELL]) : 0, count = has_slot ? IN_POOL(weight) : 0;
        bool is_member = mine < count;
        Element element = zero();
        Member member;
        member.place = member.from = member.to = 0;
        member.own = member.opens = member.closes = false;
        if (is_member) {
            element = pool[mine];
            member = find_member(pool, mine, count, weight, heavy, hot);
        }
        BARRIER();
        if (is_member) {
            pool[member.place] = element;
            if (member.opens) {
                ATOMIC_OR(&slot[OPENS + member.place / 32], 1u << member.place % 32);
            }
            if (member.closes) {
                ATOMIC_OR(&slot[CLOSES + member.place / 32], 1u << member.place % 32);
            }
            if (member.own && !ORDERS_VALUES) {
                ATOMIC_OR(&slot[HOT_ELEMENT], 1);
            }
        }
        BARRIER();
#if ORDERS_VALUES
        Range range;
        range.low = range.high = 0;
        range.more = range.shift = 0;
        if (member.own) {
            range = divide_key(pool, member, count, weight, filling);
            more[member.place] = range.more;
        }
        BARRIER();
#endif
        if (has_slot && mine == 0) {
            open_node(control, slot, more, weight, heavy);
        }
        BARRIER();
        if (has_slot && slot[FIRST_SECTION] != NONE) {
            u32 before = BOUNDS_BEFORE(slot, member.place), section = slot[FIRST_SECTION] + before, part = slot[FIRST_PART] + before;
#if ORDERS_VALUES
            if (member.opens) {
                part += more_before(slot, more, member.place);
                Element first = member.own ? with_value(element, range.low) : element;
                end_section(WORK, control, total, section, first, part, 0, 0);
            }
            if (member.closes) {
                Element last = with_value(element, range.high);
                last = is_less(last, infinite()) ? successor(last) : last;
                end_section(WORK, control, total, section + 1, last, part + 1, range.more, range.shift);
            }
            if (mine == 0) {
                u32 bounds = ALL_BOUNDS(slot);
                end_section(WORK, control, total, slot[FIRST_SECTION] + bounds, infinite(),
                            slot[FIRST_PART] + bounds + more_before(slot, more, POOL), 0, 0);
            }
#else
            if (member.opens) {
                end_section(WORK, control, total, section, FIRST_OF_KEY(element), part, 0, 0);
            }
            if (member.own) {
                control[COUNTS + CELLS + part + 1] = EQUAL;
            }
            if (member.closes) {
                end_section(WORK, control, total, section + 1, successor(LAST_OF_KEY(element)), part + 1, 0, 0);
            }
            if (mine == 0) {
                end_section(WORK, control, total, slot[FIRST_SECTION] + ALL_BOUNDS(slot), infinite(), 0, 0, 0);
            }
#endif
        }
    }
}
