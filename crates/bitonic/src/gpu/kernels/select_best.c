/* The best elements of every row: the first `best` of its order.

   A row has `parts` parts of `part_length` places, the last of which may be shorter. A group goes through one part and keeps the elements
   that may still be among the best in local memory. There is room for a tile of them. When the next round might not find room, they are
   sorted, the first `best` stay, and from then on an element has to come before the last of these to be kept: of elements in no
   particular order nearly none do, and the group does little else than read.

       kept     [ best, sorted | found since, in any order |  room  ]
       bound      last of best

   What a group leaves is a part of a row for the next launch, which reads elements where the first one reads keys. No two elements are
   equal, since their indices differ, so there is one answer. A part with fewer elements leaves infinite ones behind them, which no bound
   lets pass. The row's places begin at `from` in the arrays that are read; the best of the first part of the first row go to `to`. */

/* What a work-item reads in a round, and what a group does. There is room for two rounds at least: best <= TILE - ROUND, as the plan sees to. */
#define READ (HELD / 2)
#define ROUND ((Index)READ * ITEMS)

KERNEL(ITEMS)
select_best(ARRAYS, WORK_ARRAYS, Index row_length, Index part_length, Index parts, Index from, Index to, u32 best, u32 mapping)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    OWN_LOCAL_ARRAY(u32, found, 1);
    Index row = from + GROUP / parts * row_length;
    Index place = GROUP % parts * part_length;
    Index end = row_length - place < part_length ? row_length : place + part_length;
    Element bound = infinite();
    u32 count = 0;
    if (ITEM == 0) {
        found[0] = 0;
    }
    AFTER_PREVIOUS();
    BARRIER();
    for (bool more = true; more;) {
        for (bool room = true; room;) {
            Element x[READ];
            u32 passing = 0;
            UNROLL for (u32 a = 0; a < READ; a++)
            {
                Index column = place + a * ITEMS + ITEM;
                x[a] = infinite();
                if (column < end) {
                    x[a] = to_ordered(load_first(ARRAY_NAMES, row + column, column), ON_LOAD(mapping));
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
    LET_NEXT_START();
    for (u32 at = ITEM; at < best; at += ITEMS) {
        store(WORK_NAMES, to + GROUP * best + at, from_ordered(tile[PADDED(at)], ON_STORE(mapping)));
    }
}
