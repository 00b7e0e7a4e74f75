/* Searches: a group finds out what comes first among the levels that its work-items hold, SEARCHED each, without sorting them. A level is an
   unsigned integer of LEVEL_BITS bits, 32 or 64: a key, or a word of an element. */

#if SEARCHED
/* The highest 32 bits of a level, or all. */
#if LEVEL_BITS == 64
typedef u64 Level;
#define TOP_OF(level) ((u32)((level) >> 32))
#define FIRST_OF(top) ((u64)(top) << 32)
#define LAST_OF(top) ((u64)(top) << 32 | 0xffffffffu)
#else
typedef u32 Level;
#define TOP_OF(level) (level)
#define FIRST_OF(top) (top)
#define LAST_OF(top) (top)
#endif

/* What a search needs in local memory: the ends of its range, and a sum for every round. Every second round halves the range, and there are
   two guesses. */
#define ENDS 3
#define SEARCH_WORDS (ENDS + 2 * LEVEL_BITS + 2)

/* Levels up to `level` pass: so many do, of which this work-item holds `held`. Where more pass than should, `below` are less than it. */
typedef struct {
    Level level;
    u32 passing, held, below;
} Found;

/* Adds the numbers of all work-items, in a place of local memory that is used for nothing else. */
FUNCTION u32 sum_of_group(LOCAL u32 *sum, u32 number)
{
    ADD_ALL(sum, number);
    BARRIER();
    return *sum;
}

/* Looks for a level that at least `least` levels pass, and no more than `most`: by halving its range. More pass where there is none, because
   equal levels pass together: then the least level that is high enough is found. The highest of all integers is not tried: `all` pass it,
   of which this work-item holds `held`. So places that take no part have that one. */
FUNCTION Found find_level(const Level *levels, u32 all, u32 held, u32 least, u32 most, LOCAL u32 *sums)
{
    BARRIER();
    for (u32 place = ITEM; place < SEARCH_WORDS; place += ITEMS) {
        sums[place] = 0;
    }
    /* Not many levels pass the highest of the lowest that work-items have: this is the first guess. All pass the highest one but those that
       are the highest of all: this is the second, where too few pass the first. */
    u32 lowest = 0xffffffffu, highest = 0;
    UNROLL for (u32 a = 0; a < SEARCHED; a++)
    {
        u32 top = TOP_OF(levels[a]);
        lowest = top < lowest ? top : lowest;
        highest = top + 1 > highest ? top + 1 : highest;
    }
    BARRIER();
    MAX_ALL(&sums[0], ~lowest);
    MAX_ALL(&sums[1], highest);
    MAX_ALL(&sums[2], lowest);
    BARRIER();
    Level low = FIRST_OF(~sums[0]), high = (Level)~(Level)0;
    Level middle = LAST_OF(sums[2]), next = LAST_OF(sums[1] - 1);
    sums += ENDS;
    Found found = {high, all, held, 0};
    for (bool halve = false; found.passing > most && low < high; halve = !halve) {
        if (middle < low || middle >= high) {
            /* Where it would be if levels were even between both ends. */
            float share = halve ? 0.5f : (0.5f * (least + most) - found.below) / (found.passing - found.below);
            middle = low + (Level)((float)(high - low) * share);
            middle = middle < high ? middle : high - 1;
        }
        u32 held_here = 0;
        UNROLL for (u32 a = 0; a < SEARCHED; a++)
        {
            held_here += levels[a] <= middle;
        }
        u32 passing = sum_of_group(sums++, held_here);
        if (passing >= least) {
            found.passing = passing;
            found.held = held_here;
            high = middle;
        } else {
            found.below = passing;
            low = middle + 1;
        }
        middle = next;
        next = high;
    }
    found.level = high;
    return found;
}
#endif
