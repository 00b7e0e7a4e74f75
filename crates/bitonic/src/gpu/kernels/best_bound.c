/* One group for every row, or for every cell: see best.c. Bounds go to `bound_at`. At least `rank` elements of the sample come before a bound,
   and not many more: it is found sooner if it need not be a certain one. */

/* As the plan reckons it. */
#define MOST_OF_RANK(rank) ((rank) + (rank) / 4 + 2)

/* A word of an element, the highest first. */
#if ELEMENT_WORDS == 1
#define WORD_OF(element, w) (element)
#elif ELEMENT_WORDS == 2
#define WORD_OF(element, w) ((w) == 0 ? (element).word[0] : (element).word[1])
#else
#define WORD_OF(element, w) ((w) == 0 ? (element).word[0] : (w) == 1 ? (element).word[1] : (element).word[2])
#endif

/* An element that at least `least` of those that the group holds come up to, and no more than `most`. The words of elements are levels; where
   too many elements have the same one, the next word decides among these. */
FUNCTION Element find_bound(const Element *x, u32 least, u32 most, LOCAL u32 *sums)
{
    Element bound = infinite();
    Level levels[SEARCHED];
    u32 passing = TILE, held = SEARCHED;
    UNROLL for (u32 a = 0; a < SEARCHED; a++)
    {
        levels[a] = WORD_OF(x[a], 0);
    }
    for (u32 w = 0; w < ELEMENT_WORDS && passing > most; w++) {
        Found found = find_level(levels, passing, held, least, most, sums);
#if ELEMENT_WORDS == 1
        bound = found.level;
#else
        UNROLL for (u32 v = 0; v < ELEMENT_WORDS; v++)
        {
            bound.word[v] = v == w ? found.level : bound.word[v];
        }
#endif
        held = 0;
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            bool takes_part = true;
            UNROLL for (u32 v = 0; v < ELEMENT_WORDS; v++)
            {
                takes_part &= v > w || WORD_OF(x[a], v) == WORD_OF(bound, v);
            }
            held += takes_part;
            levels[a] = takes_part ? WORD_OF(x[a], w + 1) : (Level)~(Level)0;
        }
        passing = found.passing > most ? found.passing - found.below : 0;
        least -= found.below;
        most -= found.below;
    }
    return bound;
}

KERNEL(ITEMS)
best_bound(ARRAYS, WORK_ARRAYS, GLOBAL u32 *counters, TABLE ROWS, Index bound_at, u32 counted, u32 best, u32 rank,
           u32 mapping)
{
    OWN_LOCAL_ARRAY(u32, sums, SEARCH_WORDS);
    Element x[SEARCHED];
    AFTER_PREVIOUS();
    /* Of every LEAST_OF elements of the sample only the least is held: the bound is among the first, and few of these share one. They
       are far from each other, because neighbours in rows that are sorted already would all be among the first. */
#if SEGMENTED
    Owner owner = owner_of(GROUP, cell_length, offsets, segments, total, longest);
    if (owner.length == 0 || owner.first_cell != GROUP) {
        return;
    }
    Index length = owner.length, row = owner.begin;
    bool is_spoilt = false;
    /* The longer the segment, the larger the sample, and the lower the rank: as the plan reckons it, for a segment of this length. */
    u32 least_of = owner.cells < MOST_LEAST_OF / LEAST_OF ? (u32)owner.cells * LEAST_OF : MOST_LEAST_OF;
    u32 samples = TILE * least_of;
    float mean = (float)samples * (float)best / (float)length;
    u32 rank_here = (u32)(mean + 4.5f * sqrt(mean) + 5.0f);
    rank = rank_here < rank ? rank_here : rank;
#else
    Index length = LENGTH_OF(GROUP), row = from + GROUP * stride;
    bool is_spoilt = length < best || length > stride;
    length = is_spoilt ? 0 : length;
    u32 least_of = LEAST_OF, samples = TILE * LEAST_OF;
#endif
    UNROLL for (u32 a = 0; a < SEARCHED; a++)
    {
        x[a] = infinite();
    }
    for (u32 other = 0; other < least_of; other++) {
        /* All loads first, so that they are under way at the same time. A list may be shorter than the sample. Then all of it passes. */
        Element sample[SEARCHED];
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            u32 number = other * TILE + a * ITEMS + ITEM;
            Index column = sampled(number, samples, length > samples ? length : samples);
            sample[a] = column < length ? load_first(ARRAY_NAMES, row + column, column) : infinite();
        }
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            sample[a] = to_ordered(sample[a], ON_LOAD(mapping));
            order(&x[a], &sample[a]);
        }
    }
    Element bound = find_bound(x, rank + 1, MOST_OF_RANK(rank), sums);
    if (ITEM == 0) {
        /* In a sample that has places without elements no bound is right. */
        bound = length > samples ? bound : infinite();
        store(WORK_NAMES, bound_at + GROUP, bound);
        counters[counted + GROUP] = is_spoilt ? SPOILT : 0;
    }
}
