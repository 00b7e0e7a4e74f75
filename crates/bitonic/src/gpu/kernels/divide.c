/* Chooses the cells, linear, logarithmic or levelled, and divides those that would not fit a tile. A group looks at SLICE cells, not
   neighbours: heavy cells often are.

   A cell is heavy if the sample has `heavy` elements of it or more, and may be hot from `hot` on: then one element is there often. Its
   node gets bounds from up to POOL of them: before and after an element that is there so often that it gets a bucket of its own, and
   between the others. A key that is there often, with many indices, gets several buckets; `filling` elements of the sample fill one. More
   such cells than a group has slots for stay whole, which makes the sort slower and not wrong. */

#define POOL 64
/* Elements of the sample that a work-item has under way at the same time. */
#define BATCH 8

/* Cells of another kind are better if so many fewer elements of the sample are in cells that are too full. */
#define BETTER (SAMPLES / 32)

/* Words for the weights of all cells, in which numbers of all work-items are added up before. */
#define WEIGHT_WORDS (CELLS > ITEMS ? CELLS : ITEMS + 1)

/* The plan gives LOCAL_ELEMENTS, which hold the elements of all slots, and words for each cell, each slot and each stretch. */
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= SLOTS * POOL * sizeof(Element) + (SLICE + SLOTS + 6 + STRETCHES + WEIGHT_WORDS) * 4 ? 1 : -1];

/* What a node is made of, once to know how many sections and parts there are, and then to write them down. */
typedef struct {
    u32 first_section, first_part; /* where they go */
    u32 sections, parts;           /* how many there are before the one that is open */
    bool is_written;
} Node;

/* Ends a section with a bound, after which the next one begins. It has `more` parts than one. */
FUNCTION void end_section(GLOBAL Element *work, GLOBAL u32 *control, Index total, Node *node, Element bound, u32 more, u32 shift)
{
    if (node->is_written) {
        u32 section = node->first_section + node->sections;
        work[BOUND_AT(section)] = bound;
#if ORDERS_VALUES
        control[SECTIONS + 2 * section] = SECTION(node->first_part + node->parts, more);
        control[SECTIONS + 2 * section + 1] = shift;
#endif
    }
    node->sections += 1;
    node->parts += 1 + more;
}

#if ORDERS_VALUES
/* The elements of a key that would not fit a tile. `count` of them, which stand for `share` of the sample, are sorted at `pool`; `filling`
   is what fills a part. Gives the key a section for the range of its values, as far as the pool shows it, and a margin on the sides where
   it begins and ends: of what lies beyond, there is hardly ever one. The section is cut into parts of equal ranges. */
FUNCTION void divide_key(GLOBAL Element *work, GLOBAL u32 *control, Index total, Node *node, LOCAL const Element *pool, u32 count,
                         u32 share, u32 filling, bool begins, bool ends)
{
    Value low = VALUE_IN(pool[0]), high = VALUE_IN(pool[count - 1]), width = (high - low) / share * filling;
    Value below = begins ? (high - low) / count * 8 : 0, above = ends ? (high - low) / count * 8 : 0, most = ~(Value)0;
    low = low > below ? low - below : 0;
    high = high < most - above ? high + above : most;
    u32 shift = 0;
    while (width >> shift > 1) {
        shift++;
    }
    /* Hardly ever is it so uneven. */
    while ((high - low) >> shift >= PARTS / 2) {
        shift++;
    }
    end_section(work, control, total, node, with_value(pool[0], low), 0, 0);
    Element last = with_value(pool[0], high);
    end_section(work, control, total, node, is_less(last, infinite()) ? successor(last) : last, (u32)((high - low) >> shift), shift);
}
#endif

