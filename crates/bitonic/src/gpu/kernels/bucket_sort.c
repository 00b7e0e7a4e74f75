/* Sorts every bucket and puts it to its place: a group for each.

   A few buckets are longer than a tile, but none is longer than two: these are sorted in two parts, and merged as the
   network does it, a flip of the one with the other and then half-cleaners in each. */

/* The sum of the numbers of all work-items. */
FUNCTION u32 sum_of_all(LOCAL u32 *sum, u32 number)
{
    if (ITEM == 0) {
        *sum = 0;
    }
    BARRIER();
    ADD_ALL(sum, number);
    BARRIER();
    u32 result = *sum;
    BARRIER();
    return result;
}

/* The sum of the lengths of the buckets before one. */
FUNCTION u32 start_of(GLOBAL u32 *control, LOCAL u32 *sum, u32 bucket)
{
    u32 before = 0;
    for (u32 number = ITEM; number < bucket; number += ITEMS) {
        before += control[LENGTHS + number];
    }
    return sum_of_all(sum, before);
}

/* A group's share of the places of an element that is more than one splitter. */
FUNCTION void fill(ALL_ARRAYS, GLOBAL u32 *control, u32 buckets, u32 capacity, u32 mapping, LOCAL u32 *sum, u32 bucket)
{
    Element element = SPLITTER(bucket);
    u32 less = 0, equal = 0;
    for (u32 number = ITEM; number + 1 < buckets; number += ITEMS) {
        less += is_less(SPLITTER(number), element);
        equal += is_equal(SPLITTER(number), element);
    }
    u32 first = sum_of_all(sum, less) + 1, groups = sum_of_all(sum, equal) - 1;
    u32 count = control[LENGTHS + first];
    u32 start = start_of(control, sum, first), end = start + count;
    u32 share = (count + groups - 1) / groups;
    start += (bucket - first) * share;
    end = start + share < end ? start + share : end;
    for (u32 place = start + ITEM; place < end; place += ITEMS) {
        store(ARRAY_NAMES, place, from_ordered(element, ON_STORE(mapping)));
    }
}

#define LOAD_PART(part, shift)                                                                                         \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        u32 place = (part)*TILE + place_of(a, shift, false);                                                           \
        x[a] = infinite();                                                                                             \
        if (place < count) {                                                                                           \
            x[a] = load(WORK_NAMES, from + place);                                                                     \
        }                                                                                                              \
    }

KERNEL(ITEMS)
bucket_sort(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    LOCAL u32 *sum = (LOCAL u32 *)tile;
    u32 bucket = (u32)GROUP;
    AFTER_PREVIOUS();
    u32 count = control[LENGTHS + bucket];
    if (control[FAILED] > 0) {
        return;
    }
    if (bucket > 0 && bucket + 1 < buckets && is_equal(SPLITTER(bucket - 1), SPLITTER(bucket))) {
        fill(ARRAY_NAMES, WORK_NAMES, control, buckets, capacity, mapping, sum, bucket);
        return;
    }
    Index from = (Index)bucket * capacity;
    u32 parts = count > TILE ? 2 : 1, part = parts - 1;
    Element x[HELD];
    LOAD_PART(part, STREAMED)
    Index start = start_of(control, sum, bucket);
    for (;;) {
        sort_tile(tile, x, TILE_LOG2);
        if (part == 0) {
            break;
        }
        /* The second part waits for the first, all of it, so that it has an infinite element for every place. All have loaded
           theirs. */
        GLOBAL_BARRIER();
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            store(WORK_NAMES, from + TILE + place_of(a, 0, false), x[a]);
        }
        part = 0;
        LOAD_PART(part, STREAMED)
    }
    if (parts > 1) {
        GLOBAL_BARRIER();
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            Index partner = from + 2 * TILE - 1 - place_of(a, 0, false);
            Element y = load(WORK_NAMES, partner);
            order(&x[a], &y);
            store(WORK_NAMES, partner, y);
        }
        GLOBAL_BARRIER();
    }
    LET_NEXT_START();
    for (part = 0; part < parts; part++) {
        if (part > 0) {
            BARRIER();
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                x[a] = load(WORK_NAMES, from + TILE + place_of(a, 0, false));
            }
        }
        if (parts > 1) {
            exchange(tile, x, 0, false, TOP_SHIFT, false);
            clean(x, HELD_LOG2);
            clean_tile(tile, x, TOP_SHIFT, TOP_SHIFT, false);
        }
        exchange(tile, x, 0, false, STREAMED, false);
        restore_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = part * TILE + place_of(a, STREAMED, false);
            if (place < count) {
                store(ARRAY_NAMES, start + place, x[a]);
            }
        }
    }
}
