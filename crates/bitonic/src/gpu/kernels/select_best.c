/* One group for every row or segment: see best.c. It keeps the elements that may still be among the best in local memory, where there is
   room for a tile of them. When the next round might not find room, they are sorted, the first `best` stay, and the last of these is the bound
   from then on.

       kept     [ best, sorted | found since, in any order |  room  ]

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

KERNEL(ITEMS)
select_best(ARRAYS, GLOBAL Key *best_keys, GLOBAL Value *best_values, LIST_ARRAYS TABLE LISTS ROWS, u32 best,
            u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    OWN_LOCAL_ARRAY(u32, found, 1);
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
    for (bool more = true; more;) {
        u32 count = 0;
        for (bool room = true; room;) {
            Element x[READ];
            u32 passing = 0;
            UNROLL for (u32 a = 0; a < READ; a++)
            {
                Index column = place + a * ITEMS + ITEM;
                x[a] = infinite();
                if (column < end) {
#if FILTERED
                    if (is_listed) {
                        x[a] = load(WORK_NAMES, listed + list * capacity + column);
                    } else
#endif
                    {
                        Element element = load_first(ARRAY_NAMES, row + column, column);
                        x[a] = to_ordered(element, ON_LOAD(mapping));
                    }
                }
                passing += is_less(x[a], bound);
            }
            if (passing > 0) {
                u32 at = ATOMIC_ADD(&found[0], passing);
                UNROLL for (u32 a = 0; a < READ; a++)
                {
                    if (is_less(x[a], bound)) {
                        tile[PADDED(at)] = x[a];
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
        Element x[HELD];
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 at = place_of(a, 0, false);
            x[a] = infinite();
            if (at < count) {
                x[a] = tile[PADDED(at)];
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
    }
    for (u32 at = ITEM; at < best && at < row_length; at += ITEMS) {
        store(best_keys, best_values, GROUP * best + at, from_ordered(tile[PADDED(at)], ON_STORE(mapping)));
    }
}
