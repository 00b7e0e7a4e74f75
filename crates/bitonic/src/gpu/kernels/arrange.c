/* Makes buckets of cells and parts. One group.

   Even elements: each 2^fine neighbouring cells are a bucket, if all of them fit the first tile. (A cell may have been divided that
   need not be.) Otherwise
   entries, which are cells without a node and parts of those with one, in the order of the elements, begin a bucket

       where their first place is in another window than that of the entry before: there are `windows` in 2^32 places,
       where they have more than `small` elements, or
       where their elements are equal, and after such an entry.

   So a bucket has at most a window and `small` places, or is one entry. Empty entries belong to no bucket, and to any. */

#define EACH (CELLS / ITEMS > 0 ? CELLS / ITEMS : 1)
#define FILL_PIECE (1u << 15)

/* The plan gives LOCAL_ELEMENTS, which hold counts and nodes, and a few words for every work-item. */
#define COUNT_WORDS (PADDED(CELLS) + PARTS)
typedef char local_memory_is_enough[LOCAL_ELEMENTS * sizeof(Element) >= (COUNT_WORDS + MOST_NODES + 2 * ITEMS + 8) * 4 ? 1 : -1];

/* Walks through the entries of this work-item's cells: `count` is how many elements each has, `bin` its place among the counts. */
#define FOR_EACH_ENTRY                                                                                                 \
    for (u32 number = 0; number < EACH; number++) {                                                                    \
        u32 cell = ITEM * EACH + number;                                                                               \
        u32 node = cell < CELLS ? counts[PADDED(cell)] : 0, entries = 1, bin = cell;                                   \
        if (node & HAS_NODE) {                                                                                         \
            entries = NODE_BOUNDS(nodes[node & 0xffffu]) + 1;                                                          \
            bin = CELLS + NODE_FIRST(nodes[node & 0xffffu]);                                                           \
        }                                                                                                              \
        for (; entries > 0 && cell < CELLS; entries--, bin++) {                                                        \
            u32 entry = bin < CELLS ? node : parts[bin - CELLS];                                                       \
            u32 count = entry & ~EQUAL;
#define END_OF_ENTRY                                                                                                   \
        }                                                                                                              \
    }
#define HAS_NODE (1u << 31)

/* How many elements a cell has, with a node or without. */
FUNCTION u32 count_of(LOCAL const u32 *parts, LOCAL const u32 *nodes, u32 count)
{
    if (count & HAS_NODE) {
        u32 node = nodes[count & 0xffffu], first = NODE_FIRST(node);
        count = 0;
        for (u32 part = first; part <= first + NODE_BOUNDS(node); part++) {
            count += parts[part] & ~EQUAL;
        }
    }
    return count;
}
#define COUNT_OF(count) count_of(parts, nodes, count)

/* What is remembered of an entry: its first place, and whether its elements are equal. 0 stands for none. */
#define MEMORY(place, entry) (2 * (place) + ((entry & EQUAL) != 0) + 1)

/* Whether an entry that starts at `start` begins a bucket, after the one that is remembered. */
FUNCTION bool begins_bucket(u32 entry, u32 count, u32 start, u32 before, u32 windows, u32 small)
{
    bool after_equal = before > 0 && before % 2 == 0;
    bool same_window = HIGH_HALF((before - 1) / 2, windows) == HIGH_HALF(start, windows);
    return before == 0 || after_equal || (entry & EQUAL) || count > small || !same_window;
}

