/* Makes buckets of cells and parts. One group.

   Even elements: each 2^fine neighbouring cells are a bucket, if all of them fit the first tile. (A cell may have been divided that
   need not be.) Otherwise
   entries, which are cells without a node and parts of those with one, in the order of the elements, begin a bucket

       where their first place is in another window than that of the entry before: there are `windows` in 2^32 places,
       where they have more than `small` elements, or
       where their elements are equal, and after such an entry.

   So a bucket has at most a window and `small` places, or is one entry. Empty entries belong to no bucket, and to any.

   Every work-item has as many entries, for a node may have very many parts. */

#define EACH (CELLS / ITEMS > 0 ? CELLS / ITEMS : 1)
/* Groups that write down, or put to their places, what is equal take such pieces; longer ones where there would be more than MOST_PIECES,
   because one work-item lists them. */
#define FILL_PIECE (1u << 13)
#define MOST_PIECES 512

/* The plan gives LOCAL_ELEMENTS, which hold counts, nodes and sections, and a few words for every work-item. */
#define COUNT_WORDS (PADDED(CELLS) + PARTS)
#define NODE_WORDS (MOST_NODES + SECTION_WORDS * MOST_SECTIONS)
typedef char local_memory_is_enough[LOCAL_ELEMENTS * sizeof(Element) >= (COUNT_WORDS + NODE_WORDS + 2 * ITEMS + 8) * 4 ? 1 : -1];

#define HAS_NODE (1u << 31)

/* How many entries a cell has. */
#define ENTRIES_OF(count) ((count) & HAS_NODE ? node_parts(sections, nodes[(count) & 0xffffu]) : 1)

/* Walks through the entries of this work-item, from number `first_part` of `first_cell` on: `count` is how many elements each has, `bin`
   its place among the counts, `is_last` whether the cell ends with it. */
#define FOR_EACH_ENTRY                                                                                                 \
    for (u32 cell = first_cell, part = first_part, left = entries_each; left > 0 && cell < CELLS; left--) {            \
        u32 entry = counts[PADDED(cell)], bin = cell, node = entry & 0xffffu;                                          \
        bool has_node = (entry & HAS_NODE) != 0, is_last = true;                                                       \
        if (has_node) {                                                                                                \
            is_last = part + 1 == node_parts(sections, nodes[node]);                                                   \
            bin = CELLS + NODE_FIRST_PART(sections, nodes[node]) + part;                                               \
            entry = parts[bin - CELLS];                                                                                \
        }                                                                                                              \
        u32 count = entry & ~EQUAL;
#define END_OF_ENTRY                                                                                                   \
        part = is_last ? 0 : part + 1;                                                                                 \
        cell += is_last;                                                                                               \
    }

/* Nodes with more parts are not of even elements. */
#define MANY_PARTS 64

/* How many elements a cell has, with a node or without; or more than fit anywhere. */
FUNCTION u32 count_of(LOCAL const u32 *parts, LOCAL const u32 *sections, LOCAL const u32 *nodes, u32 count)
{
    if (count & HAS_NODE) {
        u32 node = nodes[count & 0xffffu], first = NODE_FIRST_PART(sections, node), number = node_parts(sections, node);
        count = 0;
        for (u32 part = first; part < first + number && number <= MANY_PARTS; part++) {
            count += parts[part] & ~EQUAL;
        }
        count = number > MANY_PARTS ? 1u << 24 : count;
    }
    return count;
}
#define COUNT_OF(count) count_of(parts, sections, nodes, count)

/* The number of the bound that the elements of a part are equal to, plus one. */
FUNCTION u32 value_of(LOCAL const u32 *sections, u32 node, u32 part)
{
#if ORDERS_VALUES
    u32 section = NODE_FIRST(node);
    while (SECTION_FIRST(sections[2 * section]) != part) {
        section++;
    }
    return section;
#else
    return part;
#endif
}

/* What is remembered of an entry: its first place, and whether its elements are equal. 0 stands for none. */
#define MEMORY(place, entry) (2 * (place) + ((entry & EQUAL) != 0) + 1)

