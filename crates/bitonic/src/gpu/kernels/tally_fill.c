/* Writes a tile of the result. The tile's first key is looked up. Every other key in it marks the place where it starts; each place then has
   the greatest mark up to it. */

/* Items read their marks one after the other: one unused word after each item's keeps them in different banks. */
#define MARK_AT(place) ((place) + ((place) >> HELD_LOG2))

/* Where the keys of a value start in the result; `chunk_starts` has one more than there are chunks. */
FUNCTION u32 start_of(GLOBAL const u32 *control, LOCAL const u32 *chunk_starts, u32 key)
{
    return chunk_starts[key >> CHUNK_LOG2] + (key < POSSIBLE ? control[key] : 0);
}

/* Writes down which key is at a place of the result: the one that starts there or before, and the next one behind. */
FUNCTION void look_up(GLOBAL const u32 *control, LOCAL const u32 *chunk_starts, u32 place, LOCAL u32 *found)
{
    u32 chunk = 0;
    for (u32 step = CHUNKS / 2; step > 0; step /= 2) {
        chunk += chunk_starts[chunk + step] <= place ? step : 0;
    }
    for (u32 number = ITEM; number < CHUNK; number += ITEMS) {
        u32 key = (chunk << CHUNK_LOG2) + number;
        if (start_of(control, chunk_starts, key) <= place && place < start_of(control, chunk_starts, key + 1)) {
            *found = key;
        }
    }
}

KERNEL(ITEMS)
tally_fill(TALLY_PARAMETERS)
{
    OWN_LOCAL_ARRAY(u32, chunk_starts, CHUNKS + 1);
    OWN_LOCAL_ARRAY(u32, marks, MARK_AT(TILE));
    OWN_LOCAL_ARRAY(u32, greatest, ITEMS);
    OWN_LOCAL_ARRAY(u32, found, 2);
    AFTER_PREVIOUS();
    for (u32 chunk = ITEM; chunk < CHUNKS; chunk += ITEMS) {
        greatest[chunk] = control[POSSIBLE + chunk]; /* how many there are, for now */
    }
    BARRIER();
    for (u32 chunk = ITEM; chunk <= CHUNKS; chunk += ITEMS) {
        u32 start = 0;
        for (u32 before = 0; before < chunk; before++) {
            start += greatest[before];
        }
        chunk_starts[chunk] = start;
    }
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        marks[MARK_AT(a * ITEMS + ITEM)] = 0;
    }
    BARRIER();
    Index start = GROUP * TILE;
    u32 length = total - start < TILE ? (u32)(total - start) : TILE;
    look_up(control, chunk_starts, (u32)start, &found[0]);
    look_up(control, chunk_starts, (u32)start + length - 1, &found[1]);
    BARRIER();
    u32 first = found[0], last = found[1];
    for (u32 key = first + 1 + ITEM; key <= last; key += ITEMS) {
        u32 begin = start_of(control, chunk_starts, key);
        if (begin < start_of(control, chunk_starts, key + 1)) {
            marks[MARK_AT(begin - (u32)start)] = key - first;
        }
    }
    BARRIER();
    u32 mark[HELD], most = 0;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        mark[a] = marks[MARK_AT(ITEM * HELD + a)];
        most = mark[a] > most ? mark[a] : most;
        mark[a] = most;
    }
    greatest[ITEM] = most;
    BARRIER();
    for (u32 distance = 1; distance < ITEMS; distance *= 2) {
        u32 before = ITEM >= distance ? greatest[ITEM - distance] : 0;
        BARRIER();
        greatest[ITEM] = before > greatest[ITEM] ? before : greatest[ITEM];
        BARRIER();
    }
    u32 before = ITEM > 0 ? greatest[ITEM - 1] : 0;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        marks[MARK_AT(ITEM * HELD + a)] = first + (mark[a] > before ? mark[a] : before);
    }
    BARRIER();
    LET_NEXT_START();
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 place = a * ITEMS + ITEM;
        if (place < length) {
            store(ARRAY_NAMES, start + place, from_ordered(marks[MARK_AT(place)], ON_STORE(mapping)));
        }
    }
}
