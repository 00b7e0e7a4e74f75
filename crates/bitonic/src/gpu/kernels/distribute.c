/* Every element to its bucket. A group takes TILE elements, puts them in the order of their targets in local memory, and writes those
   of each target together, to places that it has reserved for them.

   Where there are few buckets, the first round moves elements to their buckets, from the array to the working memory. Where there are
   more than a group can tell apart, it moves them to runs of buckets, and the second round moves those of each run to their buckets,
   back in the array.

   There are two kernels of this text. ONLY_EVEN is 1 in the one for even elements, whose targets follow from their cells; the other
   one looks them up in tables. The one whose elements they are not ends at once. Even elements have targets that are computed when they
   are needed, so that there are registers and local memory for more elements, and longer pieces are written. Looking a target up takes
   longer than that, so the other kernel does it once. */

#if ONLY_EVEN
#define MOST_TARGETS EVEN_TARGETS
#define FROM_TABLES 0
#else
#define MOST_TARGETS TARGETS
#define FROM_TABLES 1
#endif
#define NOWHERE MOST_TARGETS /* the target of what is not moved */

/* Local memory: the elements by target; counts, then where the elements of a target start, and where they go; the first tiles of runs.
   For tables: bounds; nodes; sections; levels; the target of every element; the bucket of every cell and of every part. The plan gives LOCAL_ELEMENTS. */
#define WORDS (2 * MOST_TARGETS + 2 + MOST_TARGETS / 8 + 1)
#define TABLE_WORDS (MOST_NODES + SECTION_WORDS * MOST_SECTIONS + STRETCHES)
#define TABLE_BYTES (FROM_TABLES * (MOST_SECTIONS * sizeof(Element) + TABLE_WORDS * 4 + (TILE + CELLS + PARTS) * 2))
typedef char local_memory_is_enough[LOCAL_ELEMENTS * sizeof(Element) >= TILE * sizeof(Element) + WORDS * 4 + TABLE_BYTES ? 1 : -1];

#define EACH (MOST_TARGETS > ITEMS ? MOST_TARGETS / ITEMS : 1)

/* Replaces the counts of targets by their sums before each, and reserves places for them. */
FUNCTION u32 reserve(GLOBAL u32 *cursors, u32 targets, LOCAL u32 *counts, LOCAL u32 *goals, LOCAL u32 *room)
{
    u32 first = ITEM * EACH, sum = 0;
    u32 count[EACH], place[EACH];
    UNROLL for (u32 b = 0; b < EACH; b++)
    {
        count[b] = first + b < targets ? counts[first + b] : 0;
        sum += count[b];
    }
    /* All under way at the same time. */
    UNROLL for (u32 b = 0; b < EACH; b++)
    {
        place[b] = 0;
        if (count[b] > 0) {
            place[b] = ATOMIC_ADD(&cursors[first + b], count[b]);
        }
    }
    u32 start = sum_before(room, sum), all = ALL_TOGETHER(room);
    UNROLL for (u32 b = 0; b < EACH; b++)
    {
        if (first + b < targets) {
            goals[first + b] = place[b] - start;
            counts[first + b] = start;
            start += count[b];
        }
    }
    BARRIER();
    return all;
}

#if FROM_TABLES
FUNCTION u32 target_of(Cells cells, LOCAL const u32 *levels, LOCAL const u16 *bucket_of, LOCAL const u32 *nodes,
                       LOCAL const u32 *sections, LOCAL const Element *bounds, Element element, u32 shift, u32 mask)
{
    u32 bucket = bucket_of[cell_of(cells, levels, element)];
    if (bucket >= FIRST_NODE) {
        bucket = bucket_of[CELLS + part_of(bounds, sections, nodes[bucket - FIRST_NODE], element)];
    }
    return bucket != STAYS ? bucket >> shift & mask : NOWHERE;
}
#endif

/* A tile's elements: `length` from `start` on. */
#define LOAD_TILE                                                                                                      \
    if (round > 0) {                                                                                                   \
        LOAD_EACH(WORK[start + place])                                                                                 \
    } else {                                                                                                           \
        LOAD_EACH(load_first(ARRAY_NAMES, start + place, start + place))                                               \
    }
#define LOAD_EACH(element)                                                                                             \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        u32 place = a * ITEMS + ITEM;                                                                                  \
        x[a] = zero();                                                                                                 \
        if (place < length) {                                                                                          \
            x[a] = element;                                                                                            \
        }                                                                                                              \
    }