/* The window of an entry that is remembered. Of none, and of equal elements, no other entry is in the window. */
#define NO_WINDOW (~0u)
#define WINDOW_IN(memory) ((memory) % 2 == 0 ? NO_WINDOW : HIGH_HALF((memory) / 2, windows))

/* Whether an entry begins a bucket. It starts in one window, and the one before it started in another, or in the same. */
#define BEGINS_BUCKET(window, before) ((window) != (before) || (entry & EQUAL) || count > small)
#define WINDOW_AFTER(window) (entry & EQUAL ? NO_WINDOW : (window))

/* Pieces that a work-item lists alone. More of them are listed by all together. */
#define FEW_PIECES 4
/* What all list together: the first piece and how many, the first place and how many, how many are in a piece, the bound. */
#define JOB_WORDS 6
#define MOST_JOBS (COUNT_WORDS / JOB_WORDS)

/* Writes down a piece of elements that are equal. */
FUNCTION void list_piece(GLOBAL u32 *control, u32 first_fill, u32 piece, u32 pieces, u32 first, u32 length, u32 piece_length, u32 value)
{
    GLOBAL u32 *fill = control + FILLS + 3 * (first_fill + piece);
    fill[0] = first + piece * piece_length;
    fill[1] = piece + 1 < pieces ? piece_length : length - piece * piece_length;
    fill[2] = value - 1;
}