/* `capacity` is what the first tile holds, `most` what the larger one does. */
KERNEL(ITEMS)
arrange(BUCKET_PARAMETERS, u32 windows, u32 small, u32 capacity, u32 most)
{
    LOCAL_ARRAY(Element, memory, LOCAL_ELEMENTS);
    LOCAL u32 *counts = (LOCAL u32 *)memory;
    LOCAL u32 *parts = counts + PADDED(CELLS);
    LOCAL u32 *nodes = parts + PARTS;
    LOCAL u32 *room = nodes + MOST_NODES;
    AFTER_PREVIOUS();
    u32 node_count = control[NODE_COUNT], part_count = control[PART_COUNT];
    node_count = node_count < MOST_NODES ? node_count : MOST_NODES;
    part_count = part_count < PARTS ? part_count : PARTS;
    UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
    {
        counts[PADDED(cell)] = control[COUNTS + cell];
    }
    if (node_count > 0) {
        UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
        {
            u32 node = control[NODE_OF + cell];
            if (node > 0) {
                counts[PADDED(cell)] = HAS_NODE | (node - 1);
            }
        }
    }
    for (u32 part = ITEM; part < part_count; part += ITEMS) {
        parts[part] = control[COUNTS + CELLS + part];
    }
    for (u32 node = ITEM; node < node_count; node += ITEMS) {
        nodes[node] = control[NODES + node];
    }
    BARRIER();
    u32 even_count = cell_count >> fine;
    u32 even_each = (even_count + ITEMS - 1) / ITEMS, even_first = ITEM * even_each;
    u32 even_sum = 0, longest = 0;
    for (u32 bucket = even_first; bucket < even_first + even_each && bucket < even_count; bucket++) {
        u32 length = 0;
        for (u32 cell = bucket << fine; cell < (bucket + 1) << fine; cell++) {
            length += COUNT_OF(counts[PADDED(cell)]);
        }
        longest = length > longest ? length : longest;
        even_sum += length;
    }
    bool suits = control[KIND] == LINEAR && longest <= capacity;
    bool even = !BARRIER_OR(room, !suits);
    u32 even_start = sum_before(room, even_sum);
    u32 buckets = even_count;
    if (even) {
        for (u32 bucket = even_first; bucket < even_first + even_each && bucket < even_count; bucket++) {
            control[STARTS + bucket] = even_start;
            control[VALUE_OF + bucket] = 0;
            for (u32 cell = bucket << fine; cell < (bucket + 1) << fine; cell++) {
                even_start += COUNT_OF(counts[PADDED(cell)]);
            }
        }
    }
    /* Once, or not at all: barriers stand in loops. */
    for (bool uneven = !even; uneven; uneven = false) {
        /* How many elements there are before those of this work-item, and where the last entry before them started. */
        u32 sum = 0, last = 0;
        FOR_EACH_ENTRY
            if (count > 0) {
                last = MEMORY(sum, entry);
            }
            sum += count;
        END_OF_ENTRY
        u32 start = sum_before(room, sum);
        u32 before = largest_before(room, last > 0 ? last + 2 * start : 0);
        /* How many buckets begin. */
        u32 place = start, previous = before, begun = 0;
        FOR_EACH_ENTRY
            if (count > 0) {
                begun += begins_bucket(entry, count, place, previous, windows, small);
                previous = MEMORY(place, entry);
                place += count;
            }
        END_OF_ENTRY
        u32 bucket = sum_before(room, begun);
        buckets = ALL_TOGETHER(room);
        place = start;
        previous = before;
        FOR_EACH_ENTRY
            if (count > 0) {
                if (begins_bucket(entry, count, place, previous, windows, small)) {
                    control[STARTS + bucket] = place;
                    /* The elements of a part are equal to the bound before it. */
                    control[VALUE_OF + bucket] = entry & EQUAL ? bin - CELLS : 0;
                    bucket++;
                }
                previous = MEMORY(place, entry);
                place += count;
            }
            if (bin >= CELLS) {
                control[BUCKET_OF + bin] = entry & EQUAL ? STAYS : bucket > 0 ? bucket - 1 : 0;
            }
            if (entries == 1) {
                /* The count of the cell is not needed any more. */
                counts[PADDED(cell)] = node & HAS_NODE ? FIRST_NODE + (node & 0xffffu) : bucket > 0 ? bucket - 1 : 0;
            }
        END_OF_ENTRY
        BARRIER();
        UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
        {
            control[BUCKET_OF + cell] = counts[PADDED(cell)];
        }
    }
    GLOBAL_BARRIER();
    /* Runs of 2^shift buckets, if there are more buckets than a group can tell apart. */
    u32 shift = 0, targets = even ? EVEN_TARGETS : TARGETS;
    while (buckets > targets && buckets > targets / 8 << shift) {
        shift++;
    }
    if (ITEM == 0) {
        control[STARTS + buckets] = (u32)total;
        control[BUCKET_COUNT] = buckets;
        control[EVEN] = even;
        control[RUN_SHIFT] = shift;
        control[RUN_COUNT] = (buckets + (1u << shift) - 1) >> shift;
    }
    UNROLL_SOME for (u32 number = ITEM; number < buckets; number += ITEMS)
    {
        u32 first = control[STARTS + number], end = number + 1 < buckets ? control[STARTS + number + 1] : (u32)total;
        u32 length = end - first;
        u32 value = control[VALUE_OF + number];
        control[CURSORS + number] = first;
        if ((number & ((1u << shift) - 1)) == 0) {
            control[RUN_STARTS + (number >> shift)] = first;
            control[RUN_CURSORS + (number >> shift)] = first;
        }
        if (value > 0) {
            u32 pieces = (length + FILL_PIECE - 1) / FILL_PIECE;
            u32 fill = ATOMIC_ADD(&control[FILL_COUNT], pieces);
            for (u32 piece = 0; piece < pieces; piece++, fill++) {
                control[FILLS + 3 * fill] = first + piece * FILL_PIECE;
                control[FILLS + 3 * fill + 1] = piece + 1 < pieces ? FILL_PIECE : length - piece * FILL_PIECE;
                control[FILLS + 3 * fill + 2] = value - 1;
            }
        } else {
            control[MOVING] = 1;
            if (length > most) {
                leave_over(control + LONG_COUNT, control + LONG, first, length, shift == 0);
            } else if (length > capacity) {
                leave_over(control + AGAIN_COUNT, control + AGAIN, first, length, shift == 0);
            }
        }
    }
}
