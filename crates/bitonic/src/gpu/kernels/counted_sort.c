/* Sorts every bucket in a tile, and puts it to its place: a group for each, as long as there are groups. Buckets are in the working
   memory after one round, and in the array after two.

   The elements are counted by COUNTERS cells between the smallest and the largest, and put in the order of the cells in local memory.
   Now every element is close to its place. Each work-item sorts a window of HELD elements in its registers, and then windows are
   merged that begin half a window later, and in turn those before, until all are in order.

   The elements of a cell move by half a window in a merge, so a cell with many of them would take long. Mostly it has many because
   one element is there often. Such a cell is hot. It is parted by one of its elements, the pivot: smaller ones go to its front,
   larger ones to its back, and its equals fill the middle. If a part is long all the same, it goes to the working memory as it is, and
   is left over to the next kernel.

   Elements with values are parted by the pivot's key. Those with the same key, in the middle, are counted once more: by their values
   where these are indices, or else, as they are in any order, by the work-item that holds them.

   There are three kernels of this text. SORTS tells them apart:
   EVEN_BUCKETS      has no pivots, which take registers. It sorts even buckets, and leaves over those with a hot cell.
   UNEVEN_BUCKETS    sorts all others, and writes down equal elements. With values, these are there already.
   LEFT_OVER         sorts what those left over, in a larger tile. What it leaves over is for `settle`. */

#define EVEN_BUCKETS 0
#define UNEVEN_BUCKETS 1
#define LEFT_OVER 2

#define COUNTERS (COUNTERS_EACH * ITEMS)
/* The plan gives MANY_IN_CELL and MANY_IN_PART: so many elements of a cell, or of a part, are left to windows. */
/* Cells with more than MANY_IN_CELL elements, at most. */
#define HOT_CELLS (TILE / MANY_IN_CELL + 1)
#define IS_HOT (1u << 31)
#define HAS_PIVOT (1u << 31) /* in the end of a hot cell */
#define IS_UNEVEN (1u << 30) /* the same: its values are */
#define HOT_END(hot) (hot_end[hot] & ~(HAS_PIVOT | IS_UNEVEN))

/* Where keys have values: counters for those of a hot cell, and of all hot cells of a tile. */
#define COUNTS_VALUES (VALUE_BITS > 0 && SORTS != EVEN_BUCKETS)
#define VALUE_COUNTERS(elements) ((elements) / 8 + 1)
#define ALL_VALUE_COUNTERS (COUNTS_VALUES ? TILE / 8 + HOT_CELLS : 0)
#define COUNTERS_EACH_SCANS ((ALL_VALUE_COUNTERS + ITEMS - 1) / ITEMS)
#if SORTS == LEFT_OVER
#define NEXT LONG
#define NEXT_COUNT LONG_COUNT
#else
#define NEXT AGAIN
#define NEXT_COUNT AGAIN_COUNT
#endif

/* Windows lie WINDOW places apart: with 16 bytes between them, work-items that take as many at once are in different banks. */
#define ELEMENT_IS_SHORT (KEY_BITS <= 32 && VALUE_BITS == 0)
#if defined WIDE && ELEMENT_WORDS == 1 && 4 << HELD_LOG2 >= (ELEMENT_IS_SHORT ? 32 : 16)
#define WIDE_WINDOWS 1
#else
#define WIDE_WINDOWS 0
#endif
#define AT_ONCE (WIDE_WINDOWS ? 16 / (u32)sizeof(Element) : 1)
#define WINDOW (HELD + AT_ONCE)
#define IN_WINDOWS(place) ((place) + (place) / HELD * AT_ONCE)

/* The plan gives LOCAL_ELEMENTS, which hold the tile with one more window, and the counters. */
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= (IN_WINDOWS(TILE + HELD) + HOT_CELLS) * sizeof(Element) + (COUNTERS + ITEMS + 3 + 7 * HOT_CELLS + ALL_VALUE_COUNTERS) * 4 ? 1 : -1];

/* Takes a window from the tile, or puts it there: its first half from one place on, its second half from another. Places are
   multiples of AT_ONCE. */
