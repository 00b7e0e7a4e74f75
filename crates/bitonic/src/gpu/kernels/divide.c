/* Chooses the cells, linear or logarithmic, and divides those that would not fit a tile. A group looks at SLICE cells, not
   neighbours: heavy cells often are.

   A cell is heavy if the sample has `heavy` elements of it or more, and may be hot from `hot` on: then one element is there often. Its
   node gets bounds from up to POOL of them: before and after an element that is there so often that it gets a bucket of its own, and
   between the others. More such cells than a group has slots for stay whole, which makes the sort slower and not wrong. */

#define POOL 64
/* Elements of the sample that a work-item has under way at the same time. */
#define BATCH 8

/* The plan gives LOCAL_ELEMENTS, which hold the elements of all slots, and words for each cell and each slot. */
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= SLOTS * POOL * sizeof(Element) + (SLICE + SLOTS + 4) * 4 ? 1 : -1];

/* Divides a cell of which the sample has `weight` elements; `count` of them are sorted at `pool`. */
FUNCTION void make_node(GLOBAL Element *work, GLOBAL u32 *control, Index total, LOCAL const Element *pool, u32 cell, u32 weight,
                        u32 count, u32 heavy, u32 hot)
{
    /* A bound before each element that begins a bucket. Twice, to know first how many there are. */
    u32 first = 0, bounds = 0;
    bool is_hot = false;
    for (int written = 0; written < 2; written++) {
        if (written) {
            if (!is_hot && weight < heavy) {
                return;
            }
            first = ATOMIC_ADD(&control[PART_COUNT], bounds + 1);
            if (first + bounds + 1 > PARTS) {
                return;
            }
        }
        u32 filled = 0;
        bounds = 0;
        for (u32 from = 0, to = 0; from < count && bounds + 2 < POOL; from = to) {
            Element element = pool[from];
            for (to = from + 1; to < count && is_equal(pool[to], element); to++) {
            }
            /* Elements of the sample that it stands for, in all of the cell's. */
            u32 share = (to - from) * weight / count;
            bool own = 2 * share >= hot && to - from > 1;
            is_hot |= own;
            if (own || filled + share > heavy / 2) {
                if (written) {
                    work[BOUND_AT(first + bounds)] = element;
                }
                bounds++;
                filled = 0;
            }
            filled += share;
            if (own) {
                if (written) {
                    control[COUNTS + CELLS + first + bounds] = EQUAL;
                }
                if (is_less(element, infinite())) {
                    if (written) {
                        work[BOUND_AT(first + bounds)] = successor(element);
                    }
                    bounds++;
                }
                filled = 0;
            }
        }
    }
    /* The last part has no bound above it. */
    work[BOUND_AT(first + bounds)] = infinite();
    u32 node = ATOMIC_ADD(&control[NODE_COUNT], 1);
    if (node < MOST_NODES) {
        control[NODES + node] = NODE(first, bounds);
        control[NODE_OF + cell] = node + 1;
    }
}

KERNEL(ITEMS)
divide(BUCKET_PARAMETERS, u32 heavy, u32 hot)
{
    LOCAL_ARRAY(Element, pools, LOCAL_ELEMENTS);
    LOCAL u32 *slot_of = (LOCAL u32 *)(pools + SLOTS * POOL); /* of a cell, plus one */
    LOCAL u32 *filled = slot_of + SLICE;
    LOCAL u32 *sums = filled + SLOTS; /* heavy linear cells, heavy logarithmic ones, slots */
    if (ITEM < 4) {
        sums[ITEM] = 0;
    }
    for (u32 slot = ITEM; slot < SLOTS; slot += ITEMS) {
        filled[slot] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    u32 linear = 0, logarithmic = 0;
    UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
    {
        u32 weight = control[WEIGHTS + cell], other = control[WEIGHTS + CELLS + cell];
        linear += weight >= heavy ? weight : 0;
        logarithmic += other >= heavy ? other : 0;
    }
    ADD_ALL(&sums[0], linear);
    ADD_ALL(&sums[1], logarithmic);
    BARRIER();
    bool is_logarithmic = sums[1] + SAMPLES / 32 < sums[0];
    GLOBAL u32 *weights = control + WEIGHTS + (is_logarithmic ? CELLS : 0);
    for (u32 number = ITEM; number < SLICE; number += ITEMS) {
        u32 slot = SLOTS;
        if (weights[number * (u32)GROUPS + (u32)GROUP] >= hot) {
            slot = ATOMIC_ADD(&sums[2], 1);
        }
        slot_of[number] = slot < SLOTS ? slot + 1 : 0;
    }
    if (GROUP == 0 && ITEM == 0) {
        control[LOGARITHMIC] = is_logarithmic;
    }
    BARRIER();
    u32 slots = sums[2] < SLOTS ? sums[2] : SLOTS;
    LET_NEXT_START();
    u32 looked_at = slots > 0 ? SAMPLES : 0;
    Cells cells = sampled_cells(WORK[EXTREME_AT(0)], WORK[EXTREME_AT(1)], cell_count, is_logarithmic);
    for (u32 first = 0; first < looked_at; first += BATCH * ITEMS) {
        Element batch[BATCH];
        UNROLL for (u32 a = 0; a < BATCH; a++)
        {
            u32 number = first + a * ITEMS + ITEM;
            batch[a] = WORK[SAMPLE_AT(number < SAMPLES ? number : 0)];
        }
        UNROLL for (u32 a = 0; a < BATCH; a++)
        {
            bool is_sample = first + a * ITEMS + ITEM < looked_at;
            u32 cell = cell_of(cells, batch[a]);
            u32 slot = is_sample && cell % (u32)GROUPS == (u32)GROUP ? slot_of[cell / (u32)GROUPS] : 0;
            if (slot > 0) {
                u32 place = ATOMIC_ADD(&filled[slot - 1], 1);
                if (place < POOL) {
                    pools[(slot - 1) * POOL + place] = batch[a];
                }
            }
        }
    }
    BARRIER();
    /* Sorts the pools, ITEMS / POOL at a time: the place of an element is how many are before it. */
    for (u32 from = 0; from < SLOTS; from += ITEMS / POOL) {
        u32 slot = from + ITEM / POOL, mine = ITEM % POOL, place = 0;
        u32 count = slot < slots ? (filled[slot] < POOL ? filled[slot] : POOL) : 0;
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
            u32 count = filled[slot - 1] < POOL ? filled[slot - 1] : POOL;
            LOCAL Element *pool = pools + (slot - 1) * POOL;
            make_node(WORK, control, total, pool, cell, weights[cell], count, heavy, hot);
        }
    }
}