/* `capacity` is what the first tile holds, `most` what the larger one does. */
KERNEL(ITEMS)
arrange(BUCKET_PARAMETERS, u32 windows, u32 small, u32 capacity, u32 most)
{
    LOCAL_ARRAY(Element, memory, LOCAL_ELEMENTS);
    LOCAL u32 *counts = (LOCAL u32 *)memory;
    LOCAL u32 *parts = counts + PADDED(CELLS);
    LOCAL u32 *nodes = parts + PARTS;
    LOCAL u32 *sections = nodes + MOST_NODES;
    LOCAL u32 *room = sections + SECTION_WORDS * MOST_SECTIONS;
    LOCAL u32 *firsts = room + ITEMS + 1; /* how many entries there are before every work-item's cells */
    AFTER_PREVIOUS();
    COUNT_NODES()
    bool is_linear = control[KIND] == LINEAR;
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
        COPY_AT_ONCE(parts, COUNTS + CELLS, part_count, PARTS)
        COPY_AT_ONCE(nodes, NODES, node_count, MOST_NODES)
        COPY_AT_ONCE(sections, SECTIONS, SECTION_WORDS * section_count, SECTION_WORDS * MOST_SECTIONS)
    }
    BARRIER();
    u32 even_count = cell_count >> fine;
    u32 even_each = is_linear ? (even_count + ITEMS - 1) / ITEMS : 0, even_first = ITEM * even_each;
    u32 even_sum = 0, longest = 0;
    for (u32 bucket = even_first; bucket < even_first + even_each && bucket < even_count; bucket++) {
        u32 length = 0;
        for (u32 cell = bucket << fine; cell < (bucket + 1) << fine; cell++) {
            length += COUNT_OF(counts[PADDED(cell)]);
        }
        longest = length > longest ? length : longest;
        even_sum += length;
    }
    bool suits = is_linear && longest <= capacity;
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
        u32 entries = 0;
        for (u32 cell = ITEM * EACH; cell < (ITEM + 1) * EACH && cell < CELLS; cell++) {
            entries += ENTRIES_OF(counts[PADDED(cell)]);
        }
        firsts[ITEM] = sum_before(room, entries);
        u32 entries_each = (ALL_TOGETHER(room) + ITEMS - 1) / ITEMS;
        BARRIER();
        /* The cell and the part of it that this work-item begins with. */
        u32 owner = 0, first_part = ITEM * entries_each;
        for (u32 step = ITEMS / 2; step > 0; step /= 2) {
            owner += firsts[owner + step] <= first_part ? step : 0;
        }
        first_part -= firsts[owner];
        u32 first_cell = owner * EACH;
        for (; first_cell < CELLS && first_part >= ENTRIES_OF(counts[PADDED(first_cell)]); first_cell++) {
            first_part -= ENTRIES_OF(counts[PADDED(first_cell)]);
        }
        BARRIER();
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
        u32 place = start, previous = WINDOW_IN(before), begun = 0;
        FOR_EACH_ENTRY
            if (count > 0) {
                u32 window = HIGH_HALF(place, windows);
                begun += BEGINS_BUCKET(window, previous);
                previous = WINDOW_AFTER(window);
                place += count;
            }
        END_OF_ENTRY
        u32 bucket = sum_before(room, begun);
        buckets = ALL_TOGETHER(room);
        place = start;
        previous = WINDOW_IN(before);
        FOR_EACH_ENTRY
            if (count > 0) {
                u32 window = HIGH_HALF(place, windows);
                if (BEGINS_BUCKET(window, previous)) {
                    control[STARTS + bucket] = place;
                    control[VALUE_OF + bucket] = entry & EQUAL ? value_of(sections, nodes[node], bin - CELLS) : 0;
                    bucket++;
                }
                previous = WINDOW_AFTER(window);
                place += count;
            }
            /* Instead of the count, which is not needed any more. */
            u32 its_bucket = (entry & EQUAL) && !FREE_VALUES ? STAYS : bucket > 0 ? bucket - 1 : 0;
            if (has_node) {
                parts[bin - CELLS] = its_bucket;
            } else {
                counts[PADDED(cell)] = its_bucket;
            }
        END_OF_ENTRY
        BARRIER();
        UNROLL for (u32 cell = ITEM; cell < CELLS; cell += ITEMS)
        {
            u32 its_bucket = counts[PADDED(cell)];
            control[BUCKET_OF + cell] = its_bucket & HAS_NODE ? FIRST_NODE + (its_bucket & 0xffffu) : its_bucket;
        }
        for (u32 part = ITEM; part < part_count; part += ITEMS) {
            control[BUCKET_OF + CELLS + part] = parts[part];
        }
    }
    LOCAL u32 *jobs = counts;
    if (ITEM == 0) {
        room[0] = 0;
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
        if (value == 0 || FREE_VALUES) {
            control[MOVING] = 1;
        }
        control[CURSORS + number] = first;
        if ((number & ((1u << shift) - 1)) == 0) {
            control[RUN_STARTS + (number >> shift)] = first;
            control[RUN_CURSORS + (number >> shift)] = first;
        }
        if (value > 0) {
            u32 piece_length = FILL_PIECE;
            while (length / piece_length > MOST_PIECES) {
                piece_length *= 2;
            }
            u32 pieces = (length + piece_length - 1) / piece_length;
            u32 fill = ATOMIC_ADD(&control[FILL_COUNT], pieces);
            u32 its_job = pieces > FEW_PIECES ? ATOMIC_ADD(room, 1) : MOST_JOBS;
            if (its_job < MOST_JOBS) {
                LOCAL u32 *job = jobs + JOB_WORDS * its_job;
                job[0] = fill;
                job[1] = pieces;
                job[2] = first;
                job[3] = length;
                job[4] = piece_length;
                job[5] = value;
                pieces = 0;
            }
            for (u32 piece = 0; piece < pieces; piece++) {
                list_piece(control, fill, piece, pieces, first, length, piece_length, value);
            }
        } else if (length > most) {
            leave_over(control + LONG_COUNT, control + LONG, first, length, shift == 0);
        } else if (length > capacity) {
            leave_over(control + AGAIN_COUNT, control + AGAIN, first, length, shift == 0);
        }
    }
    BARRIER();
    u32 job_count = least(room[0], MOST_JOBS);
    for (u32 number = 0; number < job_count; number++) {
        LOCAL const u32 *job = jobs + JOB_WORDS * number;
        for (u32 piece = ITEM; piece < job[1]; piece += ITEMS) {
            list_piece(control, job[0], piece, job[1], job[2], job[3], job[4], job[5]);
        }
    }
}