#if WIDE_WINDOWS
FUNCTION void take_window(LOCAL const Element *tile, Element *x, u32 first, u32 second)
{
    UNROLL for (u32 a = 0; a < HELD; a += AT_ONCE)
    {
        WIDE wide = *(LOCAL const WIDE *)(tile + (a < HELD / 2 ? first + a : second + a - HELD / 2));
#if ELEMENT_IS_SHORT
        x[a] = (u32)wide.x;
        x[a + 1] = (u32)(wide.x >> 32);
        x[a + 2] = (u32)wide.y;
        x[a + 3] = (u32)(wide.y >> 32);
#else
        x[a] = wide.x;
        x[a + 1] = wide.y;
#endif
    }
}

FUNCTION void put_window(LOCAL Element *tile, const Element *x, u32 first, u32 second)
{
    UNROLL for (u32 a = 0; a < HELD; a += AT_ONCE)
    {
        WIDE wide;
#if ELEMENT_IS_SHORT
        wide.x = x[a] | (u64)x[a + 1] << 32;
        wide.y = x[a + 2] | (u64)x[a + 3] << 32;
#else
        wide.x = x[a];
        wide.y = x[a + 1];
#endif
        *(LOCAL WIDE *)(tile + (a < HELD / 2 ? first + a : second + a - HELD / 2)) = wide;
    }
}
#else
FUNCTION void take_window(LOCAL const Element *tile, Element *x, u32 first, u32 second)
{
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = a < HELD / 2 ? tile[first + a] : tile[second + a - HELD / 2];
    }
}

FUNCTION void put_window(LOCAL Element *tile, const Element *x, u32 first, u32 second)
{
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        if (a < HELD / 2) {
            tile[first + a] = x[a];
        } else {
            tile[second + a - HELD / 2] = x[a];
        }
    }
}
#endif

#define LOAD_BUCKET(element)                                                                                           \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        u32 place = a * ITEMS + ITEM;                                                                                  \
        x[a] = infinite();                                                                                             \
        if (place < count) {                                                                                           \
            x[a] = element;                                                                                            \
        }                                                                                                              \
    }

#define STORE_BUCKET                                                                                                   \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        u32 place = a * ITEMS + ITEM;                                                                                  \
        if (place < count) {                                                                                           \
            store(ARRAY_NAMES, start + place, x[a]);                                                                   \
        }                                                                                                              \
    }

/* Puts elements in the order of their cells, but the equals of pivots. The counters of hot cells are read and do not change, those of
   the others change and are not read: `is_hot` has a bit for every element that this work-item holds. */
#define SCATTER_AROUND_PIVOTS                                                                                          \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        if (a * ITEMS + ITEM < count) {                                                                                \
            u32 cell = linear_cell_of(cells, x[a]), place = STAYS;                                                     \
            if (!(is_hot >> a & 1)) {                                                                                  \
                place = ATOMIC_ADD(&counts[cell], 1);                                                                  \
            } else {                                                                                                   \
                u32 hot = counts[cell] & ~IS_HOT;                                                                      \
                if (IS_AT_PIVOT(x[a], pivots[hot])) {                                                                  \
                    COUNT_AT_PIVOT(hot, x[a])                                                                          \
                } else if (is_less(x[a], pivots[hot])) {                                                               \
                    place = ATOMIC_ADD(&hot_front[hot], 1);                                                            \
                } else {                                                                                               \
                    place = ATOMIC_ADD(&hot_back[hot], ~0u) - 1;                                                       \
                }                                                                                                      \
            }                                                                                                          \
            if (place != STAYS) {                                                                                      \
                tile[IN_WINDOWS(place)] = x[a];                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }

#if COUNTS_VALUES
#define IS_AT_PIVOT(element, pivot) IS_SAME_KEY(element, pivot)
#define COUNT_AT_PIVOT(hot, element)                                                                                   \
    if (ATOMIC_ADD(&value_counts[VALUE_COUNTER(hot, element)], 1) == MANY_IN_PART && ORDERS_VALUES) {                   \
        ATOMIC_OR(&hot_end[hot], IS_UNEVEN);                                                                           \
    }

/* Where an element lies in the range of all values, in 2^32ths. */
#if ORDERS_VALUES
FUNCTION u32 share_of_values(Cells cells, u32 value_bits, Element element)
{
    Value value = VALUE_IN(element);
    value = value < cells.most_value ? value : cells.most_value;
    return value_bits > 32 ? (u32)((u64)value >> (value_bits - 32)) : (u32)((u64)value << (32 - value_bits));
}
#define SHARE_OF_VALUES(element) share_of_values(cells, value_bits, element)
#else
/* Any, so that no counter has many. */
#define SHARE_OF_VALUES(element) (ITEM * 2654435769u)
#endif
#define VALUE_COUNTER(hot, element) (hot_values[hot] + HIGH_HALF(SHARE_OF_VALUES(element), hot_counters[hot]))

