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

/* An element of the row, or of its list. */
#if FILTERED
#define READ_ELEMENT(column)                                                                                           \
    (is_listed ? load(WORK_NAMES, first_of_list + (column)) : FIRST_ELEMENT(column))
#else
#define READ_ELEMENT(column) FIRST_ELEMENT(column)
#endif
#define FIRST_ELEMENT(column) to_ordered(load_first(ARRAY_NAMES, row + (column), column), ON_LOAD(mapping))

#if SEARCHED
/* The places of a row or list that this work-item holds; whether there is a key; its column in the row. */
#define HELD_PLACE(a) ((a)*ITEMS + ITEM)
#define IS_HELD(a) ((int)((a)*ITEMS) < (int)((u32)end - ITEM))
#if FILTERED
#define COLUMN_OF(a) (columns[a])
#else
#define COLUMN_OF(a) HELD_PLACE(a)
#endif

/* Puts elements into the tile behind those that are there: where `passes` holds for a, which is so for `held` of this work-item. Not a branch for
   every one: the place goes on by one or none. */
#define KEEP(held, passes, element)                                                                                    \
    {                                                                                                                  \
        LOCAL Element *to = tile + ((held) > 0 ? ATOMIC_ADD(&found[0], held) : 0);                                     \
        UNROLL for (u32 a = 0; a < SEARCHED; a++)                                                                      \
        {                                                                                                              \
            bool is_kept = passes;                                                                                     \
            if (is_kept) {                                                                                             \
                *to = element;                                                                                         \
            }                                                                                                          \
            to += is_kept;                                                                                             \
        }                                                                                                              \
    }
#if KEY_BITS < 128
#define ELEMENT_OF(a, level) element_of((Key)(level), COLUMN_OF(a))
#else
#define ELEMENT_OF(a, level) READ_ELEMENT(HELD_PLACE(a))
#endif
#endif

KERNEL(ITEMS)
select_best(ARRAYS, GLOBAL Key *best_keys, GLOBAL Value *best_values, LIST_ARRAYS TABLE LISTS ROWS, u32 best,
            u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    OWN_LOCAL_ARRAY(u32, found, 1);
#if SEARCHED
    OWN_LOCAL_ARRAY(u32, sums, SEARCH_WORDS);
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
    Index first_of_list = listed + list * capacity;
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
    if (end <= SEARCHED * ITEMS) {
        /* All loads first, so that they are under way at the same time. A place that has no key has the highest level. */
        Key read[SEARCHED];
        Level levels[SEARCHED];
        u32 held = 0;
#if FILTERED
        u32 columns[SEARCHED];
#endif
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            if (IS_HELD(a)) {
#if FILTERED
                read[a] = is_listed ? work_keys[first_of_list + HELD_PLACE(a)] : keys[row + HELD_PLACE(a)];
                columns[a] = is_listed ? (u32)work_values[first_of_list + HELD_PLACE(a)] : HELD_PLACE(a);
#else
                read[a] = keys[row + HELD_PLACE(a)];
#endif
            }
        }
        Change change = change_of(is_listed ? 0 : ON_LOAD(mapping));
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            levels[a] = IS_HELD(a) ? (Level)changed(HEAD(read[a]), change) : (Level)~(Level)0;
            held += IS_HELD(a);
        }
        /* At least `best` elements pass, and no more than a tile has room for. */
        Found reached = find_level(levels, (u32)end, held, best, TILE, sums);
        count = reached.passing;
        if (count <= TILE) {
            KEEP(reached.held, levels[a] <= reached.level && IS_HELD(a), ELEMENT_OF(a, levels[a]));
        }
#if KEY_BITS < 128
        if (count > TILE) {
            /* Equal keys pass by their columns, which are all different. */
            Level level = reached.level;
            u32 below = reached.below, held_below = 0, held_equal = 0;
            UNROLL for (u32 a = 0; a < SEARCHED; a++)
            {
                held_below += levels[a] < level;
            }
            KEEP(held_below, levels[a] < level, ELEMENT_OF(a, levels[a]));
            UNROLL for (u32 a = 0; a < SEARCHED; a++)
            {
                bool is_equal = levels[a] == level && IS_HELD(a);
                levels[a] = is_equal ? COLUMN_OF(a) : (Level)~(Level)0;
                held_equal += is_equal;
            }
            reached = find_level(levels, count - below, held_equal, best - below, TILE - below, sums);
            KEEP(reached.held, levels[a] <= reached.level, element_of((Key)level, (u32)levels[a]));
            count = below + reached.passing;
        }
#endif
        /* More pass where levels are parts of keys, and too many of these are equal. */
        if (count <= TILE) {
            BARRIER();
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
                read[a] = column < end ? READ_ELEMENT(column) : infinite();
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
        sort_tile(tile, x, TILE_LOG2, ALL_WORK);
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
