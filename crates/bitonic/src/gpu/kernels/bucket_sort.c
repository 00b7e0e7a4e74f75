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

/* More long buckets than anything but keys made for it bring about: then the order does not matter. */
#define MOST_LONG 128

/* The bucket of this group. Those longer than a tile come first: they take more than twice as long as the others, and if a group began with
   one when most groups had ended, all would wait for it. */
FUNCTION u32 bucket_of_group(GLOBAL u32 *control, LOCAL u32 *found, u32 buckets, u32 longs)
{
    u32 group = (u32)GROUP;
    if (group < longs) {
        return control[LONG_BUCKETS + group];
    }
    /* Of the others it is number group - longs: as many places further on as there are long ones before it. */
    for (u32 further = ITEM; further <= longs; further += ITEMS) {
        u32 bucket = group - longs + further, before = 0;
        bool is_long = false;
        for (u32 number = 0; number < longs; number++) {
            u32 other = control[LONG_BUCKETS + number];
            before += other < bucket;
            is_long = is_long || other == bucket;
        }
        if (before == further && !is_long) {
            *found = bucket;
        }
    }
    BARRIER();
    u32 bucket = *found;
    BARRIER();
    return bucket;
}

/* Sorts a tile whose first `count` places hold elements, and all others infinite ones: where there are only these, nothing is to be done
   but to arrive at the barriers, which others may be waiting at. */
#if BARRIERS_MEET_ANYWHERE && LEAVES_OUT
/* Whether any element is in the run of 2^bits places of this work-item, or of its warp if that has more. */
FUNCTION bool is_filled(int bits, u32 count)
{
    int part = bits < HELD_LOG2 + 5 ? HELD_LOG2 + 5 : bits;
    return ITEM >> (part - HELD_LOG2) << part < count;
}

/* The barriers of merge_tile. */
FUNCTION void merge_nothing(int bits)
{
    int from = bits - HELD_LOG2;
    BARRIER_OF(1 << from);
    UNROLL for (int round = (bits - HELD_LOG2 - 1) / HELD_LOG2; round >= 0; round--)
    {
        BARRIER_OF(1 << from);
        from = round * HELD_LOG2;
    }
}

FUNCTION void sort_filled(LOCAL Element *tile, Element *x, u32 count)
{
    if (is_filled(HELD_LOG2, count)) {
        sort_registers(x, HELD_LOG2);
    }
    UNROLL_MERGES for (int bits = HELD_LOG2 + 1; bits <= TILE_LOG2; bits++)
    {
        if (is_filled(bits, count)) {
            merge_tile(tile, x, bits);
        } else {
            merge_nothing(bits);
        }
    }
}
#else
FUNCTION void sort_filled(LOCAL Element *tile, Element *x, u32 count)
{
    sort_tile(tile, x, TILE_LOG2);
}
#endif

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
    AFTER_PREVIOUS();
    /* All under way at the same time. */
    u32 failed = control[FAILED], longs = control[LONG_COUNT], bucket = (u32)GROUP, count = control[LENGTHS + bucket];
    if (failed > 0) {
        return;
    }
    if (longs > 0 && longs <= MOST_LONG) {
        bucket = bucket_of_group(control, sum, buckets, longs);
        count = control[LENGTHS + bucket];
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
        sort_filled(tile, x, count - part * TILE);
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