/* Puts the elements with the pivots' keys in the order of their counters, between the smaller and the larger ones. */
#define SCATTER_BY_VALUES                                                                                              \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        if (is_hot >> a & 1) {                                                                                         \
            u32 hot = counts[linear_cell_of(cells, x[a])] & ~IS_HOT;                                                   \
            if (IS_AT_PIVOT(x[a], pivots[hot])) {                                                                      \
                u32 place = ATOMIC_ADD(&value_counts[VALUE_COUNTER(hot, x[a])], 1) - hot_before[hot];                  \
                tile[IN_WINDOWS(hot_front[hot] + place)] = x[a];                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
#else
#define IS_AT_PIVOT(element, pivot) is_equal(element, pivot)
#define COUNT_AT_PIVOT(hot, element)
#endif

/* Leaves a part to the next launch if it is long. What is in the tile instead, its first element, is in order with what is around. */
FUNCTION void leave_part(GLOBAL Element *work, GLOBAL u32 *control, LOCAL Element *tile, u32 bucket_start, u32 first, u32 end)
{
    if (end - first > MANY_IN_PART) {
        Element element = tile[IN_WINDOWS(first)];
        for (u32 place = first + ITEM; place < end; place += ITEMS) {
            work[bucket_start + place] = tile[IN_WINDOWS(place)];
            if (place > first) {
                tile[IN_WINDOWS(place)] = element;
            }
        }
        if (ITEM == 0) {
            leave_over(control + NEXT_COUNT, control + NEXT, bucket_start + first, end - first, true);
        }
    }
}

KERNEL(ITEMS)
counted_sort(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    LOCAL Element *pivots = tile + IN_WINDOWS(TILE + HELD);
    LOCAL u32 *counts = (LOCAL u32 *)(pivots + HOT_CELLS);
    LOCAL u32 *room = counts + COUNTERS;
    LOCAL u32 *hot_cells = room + ITEMS + 1;
    /* Of hot cells: the first place, the one behind the last, and those behind the smaller and before the larger elements. */
    LOCAL u32 *hot_start = room + ITEMS + 2, *hot_end = hot_start + HOT_CELLS;
    LOCAL u32 *hot_front = hot_end + HOT_CELLS, *hot_back = hot_front + HOT_CELLS;
#if COUNTS_VALUES
    /* And of their counters of values: the first one, how many there are, and what was counted by those before. */
    LOCAL u32 *hot_values = hot_back + HOT_CELLS, *hot_counters = hot_values + HOT_CELLS, *hot_before = hot_counters + HOT_CELLS;
    LOCAL u32 *value_counts = hot_before + HOT_CELLS, *counters_taken = value_counts + ALL_VALUE_COUNTERS;
#endif
#if COUNTS_VALUES && ORDERS_VALUES
    u32 value_bits;
#endif
    AFTER_PREVIOUS();
#if SORTS == LEFT_OVER
    u32 buckets = control[AGAIN_COUNT];
#else
    bool is_mine = (control[EVEN] != 0) == (SORTS == EVEN_BUCKETS);
    u32 buckets = is_mine ? control[BUCKET_COUNT] : 0;
#endif
#if COUNTS_VALUES && ORDERS_VALUES
    value_bits = control[VALUE_WIDTH];
#endif
    for (u32 bucket = (u32)GROUP; bucket < buckets; bucket += (u32)GROUPS) {
#if SORTS == LEFT_OVER
        GLOBAL const u32 *entry = control + AGAIN + 3 * bucket;
        u32 start = entry[0], count = entry[1];
        bool in_work = entry[2];
#else
        u32 start = control[STARTS + bucket], count = control[STARTS + bucket + 1] - start;
        if (count > TILE || control[VALUE_OF + bucket] > 0) {
            count = 0;
        }
        bool in_work = control[RUN_SHIFT] == 0;
#endif
        Element x[HELD];
#if VALUE_BITS == 0 && (KEY_BITS == 32 || KEY_BITS == 64)
        /* Keys lie in both alike. */
        GLOBAL const Key *source = in_work ? work_keys : keys;
        LOAD_BUCKET(source[start + place])
#else
        if (in_work) {
            LOAD_BUCKET(WORK[start + place])
        } else {
            LOAD_BUCKET(load(ARRAY_NAMES, start + place))
        }
#endif
        UNROLL for (u32 a = 0; a < COUNTERS / ITEMS; a++)
        {
            counts[a * ITEMS + ITEM] = 0;
        }
        if (ITEM == 0) {
            *hot_cells = 0;
#if COUNTS_VALUES
            *counters_taken = 0;
#endif
        }
#if COUNTS_VALUES
        for (u32 counter = ITEM; counter < ALL_VALUE_COUNTERS; counter += ITEMS) {
            value_counts[counter] = 0;
        }
#endif
        Element low = infinite(), high = zero();
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (a * ITEMS + ITEM < count) {
                low = is_less(x[a], low) ? x[a] : low;
                high = is_less(high, x[a]) ? x[a] : high;
            }
        }
        find_extremes(tile, tile + ITEMS, low, high);
        Cells cells = cells_between(tile[0], tile[ITEMS], control[VALUE_WIDTH], COUNTERS);
        /* Where every key has its own cell, keys are in order when they are in the order of the cells. */
        bool exact = !ORDERS_VALUES && cells.exact;
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (a * ITEMS + ITEM < count) {
                ATOMIC_ADD(&counts[linear_cell_of(cells, x[a])], 1);
            }
        }
        BARRIER();
        u32 sum = 0, number[COUNTERS / ITEMS];
        UNROLL for (u32 a = 0; a < COUNTERS / ITEMS; a++)
        {
            number[a] = counts[ITEM * (COUNTERS / ITEMS) + a];
            sum += number[a];
        }
        u32 before = sum_before(room, sum);
        UNROLL for (u32 a = 0; a < COUNTERS / ITEMS; a++)
        {
            u32 begin = before;
            if (number[a] > MANY_IN_CELL && !exact) {
                u32 hot = ATOMIC_ADD(hot_cells, 1);
#if SORTS != EVEN_BUCKETS
                hot_start[hot] = hot_front[hot] = before;
                hot_end[hot] = hot_back[hot] = before + number[a];
                pivots[hot] = infinite();
#if COUNTS_VALUES
                hot_counters[hot] = VALUE_COUNTERS(number[a]);
                hot_values[hot] = ATOMIC_ADD(counters_taken, VALUE_COUNTERS(number[a]));
#endif
                begin = IS_HOT | hot;
#endif
            }
            counts[ITEM * (COUNTERS / ITEMS) + a] = begin;
            before += number[a];
        }
        BARRIER();
        u32 hots = *hot_cells;
#if SORTS == EVEN_BUCKETS
        if (hots > 0) {
            if (ITEM == 0) {
                leave_over(control + NEXT_COUNT, control + NEXT, start, count, in_work);
            }
            count = 0;
            hots = 0;
        }
#endif
        if (hots == 0) {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                if (a * ITEMS + ITEM < count) {
                    u32 place = ATOMIC_ADD(&counts[linear_cell_of(cells, x[a])], 1);
                    tile[IN_WINDOWS(place)] = x[a];
                }
            }
        }
