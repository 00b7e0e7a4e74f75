/* Sorts buckets that do not fit a tile: those that the sample did not foresee. A group for each.

   The group takes a sample of a tile, sorts it, and parts the bucket by WAYS - 1 of its elements: what lies between two of them, and
   what is equal to one. Neighbours that fit a tile together stay together, for a short part takes as long as a full tile. Equal elements
   that are many are in order, and not moved. Parts move to and fro between the two arrays until they fit a tile. Of two different
   elements that parted the bucket every part lacks one, and if all were equal these are many, so there is an end, whatever the elements are. */

#define WAYS 16
/* The longest part waits at the bottom of the stack, so no more than WAYS parts wait for every halving of the bucket. */
#define MOST_WAITING (WAYS * 30)

/* Words behind the tile: counts, then cursors of the parts; parts that wait: first place, length, in which array. */
#define SETTLE_WORDS (4 * WAYS + 1 + 3 * MOST_WAITING)
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= (PADDED(TILE) + WAYS) * sizeof(Element) + SETTLE_WORDS * 4 ? 1 : -1];

/* The part of an element: even between two splitters, odd for those equal to one. */
FUNCTION u32 part_between(LOCAL const Element *splitters, Element element)
{
    u32 before = 0;
    UNROLL for (u32 step = WAYS / 2; step > 0; step /= 2)
    {
        before += is_less(splitters[before + step - 1], element) ? step : 0;
    }
    bool equal = before < WAYS - 1 && is_equal(splitters[before], element);
    return 2 * before + equal;
}

/* Whether the elements that are equal to a splitter are moved, with the part before them. If all splitters of a tile are equal, they are not. */
#define MOVES(way) (counts[way] <= TILE / 4)

#define LOAD_WAITING(place) (in_work ? WORK[place] : load(ARRAY_NAMES, place))

/* Lets the parts of a bucket that begins at `start` wait: the longest one first. Says how many wait now. */
FUNCTION u32 push_parts(LOCAL const u32 *counts, LOCAL u32 *waiting, u32 depth, u32 start, bool in_work)
{
    u32 longest = 0, others = depth + 1;
    for (int written = 0; written < 2; written++) {
        bool is_longest_due = true;
        u32 first = start, end = start;
        for (u32 way = 0; way <= 2 * WAYS; way += 2) {
            u32 place = end, moved = 0;
            bool ends = way == 2 * WAYS;
            if (way > 0 && !MOVES(way - 1)) {
                place += counts[way - 1];
                ends = true;
            }
            if (way < 2 * WAYS) {
                moved = counts[way] + (MOVES(way + 1) ? counts[way + 1] : 0);
                ends |= end - first + moved > TILE;
            }
            if (ends) {
                u32 length = end - first;
                if (written && length > 0) {
                    bool is_longest = is_longest_due && length == longest;
                    LOCAL u32 *part = waiting + 3 * (is_longest ? depth : others);
                    part[0] = first;
                    part[1] = length;
                    part[2] = in_work;
                    others += !is_longest;
                    is_longest_due &= !is_longest;
                }
                longest = length > longest ? length : longest;
                first = place;
            }
            end = place + moved;
        }
    }
    return longest > 0 ? others : depth;
}

KERNEL(ITEMS)
settle(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    LOCAL Element *splitters = tile + PADDED(TILE);
    LOCAL u32 *counts = (LOCAL u32 *)(splitters + WAYS);
    LOCAL u32 *cursors = counts + 2 * WAYS;
    LOCAL u32 *depth = cursors + 2 * WAYS;
    LOCAL u32 *waiting = depth + 1;
    Element x[HELD];
    AFTER_PREVIOUS();
    u32 longs = control[LONG_COUNT];
    for (u32 number = (u32)GROUP; number < longs; number += (u32)GROUPS) {
        if (ITEM < 3) {
            waiting[ITEM] = control[LONG + 3 * number + ITEM];
        }
        if (ITEM == 0) {
            *depth = 1;
        }
        BARRIER();
        while (*depth > 0) {
            LOCAL u32 *part = waiting + 3 * (*depth - 1);
            u32 start = part[0], length = part[1];
            bool in_work = part[2];
            bool fits = length <= TILE;
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                u32 place = place_of(a, STREAMED, false);
                /* All of it, or one element of every stretch. */
                u32 from = fits ? place : (u32)((u64)place * length / TILE);
                x[a] = infinite();
                if (from < length) {
                    x[a] = LOAD_WAITING(start + from);
                }
            }
            sort_tile(tile, x, TILE_LOG2, ALL_WORK);
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                u32 place = place_of(a, 0, false);
                if (place > 0 && place % (TILE / WAYS) == 0) {
                    splitters[place / (TILE / WAYS) - 1] = x[a];
                }
            }
            exchange(tile, x, 0, false, STREAMED, false, ALL_WORK);
            restore_keys(x, mapping);
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                u32 place = place_of(a, STREAMED, false);
                if (fits && place < length) {
                    store(ARRAY_NAMES, start + place, x[a]);
                }
            }
            if (ITEM < 2 * WAYS) {
                counts[ITEM] = 0;
            }
            /* There is nothing to part in what fits. The barriers below are for all, since some compilers get conditional ones
               wrong. */
            length = fits ? 0 : length;
            /* All have read what waits, and the depth. */
            BARRIER();
            if (ITEM == 0) {
                *depth -= 1;
            }
            for (u32 place = ITEM; place < length; place += ITEMS) {
                ATOMIC_ADD(&counts[part_between(splitters, LOAD_WAITING(start + place))], 1);
            }
            BARRIER();
            if (ITEM == 0) {
                u32 sum = start;
                for (u32 way = 0; way < 2 * WAYS; way++) {
                    cursors[way] = sum;
                    sum += counts[way];
                }
            }
            BARRIER();
            for (u32 place = ITEM; place < length; place += ITEMS) {
                Element element = LOAD_WAITING(start + place);
                u32 way = part_between(splitters, element);
                if (way % 2 == 0 || MOVES(way)) {
                    u32 to = ATOMIC_ADD(&cursors[way], 1);
                    if (in_work) {
                        store(ARRAY_NAMES, to, element);
                    } else {
                        WORK[to] = element;
                    }
                }
            }
            GLOBAL_BARRIER();
            /* What was not moved is in its place, and is written down. */
            for (u32 way = 1; way < 2 * WAYS - 1; way += 2) {
                Element element = from_ordered(splitters[way / 2], ON_STORE(mapping));
                for (u32 place = MOVES(way) ? counts[way] : ITEM; place < counts[way]; place += ITEMS) {
                    store(ARRAY_NAMES, cursors[way] + place, element);
                }
            }
            if (ITEM == 0 && length > 0) {
                *depth = push_parts(counts, waiting, *depth, start, !in_work);
            }
            GLOBAL_BARRIER();
        }
        BARRIER();
    }
}