/* Divides a cell of which the sample has `weight` elements; `count` of them are sorted at `pool`. */
FUNCTION void make_node(GLOBAL Element *work, GLOBAL u32 *control, Index total, LOCAL const Element *pool, u32 cell, u32 weight,
                        u32 count, u32 heavy, u32 hot, u32 filling)
{
    Node node;
    node.first_section = node.first_part = 0;
    bool is_hot = false;
    for (int written = 0; written < 2; written++) {
        if (written) {
            if (!is_hot && weight < heavy) {
                return;
            }
#if ORDERS_VALUES
            node.first_part = ATOMIC_ADD(&control[PART_COUNT], node.parts + 1);
            if (node.first_part + node.parts + 1 > PARTS) {
                return;
            }
#endif
            node.first_section = ATOMIC_ADD(&control[SECTION_COUNT], node.sections + 1);
            if (node.first_section + node.sections + 1 > MOST_SECTIONS) {
                return;
            }
            node.first_part = ORDERS_VALUES ? node.first_part : node.first_section;
        }
        node.is_written = written;
        node.sections = node.parts = 0;
        u32 filled = 0;
        for (u32 from = 0, to = 0; from < count && node.sections + 2 < POOL; from = to) {
            Element element = pool[from];
            for (to = from + 1; to < count && IS_TIE(pool[to], element); to++) {
            }
            /* Elements of the sample that it stands for, in all of the cell's. */
            u32 share = (to - from) * weight / count;
            bool own = 2 * share >= hot && to - from > 1;
#if ORDERS_VALUES
            /* As far as the key goes, or up to an element that is there often. */
            u32 end = to, equal = to - from;
            while (!own && end < count && IS_SAME_KEY(pool[end], element)) {
                equal = is_equal(pool[end], pool[end - 1]) ? equal + 1 : 1;
                end++;
                if (equal > 1 && 2 * equal * weight / count >= hot) {
                    end -= equal;
                    break;
                }
            }
            u32 of_key = (end - from) * weight / count;
            if (2 * of_key >= heavy && end - from > 4) {
                bool begins = from == 0 || !IS_SAME_KEY(pool[from - 1], element);
                bool ends = end == count || !IS_SAME_KEY(pool[end], element);
                divide_key(work, control, total, &node, pool + from, end - from, of_key, filling, begins, ends);
                to = end;
                filled = 0;
                continue;
            }
#endif
            is_hot |= own;
            if (own || filled + share > heavy / 2) {
                end_section(work, control, total, &node, FIRST_OF_KEY(element), 0, 0);
                filled = 0;
            }
            filled += share;
            if (own) {
                if (written) {
                    control[COUNTS + CELLS + node.first_part + node.parts] = EQUAL;
                }
                if (is_less(LAST_OF_KEY(element), infinite())) {
                    end_section(work, control, total, &node, successor(LAST_OF_KEY(element)), 0, 0);
                }
                filled = 0;
            }
        }
    }
    /* The last section has no bound above it. */
    u32 bounds = node.sections;
    end_section(work, control, total, &node, infinite(), 0, 0);
    u32 number = ATOMIC_ADD(&control[NODE_COUNT], 1);
    if (number < MOST_NODES) {
        control[NODES + number] = NODE(node.first_section, bounds);
        control[NODE_OF + cell] = number + 1;
    }
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
    LOCAL u32 *levels = slots_taken + 1;
    LOCAL u32 *weights = levels + STRETCHES; /* the sample by levelled cell */
    if (ITEM < 6) {
        in_heavy[ITEM] = 0;
    }
    for (u32 slot = ITEM; slot < SLOTS; slot += ITEMS) {
        filled[slot] = 0;
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
        u32 slot = SLOTS;
        if (WEIGHT_OF(number * (u32)GROUPS + (u32)GROUP) >= hot) {
            slot = ATOMIC_ADD(slots_taken, 1);
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
    /* Sorts the pools, ITEMS / POOL at a time: the place of an element is how many are before it. */
    for (u32 from = 0; from < SLOTS; from += ITEMS / POOL) {
        u32 slot = from + ITEM / POOL, mine = ITEM % POOL, place = 0;
        u32 count = slot < slots ? IN_POOL(filled[slot]) : 0;
        LOCAL Element *pool = pools + (slot < slots ? slot : 0) * POOL;
        Element element = zero();
        if (mine < count) {
            element = pool[mine];
            for (u32 other = 0; other < count; other++) {
                place += is_less(pool[other], element) || (other < mine && is_equal(pool[other], element));
            }
        }
        BARRIER();
        if (mine < count) {
            pool[place] = element;
        }
        BARRIER();
    }
    for (u32 number = ITEM; number < SLICE; number += ITEMS) {
        u32 slot = slot_of[number], cell = number * (u32)GROUPS + (u32)GROUP;
        if (slot > 0) {
            u32 weight = WEIGHT_OF(cell);
            LOCAL Element *pool = pools + (slot - 1) * POOL;
            make_node(WORK, control, total, pool, cell, weight, IN_POOL(weight), heavy, hot, filling);
        }
    }
}