#if SORTS != EVEN_BUCKETS
        u32 is_hot = 0, chosen = 0;
        if (hots > 0) {
            Element pivot = zero();
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                if (a * ITEMS + ITEM < count) {
                    u32 begin = counts[linear_cell_of(cells, x[a])];
                    if (begin & IS_HOT) {
                        is_hot |= 1u << a;
                        chosen = begin & ~IS_HOT;
                        pivot = x[a];
                    }
                }
            }
            /* Every work-item proposes its last one for a pivot, which is one that is there often, most likely. The first of a cell is
               taken. A cell for which none is proposed has few; infinite is as good a pivot. */
            if (is_hot && !(ATOMIC_OR(&hot_end[chosen], HAS_PIVOT) & HAS_PIVOT)) {
                pivots[chosen] = pivot;
            }
        }
        /* All have loaded their elements, whose places in the working memory may be written below. */
        GLOBAL_BARRIER();
        if (hots > 0) {
            SCATTER_AROUND_PIVOTS
        }
        BARRIER();
#if COUNTS_VALUES
        /* Once, or not at all: barriers stand in loops. */
        for (bool is_left = hots > 0; is_left; is_left = false) {
            u32 first = ITEM * COUNTERS_EACH_SCANS, all = 0;
            for (u32 counter = first; counter < first + COUNTERS_EACH_SCANS && counter < ALL_VALUE_COUNTERS; counter++) {
                all += value_counts[counter];
            }
            all = sum_before(room, all);
            for (u32 counter = first; counter < first + COUNTERS_EACH_SCANS && counter < ALL_VALUE_COUNTERS; counter++) {
                u32 counted = value_counts[counter];
                value_counts[counter] = all;
                all += counted;
            }
            BARRIER();
            for (u32 hot = ITEM; hot < hots; hot += ITEMS) {
                hot_before[hot] = value_counts[hot_values[hot]];
            }
            BARRIER();
            SCATTER_BY_VALUES
            BARRIER();
        }
