/* One group for every row or segment: see best.c. It keeps the elements that may still be among the best in local memory, where there is
   room for a tile of them. When the next round might not find room, they are sorted, the first `best` stay, and the last of these is the bound
   from then on.

       kept     [ best, sorted | found since, in any order |  room  ]

   With SEARCHED set, a row is so short that the group's registers hold its keys, SEARCHED for each work-item. So a bound is searched for
   by halving its range until no more elements pass than there is room for, and all of them are sorted at once.

   With FILTERED set, lists of elements are `capacity` places apart and begin at `listed`. The best of every row have `best` places; of a
   segment that has fewer elements, all come, and the other places stay as they are. */

/* What a work-item reads in a round, and what a group does. There is room for two rounds at least: best <= TILE - ROUND, as the plan sees to. */
#define READ (HELD / 2)
#define ROUND ((Index)READ * ITEMS)

#if FILTERED
#define LIST_ARRAYS WORK_ARRAYS, GLOBAL u32 *counters,
#define LISTS Index listed, Index capacity, u32 listed_lengths,
#else
#define LIST_ARRAYS
#define LISTS
#endif

#if SEARCHED
/* What a key is compared by in a search, and its highest 32 bits, or all. */
#if KEY_BITS >= 64
typedef u64 Level;
#define TOP_OF(level) ((u32)((level) >> 32))
#define FIRST_OF(top) ((u64)(top) << 32)
#define LAST_OF(top) ((u64)(top) << 32 | 0xffffffffu)
#else
typedef u32 Level;
#define TOP_OF(level) (level)
#define FIRST_OF(top) (top)
#define LAST_OF(top) (top)
#endif

/* What a search needs in local memory: the ends of its range, and a sum for every round. Every second round halves the range, of levels first
   and of columns then, and there are two guesses. */
#define ENDS 3
#define ROUNDS (2 * 8 * sizeof(Level) + 32 + 2)

/* Elements pass whose level is below `level`, or is the same, in columns up to `column`: so many of this row, and so many of these are
   held by this work-item. */
typedef struct {
    Level level;
    u32 column, passing, held;
} Bound;

/* The columns that this work-item holds; whether one of them is no higher than `column`. */
#define HELD_COLUMN(a) ((a)*ITEMS + ITEM)
#define IS_UP_TO(a, column) ((int)((a)*ITEMS) <= (int)((u32)(column)-ITEM))
#define PASSES(a, bound) (levels[a] < (bound).level || (levels[a] == (bound).level && IS_UP_TO(a, (bound).column)))

/* Adds the numbers of all work-items, in a place of local memory that is used for nothing else. */
FUNCTION u32 sum_of_group(LOCAL u32 *sum, u32 number)
{
    ADD_ALL(sum, number);
    BARRIER();
    return *sum;
}

/* Looks for a bound that at least `best` elements pass, and no more than a tile has room for. More pass where the search finds none, because
   levels are parts of keys. A place that has no key has the highest level, and a column that is too high. */
FUNCTION Bound find_bound(const Level *levels, u32 row_length, u32 best, LOCAL u32 *sums)
{
    for (u32 place = ITEM; place < ENDS + ROUNDS; place += ITEMS) {
        sums[place] = 0;
    }
    /* Not many elements pass the highest of the lowest that work-items have: this is the first guess. All pass the highest one but those of
       the highest level: this is the second, where too few pass the first. */
    u32 least = TOP_OF(levels[0]), most = 0;
    UNROLL for (u32 a = 0; a < SEARCHED; a++)
    {
        u32 top = TOP_OF(levels[a]);
        least = top < least ? top : least;
        most = top + 1 > most ? top + 1 : most;
    }
    BARRIER();
    MAX_ALL(&sums[0], ~least);
    MAX_ALL(&sums[1], most);
    MAX_ALL(&sums[2], least);
    BARRIER();
    Level low = FIRST_OF(~sums[0]), high = (Level)~(Level)0;
    Level middle = LAST_OF(sums[2]), next = LAST_OF(sums[1] - 1);
    sums += ENDS;
    Bound bound = {high, row_length - 1, row_length, 0};
    UNROLL for (u32 a = 0; a < SEARCHED; a++)
    {
        bound.held += IS_UP_TO(a, bound.column);
    }
    u32 below = 0;
    for (bool halve = false; bound.passing > TILE && low < high; halve = !halve) {
        if (middle < low || middle >= high) {
            /* Where it would be if levels were even between both ends. */
            float share = halve ? 0.5f : (0.5f * (best + TILE) - below) / (bound.passing - below);
            middle = low + (Level)((float)(high - low) * share);
            middle = middle < high ? middle : high - 1;
        }
        u32 held = 0;
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            held += levels[a] <= middle;
        }
        u32 passing = sum_of_group(sums++, held);
        if (passing >= best) {
            bound.passing = passing;
            bound.held = held;
            high = middle;
        } else {
            below = passing;
            low = middle + 1;
        }
        middle = next;
        next = high;
    }
    bound.level = high;
