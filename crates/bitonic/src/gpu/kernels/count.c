/* Counts all elements: by cell, and by part in cells that have a node. */

/* The plan gives LOCAL_ELEMENTS, which hold the bounds, counters, nodes, levels and the nodes of cells. */
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= PARTS * sizeof(Element) + (CELLS + PARTS + 1 + MOST_NODES + STRETCHES) * 4 + CELLS * 2 ? 1
                                                                                                                             : -1];

/* Where the work-items past the end count. */
#define NOWHERE (CELLS + PARTS)

KERNEL(ITEMS)
count(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, bounds, LOCAL_ELEMENTS);
    LOCAL u32 *counts = (LOCAL u32 *)(bounds + PARTS);
    LOCAL u32 *nodes = counts + CELLS + PARTS + 1;
    LOCAL u32 *levels = nodes + MOST_NODES;
    LOCAL u16 *node_of = (LOCAL u16 *)(levels + STRETCHES);
    for (u32 bin = ITEM; bin <= NOWHERE; bin += ITEMS) {
        counts[bin] = 0;
    }
    AFTER_PREVIOUS();
    Cells cells = CHOSEN_CELLS();
    u32 node_count = control[NODE_COUNT], part_count = control[PART_COUNT];
    node_count = node_count < MOST_NODES ? node_count : MOST_NODES;
    part_count = part_count < PARTS ? part_count : PARTS;
    if (node_count > 0) {
        for (u32 part = ITEM; part < part_count; part += ITEMS) {
            bounds[part] = WORK[BOUND_AT(part)];
        }
        for (u32 node = ITEM; node < node_count; node += ITEMS) {
            nodes[node] = control[NODES + node];
        }
        for (u32 cell = ITEM; cell < CELLS; cell += ITEMS) {
            node_of[cell] = (u16)control[NODE_OF + cell];
        }
    }
    if (cells.kind == LEVELLED) {
        for (u32 stretch = ITEM; stretch < STRETCHES; stretch += ITEMS) {
            levels[stretch] = control[LEVELS + stretch];
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
            if (node_count > 0) {
                u32 node = node_of[bin];
                if (node > 0) {
                    bin = CELLS + part_of(bounds, nodes[node - 1], x[a]);
                }
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
