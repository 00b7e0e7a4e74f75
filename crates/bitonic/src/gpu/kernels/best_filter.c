/* `parts` groups for every row, or for every cell: see best.c. A group takes every parts-th round of its row, so that elements that come
   one after the other are shared by all, and keeps what passes in local memory until it has seen all. Lists are `capacity` places apart,
   and begin at `to`. */

/* What a work-item reads at once, and what a group does. */
#define READ 4
#define ROUND ((Index)READ * ITEMS)

/* The keys of this work-item in a round. */
FUNCTION void read_round(ARRAYS, Index row, Index column, Index length, Key *x)
{
    UNROLL for (u32 a = 0; a < READ; a++)
    {
        Index at = column + a * ITEMS + ITEM;
        if (at < length) {
            x[a] = keys[row + at];
        }
    }
}

KERNEL(ITEMS)
best_filter(ARRAYS, WORK_ARRAYS, GLOBAL u32 *counters, TABLE ROWS, Index bound_at, Index to, Index capacity,
            Index parts, u32 counted, u32 best, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    OWN_LOCAL_ARRAY(u32, found, 2);
    AFTER_PREVIOUS();
#if SEGMENTED
    Index cell = GROUP / parts;
    Owner owner = owner_of(cell, cell_length, offsets, segments, total, longest);
    if (owner.length == 0) {
        return;
    }
    Index number = owner.first_cell, length = owner.length, row = owner.begin;
    Index part = (cell - number) * parts + GROUP % parts, list = to + number * capacity;
    parts *= owner.cells;
    capacity *= owner.cells;
#else
    Index number = GROUP / parts, length = LENGTH_OF(number), row = from + number * stride;
    Index part = GROUP % parts, list = to + number * capacity;
    /* Where a list is spoilt, its bound is not used. */
    length = length < best || length > stride ? 0 : length;
#endif
    Element bound = load(WORK_NAMES, bound_at + number);
    Change change = change_of(ON_LOAD(mapping));
    Head last = head_of(bound);
    if (ITEM == 0) {
        found[0] = 0;
    }
    BARRIER();
    Key x[READ], next[READ];
    Index column = part * ROUND;
    read_round(ARRAY_NAMES, row, column, length, x);
    for (; column < length; column += parts * ROUND) {
        /* What comes next is under way while this is looked at. */
        read_round(ARRAY_NAMES, row, column + parts * ROUND, length, next);
        u32 passing = 0;
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            if (column + a * ITEMS + ITEM < length) {
                passing |= changed(HEAD(x[a]), change) <= last ? 1u << a : 0;
            }
        }
        if (passing > 0) {
            UNROLL for (u32 a = 0; a < READ; a++)
            {
                if (passing >> a & 1) {
                    Index at = column + a * ITEMS + ITEM;
#if INDEXED
                    Element element = element_of(x[a], (Value)at);
#else
                    Element element = element_of(x[a], values[row + at]);
#endif
                    element = to_ordered(element, ON_LOAD(mapping));
                    if (is_less(element, bound)) {
                        u32 place = ATOMIC_ADD(&found[0], 1);
                        if (place < TILE) {
                            tile[PADDED(place)] = element;
                        }
                    }
                }
            }
        }
        UNROLL for (u32 a = 0; a < READ; a++)
        {
            x[a] = next[a];
        }
    }
    BARRIER();
    u32 count = found[0];
    if (ITEM == 0) {
        if (count > TILE) {
            ATOMIC_OR(&counters[counted + number], SPOILT);
        }
        found[1] = count > 0 && count <= TILE ? ATOMIC_ADD(&counters[counted + number], count) : SPOILT;
    }
    BARRIER();
    LET_NEXT_START();
    u32 first = found[1];
    count = count <= TILE ? count : 0;
    for (u32 at = ITEM; at < count; at += ITEMS) {
        if (first + at < capacity) {
            store(WORK_NAMES, list + first + at, tile[PADDED(at)]);
        }
    }
}
