/* Counts all elements: by cell, and by part in cells that have a node. */

/* The plan gives LOCAL_ELEMENTS, which hold the bounds, counters, nodes, sections, levels, and the cells that have nodes. */
#define MAP_WORDS ((CELLS + 31) / 32)
#define WORDS (CELLS + PARTS + 1 + MOST_NODES + SECTION_WORDS * MOST_SECTIONS + STRETCHES + 2 * MAP_WORDS + ITEMS + 1)
typedef char local_memory_is_enough[LOCAL_ELEMENTS * sizeof(Element) >= MOST_SECTIONS * sizeof(Element) + WORDS * 4 ? 1 : -1];

/* Where the work-items past the end count. */
#define NOWHERE (CELLS + PARTS)

/* How many cells before this one have a node. */
#define NODES_BEFORE(cell) (before[(cell) / 32] + BITS_SET(map[(cell) / 32] & ~(~0u << (cell) % 32)))

KERNEL(ITEMS)
count(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, bounds, LOCAL_ELEMENTS);
    LOCAL u32 *counts = (LOCAL u32 *)(bounds + MOST_SECTIONS);
    LOCAL u32 *nodes = counts + CELLS + PARTS + 1; /* in the order of their cells */
    LOCAL u32 *sections = nodes + MOST_NODES;
    LOCAL u32 *levels = sections + SECTION_WORDS * MOST_SECTIONS;
    LOCAL u32 *map = levels + STRETCHES; /* a bit for every cell that has a node */
    LOCAL u32 *before = map + MAP_WORDS; /* for every word of the map, how many bits are set before it */
    LOCAL u32 *room = before + MAP_WORDS;
    for (u32 bin = ITEM; bin <= NOWHERE; bin += ITEMS) {
        counts[bin] = 0;
    }
    for (u32 word = ITEM; word < MAP_WORDS; word += ITEMS) {
        map[word] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    Cells cells = CHOSEN_CELLS();
    COUNT_NODES()
    COPY_BOUNDS(bounds)
    COPY_TABLE(sections, SECTIONS, SECTION_WORDS * section_count)
    COPY_LEVELS(levels, cells)
    for (u32 cell = ITEM; node_count > 0 && cell < CELLS; cell += ITEMS) {
        if (control[NODE_OF + cell] > 0) {
            ATOMIC_OR(&map[cell / 32], 1u << cell % 32);
        }
    }
    BARRIER();
    u32 nodes_before = 0;
    for (u32 from = 0; node_count > 0 && from < MAP_WORDS; from += ITEMS) {
        u32 word = from + ITEM, set = word < MAP_WORDS ? BITS_SET(map[word]) : 0;
        u32 sum = sum_before(room, set);
        if (word < MAP_WORDS) {
            before[word] = nodes_before + sum;
        }
        nodes_before += ALL_TOGETHER(room);
        BARRIER();
    }
    for (u32 cell = ITEM; node_count > 0 && cell < CELLS; cell += ITEMS) {
        u32 node = control[NODE_OF + cell];
        if (node > 0) {
            nodes[NODES_BEFORE(cell)] = control[NODES + node - 1];
        }
    }
    BARRIER();
    Index step = GROUPS * TILE;
    for (Index start = GROUP * TILE; start < total; start += step) {
        Element x[HELD];
        u32 length = total - start < TILE ? (u32)(total - start) : TILE;
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = a * ITEMS + ITEM;
            x[a] = place < length ? load_first(ARRAY_NAMES, start + place, start + place) : zero();
        }
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 bin = cell_of(cells, levels, x[a]);
            if (node_count > 0 && map[bin / 32] >> bin % 32 & 1) {
                bin = CELLS + part_of(bounds, sections, nodes[NODES_BEFORE(bin)], x[a]);
            }
            ATOMIC_ADD(&counts[a * ITEMS + ITEM < length ? bin : NOWHERE], 1);
        }
    }
    BARRIER();
    LET_NEXT_START();
    for (u32 bin = ITEM; bin < CELLS + part_count; bin += ITEMS) {
        if (counts[bin] > 0) {
            ATOMIC_ADD(&control[COUNTS + bin], counts[bin]);
        }
    }
}
