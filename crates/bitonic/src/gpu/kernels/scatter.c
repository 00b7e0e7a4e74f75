/* Every element to its bucket. A group takes TILE elements, puts them in the order of their buckets in local memory, and
   writes those of each bucket together, to places that it has reserved for them. */

#define TREE (1 << TREE_LOG2) /* at least as many as there are buckets */
#define NOWHERE TREE          /* the bucket of what is past the end */

/* Local memory: the splitters as a search tree; the elements by bucket, and the bucket of each; for every bucket how many
   there are, then where they start; where they go; and whether they are counted only, a bit each. */
#define STAGED_ELEMENTS (TREE + TILE)
#define SCATTER_WORDS (2 * TREE + 1 + (TREE + 31) / 32)
/* The plan gives LOCAL_ELEMENTS, which hold all of these. */
typedef char local_memory_is_enough
    [LOCAL_ELEMENTS * sizeof(Element) >= STAGED_ELEMENTS * sizeof(Element) + SCATTER_WORDS * 4 + TILE * 2 ? 1 : -1];

#define IS_SINGLE(bucket) (singles[(bucket) / 32] >> (bucket) % 32 & 1)

/* A bucket's elements are not to be moved. Places are below 2^31. */
#define STAYS (1u << 31)

/* Replaces the counts of buckets by their sums before each, and reserves places for them. */
#define EACH (TREE > ITEMS ? TREE / ITEMS : 1)

FUNCTION void reserve(GLOBAL u32 *control, u32 buckets, u32 capacity, LOCAL u32 *counts, LOCAL u32 *targets,
                      LOCAL const u32 *singles, LOCAL u32 *sums)
{
    /* Each work-item adds up a few neighbours; these sums are added up in rounds. */
    u32 first = ITEM * EACH, sum = 0;
    u32 count[EACH], before[EACH];
    UNROLL for (u32 b = 0; b < EACH; b++)
    {
        count[b] = first < TREE ? counts[first + b] : 0;
        sum += count[b];
    }
    /* All under way at the same time. */
    UNROLL for (u32 b = 0; b < EACH; b++)
    {
        before[b] = 0;
        if (count[b] > 0) {
            before[b] = ATOMIC_ADD(&control[LENGTHS + first + b], count[b]);
        }
    }
    sums[ITEM] = sum;
    BARRIER();
    LOCAL u32 *from = sums, *to = sums + ITEMS;
    UNROLL for (u32 distance = 1; distance < ITEMS; distance *= 2)
    {
        to[ITEM] = from[ITEM] + (ITEM >= distance ? from[ITEM - distance] : 0);
        BARRIER();
        LOCAL u32 *swapped = from;
        from = to;
        to = swapped;
    }
    u32 start = from[ITEM] - sum;
    if (first < TREE) {
        UNROLL for (u32 b = 0; b < EACH; b++)
        {
            u32 bucket = first + b;
            bool moves = !IS_SINGLE(bucket), fits = before[b] + count[b] <= capacity;
            if (moves && !fits) {
                ATOMIC_ADD(&control[FAILED], 1);
            }
            /* It has become longer than a tile just now. */
            if (moves && before[b] <= capacity / 2 && before[b] + count[b] > capacity / 2) {
                control[LONG_BUCKETS + ATOMIC_ADD(&control[LONG_COUNT], 1)] = bucket;
            }
            targets[bucket] = moves && fits ? bucket * capacity + before[b] + TILE - start : STAYS;
            counts[bucket] = start;
            start += count[b];
        }
    }
    BARRIER();
}

/* The node of a splitter: its number plus one is an odd number times a power of two, and the latter says the level. */
FUNCTION u32 node_of(u32 splitter)
{
    u32 number = splitter + 1, lowest = number & -number;
    return (number | TREE) / (2 * lowest);
}

#define LOAD_ELEMENTS(start)                                                                                           \
    UNROLL for (u32 a = 0; a < HELD; a++)                                                                              \
    {                                                                                                                  \
        Index place = (start) + a * ITEMS + ITEM;                                                                      \
        x[a] = zero();                                                                                                 \
        if (place < total) {                                                                                           \
            x[a] = load_first(ARRAY_NAMES, place, place);                                                                    \
        }                                                                                                              \
    }

KERNEL(ITEMS)
scatter(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, tree, LOCAL_ELEMENTS);
    LOCAL Element *staged = tree + TREE;
    LOCAL u32 *counts = (LOCAL u32 *)(tree + STAGED_ELEMENTS); /* and one of NOWHERE */
    LOCAL u32 *targets = counts + TREE + 1;
    LOCAL u32 *singles = targets + TREE;
    LOCAL u16 *bucket_of = (LOCAL u16 *)(counts + SCATTER_WORDS);
    Element x[HELD];
    u32 node[HELD];
    for (u32 number = ITEM; number < (TREE + 31) / 32; number += ITEMS) {
        singles[number] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    Index start = GROUP * TILE;
    LOAD_ELEMENTS(start)
    /* The children of node i are 2i and 2i + 1: nodes of a level are neighbours, so that work-items that look at different
       ones find them in different banks. Nodes past the last splitter are infinite: nothing is after them. */
    UNROLL for (u32 number = ITEM; number < TREE; number += ITEMS)
    {
        u32 level = 31 - LEADING_ZEROS(number | 1);
        u32 in_order = ((2 * (number - (1u << level)) + 1) << (TREE_LOG2 - 1 - level)) - 1;
        Element here = infinite();
        if (number > 0 && in_order + 1 < buckets) {
            here = SPLITTER(in_order);
            if (in_order + 2 < buckets && is_equal(here, SPLITTER(in_order + 1))) {
                ATOMIC_OR(&singles[(in_order + 1) / 32], 1u << (in_order + 1) % 32);
            }
        }
        tree[number] = here;
    }
    while (start < total) {
        u32 length = total - start < TILE ? (u32)(total - start) : TILE;
        for (u32 number = ITEM; number <= TREE; number += ITEMS) {
            counts[number] = 0;
        }
        BARRIER();
        order_keys(x, mapping);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            node[a] = 1;
        }
        UNROLL for (int level = 0; level < TREE_LOG2; level++)
        {
            UNROLL for (u32 a = 0; a < HELD; a++)
            {
                node[a] = 2 * node[a] + is_less(tree[node[a]], x[a]);
            }
        }
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 bucket = node[a] - TREE;
            if (bucket + 1 < TREE && IS_SINGLE(bucket + 1) && is_equal(tree[node_of(bucket)], x[a])) {
                bucket++;
            }
            bucket = a * ITEMS + ITEM < length ? bucket : NOWHERE;
            /* The number within the bucket fits 16 bits as the bucket does. */
            node[a] = bucket << 16 | COUNT_ONE(counts, bucket);
        }
        BARRIER();
        reserve(control, buckets, capacity, counts, targets, singles, (LOCAL u32 *)staged);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 bucket = node[a] >> 16;
            if (bucket != NOWHERE) {
                u32 place = counts[bucket] + (node[a] & 0xffffu);
                staged[place] = x[a];
                bucket_of[place] = (u16)bucket;
            }
        }
        /* The next elements are under way while these are written. */
        start += GROUPS * TILE;
        LOAD_ELEMENTS(start)
        BARRIER();
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = a * ITEMS + ITEM;
            u32 target = place < length ? targets[bucket_of[place]] : STAYS;
            if (target != STAYS) {
                store(WORK_NAMES, target + place - TILE, staged[place]);
            }
        }
        BARRIER();
    }
}