/* Where tile number `tile` lies. In the first round, the array is the only run; then the tiles of all runs, one after the other. */
#define FIND_TILE                                                                                                      \
    run = 0;                                                                                                           \
    start = tile * TILE;                                                                                               \
    u32 end = (u32)total;                                                                                              \
    if (round > 0) {                                                                                                   \
        /* The last run whose first tile is not after this one. */                                                     \
        for (u32 step = MOST_TARGETS / 16; step > 0; step /= 2) {                                                      \
            if (run + step < ranges && first_tiles[run + step] <= tile) {                                              \
                run += step;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        start = control[RUN_STARTS + run] + (tile - first_tiles[run]) * TILE;                                          \
        end = control[RUN_CURSORS + run];                                                                              \
    }                                                                                                                  \
    length = end - start < TILE ? end - start : TILE;

KERNEL(ITEMS)
distribute(BUCKET_PARAMETERS, u32 round)
{
    LOCAL_ARRAY(Element, staged, LOCAL_ELEMENTS);
    LOCAL u32 *counts = (LOCAL u32 *)(staged + TILE + FROM_TABLES * MOST_SECTIONS); /* and one of NOWHERE */
    LOCAL u32 *goals = counts + MOST_TARGETS + 1;
    LOCAL u32 *first_tiles = goals + MOST_TARGETS + 1;
#if FROM_TABLES
    LOCAL Element *bounds = staged + TILE;
    LOCAL u32 *nodes = first_tiles + MOST_TARGETS / 8 + 1;
    LOCAL u32 *sections = nodes + MOST_NODES;
    LOCAL u32 *levels = sections + SECTION_WORDS * MOST_SECTIONS;
    LOCAL u16 *target_at = (LOCAL u16 *)(levels + STRETCHES);
    LOCAL u16 *bucket_of = target_at + TILE;
#endif
    AFTER_PREVIOUS();
    u32 shift = control[RUN_SHIFT];
    if ((round > 0 && shift == 0) || (control[EVEN] != 0) != ONLY_EVEN || control[MOVING] == 0) {
        return;
    }
    Cells cells = CHOSEN_CELLS();
    u32 runs = control[RUN_COUNT];
#if FROM_TABLES
    COUNT_NODES()
    for (u32 bin = ITEM; bin < CELLS + part_count; bin += ITEMS) {
        bucket_of[bin] = (u16)control[BUCKET_OF + bin];
    }
    COPY_BOUNDS(bounds)
    COPY_TABLE(nodes, NODES, node_count)
    COPY_TABLE(sections, SECTIONS, SECTION_WORDS * section_count)
    COPY_LEVELS(levels, cells)
#endif
    u32 ranges = round > 0 ? runs : 1, range_length = 0;
    if (ITEM < ranges) {
        range_length = round > 0 ? control[RUN_CURSORS + ITEM] - control[RUN_STARTS + ITEM] : (u32)total;
    }
    u32 before = sum_before((LOCAL u32 *)staged, (range_length + TILE - 1) / TILE);
    u32 tiles = ALL_TOGETHER((LOCAL u32 *)staged);
    if (ITEM < ranges) {
        first_tiles[ITEM] = before;
    }
    BARRIER();
    u32 targets = round > 0 ? 1u << shift : runs, mask = round > 0 ? (1u << shift) - 1 : ~0u;
    shift = round > 0 ? 0 : shift;
#if ONLY_EVEN
    shift += fine;
#define TARGET_OF(element) (linear_cell_of(cells, element) >> shift & mask)
#endif
    Element x[HELD];
    u32 run = 0, start = 0, length = 0, tile = (u32)GROUP;
    if (tile < tiles) {
        FIND_TILE
        LOAD_TILE
    }
    for (; tile < tiles; tile += (u32)GROUPS) {
        GLOBAL u32 *cursors = round > 0 ? control + CURSORS + run * targets : control + RUN_CURSORS;
        for (u32 number = ITEM; number <= MOST_TARGETS; number += ITEMS) {
            counts[number] = 0;
        }
        BARRIER();
        order_keys(x, mapping);
#if ONLY_EVEN
        /* Twice: the first time, how many a target has. Most tiles are full. */
        bool is_full = length == TILE;
        if (is_full) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                ATOMIC_ADD(&counts[TARGET_OF(x[a])], 1);
            }
        } else {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                ATOMIC_ADD(&counts[a * ITEMS + ITEM < length ? TARGET_OF(x[a]) : NOWHERE], 1);
            }
        }
        BARRIER();
        u32 moved = reserve(cursors, targets, counts, goals, (LOCAL u32 *)staged);
        u32 hot;
        if (FIND_HOT(TARGET_OF(x[0]), TARGET_OF(x[HELD / 2]), &hot)) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                bool moves = a * ITEMS + ITEM < length;
                u32 place = COUNT_HOT(counts, moves ? TARGET_OF(x[a]) : NOWHERE, hot);
                if (moves) {
                    staged[place] = x[a];
                }
            }
        } else if (is_full) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                staged[ATOMIC_ADD(&counts[TARGET_OF(x[a])], 1)] = x[a];
            }
        } else {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                if (a * ITEMS + ITEM < length) {
                    staged[ATOMIC_ADD(&counts[TARGET_OF(x[a])], 1)] = x[a];
                }
            }
        }
#else
        u32 target[HELD], hot;
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 found = target_of(cells, levels, bucket_of, nodes, sections, bounds, x[a], shift, mask);
            target[a] = a * ITEMS + ITEM < length ? found : NOWHERE;
        }
        /* The number within the target fits 16 bits as the tile does. */
        if (FIND_HOT(target[0], target[HELD / 2], &hot)) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                target[a] = target[a] << 16 | COUNT_HOT(counts, target[a], hot);
            }
        } else {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                /* Equal elements that stay are often most of all: one counter for them would be what all wait for. */
                target[a] = target[a] << 16 | (target[a] == NOWHERE ? 0 : ATOMIC_ADD(&counts[target[a]], 1));
            }
        }
        BARRIER();
        u32 moved = reserve(cursors, targets, counts, goals, (LOCAL u32 *)staged);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 goal = target[a] >> 16;
            if (goal != NOWHERE) {
                u32 place = counts[goal] + (target[a] & 0xffffu);
                staged[place] = x[a];
                target_at[place] = (u16)goal;
            }
        }
#define TARGET_OF(element) target_at[place]
#endif
        BARRIER();
        /* The elements of the next tile are on their way while these are written. */
        if (tile + (u32)GROUPS < tiles) {
            u32 this_tile = tile;
            tile += (u32)GROUPS;
            FIND_TILE
            LOAD_TILE
            tile = this_tile;
        }
        UNROLL_SOME for (u32 place = ITEM; place < moved; place += ITEMS)
        {
            Element element = staged[place];
            u32 goal = goals[TARGET_OF(element)] + place;
            if (round > 0) {
                store(ARRAY_NAMES, goal, element);
            } else {
                WORK[goal] = element;
            }
        }
        BARRIER();
    }
}