#endif
        for (u32 hot = 0; hot < hots; hot++) {
            u32 front = hot_front[hot], back = hot_back[hot];
#if COUNTS_VALUES
            if (hot_end[hot] & IS_UNEVEN) {
                leave_part(WORK, control, tile, start, front, back);
            }
#else
            for (u32 place = front + ITEM; place < back; place += ITEMS) {
                tile[IN_WINDOWS(place)] = pivots[hot];
            }
#endif
            leave_part(WORK, control, tile, start, hot_start[hot], front);
            leave_part(WORK, control, tile, start, back, HOT_END(hot));
        }
#endif
        /* What is behind the last element, up to the end of the window after its own, is infinite. */
        u32 end = count > 0 ? ((count - 1) / HELD + 2) * HELD : 0;
        for (u32 place = count + ITEM; place < end; place += ITEMS) {
            tile[IN_WINDOWS(place)] = infinite();
        }
        BARRIER();
        bool has_window = ITEM * HELD < count && !exact;
        u32 window = ITEM * WINDOW;
        if (has_window) {
            take_window(tile, x, window, window + HELD / 2);
            sort_registers(x, HELD_LOG2);
            put_window(tile, x, window, window + HELD / 2);
        }
        BARRIER();
        bool across = true, goes_on = count > 0 && !exact;
        while (goes_on) {
            /* Merges what is across two windows, or the halves of one; then what is across the others has to be in order. */
            if (has_window) {
                u32 first = across ? window + HELD / 2 : window, second = across ? window + WINDOW : window + HELD / 2;
                take_window(tile, x, first, second);
                merge_odd_even(x, HELD_LOG2 - 1);
                put_window(tile, x, first, second);
            }
            BARRIER();
            bool unsorted = false;
            if (has_window) {
                u32 lower = across ? window + HELD / 2 - 1 : window + HELD - 1;
                u32 upper = across ? window + HELD / 2 : window + WINDOW;
                unsorted = IS_BEFORE(tile[upper], tile[lower]);
            }
            goes_on = BARRIER_OR(room, unsorted);
            across = !across;
        }
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = a * ITEMS + ITEM;
            if (place < count) {
                x[a] = tile[IN_WINDOWS(place)];
            }
        }
        restore_keys(x, mapping);
        STORE_BUCKET
        BARRIER();
    }
#if SORTS == UNEVEN_BUCKETS
    u32 fills = is_mine ? control[FILL_COUNT] : 0;
    for (u32 fill = (u32)GROUP; fill < fills; fill += (u32)GROUPS) {
        GLOBAL const u32 *piece = control + FILLS + 3 * fill;
#if FREE_VALUES
        bool in_work = control[RUN_SHIFT] == 0;
        for (u32 start = piece[0], end = start + piece[1]; start < end; start += TILE) {
            u32 count = least(end - start, TILE);
            Element x[HELD];
            if (in_work) {
                LOAD_BUCKET(WORK[start + place])
            } else {
                LOAD_BUCKET(load(ARRAY_NAMES, start + place))
            }
            restore_keys(x, mapping);
            STORE_BUCKET
        }
#else
        Element element = from_ordered(WORK[BOUND_AT(piece[2])], ON_STORE(mapping));
        for (u32 place = ITEM; place < piece[1]; place += ITEMS) {
            store(ARRAY_NAMES, piece[0] + place, element);
        }
#endif
    }
#endif
}