#if KEY_BITS < 128
    /* Equal keys pass by their columns, which are all different. */
    for (u32 first = 0; bound.passing > TILE;) {
        u32 column = first + (bound.column - first) / 2, held = 0;
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            held += levels[a] < high || (levels[a] == high && IS_UP_TO(a, column));
        }
        u32 passing = sum_of_group(sums++, held);
        if (passing >= best) {
            bound.passing = passing;
            bound.held = held;
            bound.column = column;
        } else {
            first = column + 1;
        }
    }
#endif
    return bound;
}
#endif

KERNEL(ITEMS)
select_best(ARRAYS, GLOBAL Key *best_keys, GLOBAL Value *best_values, LIST_ARRAYS TABLE LISTS ROWS, u32 best,
            u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    OWN_LOCAL_ARRAY(u32, found, 1);
#if SEARCHED
    OWN_LOCAL_ARRAY(u32, sums, ENDS + ROUNDS);
#endif
    AFTER_PREVIOUS();
#if SEGMENTED
    Index row_length = length_of(offsets, total, longest, (u32)GROUP);
    Index row = row_length > 0 ? (Index)offsets[GROUP] : 0;
#else
    Index row_length = stride, row = from + GROUP * stride;
#endif
    Index end = row_length;
    bool is_listed = false;
#if FILTERED
#if SEGMENTED
    bool has_list = row_length >= cell_length;
    Index list = row / cell_length, room_of_list = row_length / cell_length * capacity;
#else
    bool has_list = true;
    Index list = GROUP, room_of_list = capacity;
#endif
    if (has_list) {
        u32 length = counters[listed_lengths + list];
        is_listed = length >= best && length <= room_of_list;
        end = is_listed ? length : end;
    }
#endif
    Element bound = infinite();
    if (ITEM == 0) {
        found[0] = 0;
    }
    BARRIER();
    Index place = 0;
    u32 count = 0;
    bool more = true, room = true;
    Element x[HELD];
#if SEARCHED
    if (row_length <= SEARCHED * ITEMS) {
        /* All loads first, so that they are under way at the same time. */
        GLOBAL const Key *first = keys + row + ITEM;
        Key read[SEARCHED];
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            if (IS_UP_TO(a, row_length - 1)) {
                read[a] = first[a * ITEMS];
            }
        }
        Change change = change_of(ON_LOAD(mapping));
        Level levels[SEARCHED];
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            levels[a] = IS_UP_TO(a, row_length - 1) ? (Level)changed(HEAD(read[a]), change) : (Level)~(Level)0;
        }
        Bound searched = find_bound(levels, (u32)row_length, best, sums);
        if (searched.passing <= TILE) {
            /* Not a branch for every key: the place goes on by one or none. */
            LOCAL Element *to = tile + (searched.held > 0 ? ATOMIC_ADD(&found[0], searched.held) : 0);
            UNROLL for (u32 a = 0; a < SEARCHED; a++)
            {
                bool passes = PASSES(a, searched);
#if ELEMENT_WORDS == 1
                Element element = (Element)levels[a] << VALUE_BITS | HELD_COLUMN(a);
#else
                Element element = infinite();
                if (passes) {
                    element = load_first(ARRAY_NAMES, row + HELD_COLUMN(a), HELD_COLUMN(a));
                    element = to_ordered(element, ON_LOAD(mapping));
                }
#endif
                if (passes) {
                    *to = element;
                }
                to += passes;
            }
            BARRIER();
            count = searched.passing;
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                u32 at = place_of(a, 0, false);
                x[a] = at < count ? tile[at] : infinite();
            }
            BARRIER();
            more = room = false;
        }
    }
#endif
    do {
        bool is_read = room;
        while (room) {
            Element read[READ];
            u32 passing = 0;
            UNROLL for (u32 a = 0; a < READ; a++)
            {
                Index column = place + a * ITEMS + ITEM;
                read[a] = infinite();
                if (column < end) {
#if FILTERED
                    if (is_listed) {
                        read[a] = load(WORK_NAMES, listed + list * capacity + column);
                    } else
#endif
                    {
                        Element element = load_first(ARRAY_NAMES, row + column, column);
                        read[a] = to_ordered(element, ON_LOAD(mapping));
                    }
                }
                passing += is_less(read[a], bound);
            }
            if (passing > 0) {
                u32 at = ATOMIC_ADD(&found[0], passing);
                UNROLL for (u32 a = 0; a < READ; a++)
                {
                    if (is_less(read[a], bound)) {
                        tile[PADDED(at)] = read[a];
                        at++;
                    }
                }
            }
            place += ROUND;
            BARRIER();
            count = found[0];
            BARRIER();
            more = place < end;
            room = more && count + ROUND <= TILE;
        }
        if (is_read) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                u32 at = place_of(a, 0, false);
                x[a] = infinite();
                if (at < count) {
                    x[a] = tile[PADDED(at)];
                }
            }
        }
        sort_tile(tile, x, TILE_LOG2);
        put(tile, x, 0, false);
        count = count < best ? count : best;
        if (ITEM == 0) {
            found[0] = count;
        }
        BARRIER();
        if (count == best) {
            bound = tile[PADDED(best - 1)];
        }
        room = more;
    } while (more);
    for (u32 at = ITEM; at < best && at < row_length; at += ITEMS) {
        store(best_keys, best_values, GROUP * best + at, from_ordered(tile[PADDED(at)], ON_STORE(mapping)));
    }
}
