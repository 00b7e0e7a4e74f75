/* Segments of any lengths, which a table of offsets on the device tells: segment s is from offsets[s] to offsets[s + 1].

   Nothing is known of the lengths when the kernels are launched, and nobody looks at them on the host. The first two kernels put
   every segment into a list, by how it is sorted:

       up to 2^LARGEST_LOG2 elements    lists by class: class c has segments of up to 2^c elements that the class before does not have;
                                        classes are CLASS_STEP apart. They are sorted as rows are, several in a tile, by one launch
                                        for every class.
       longer ones                      a list of their tiles, all of one segment one after the other. The tiles are sorted, and
                                        merged in rounds, two runs to one, from the arrays to the working memory or back.

   A segment of t tiles takes as many rounds as t - 1 has binary digits, and is where it belongs after the last. So its
   tiles are sorted into the arrays where that number is even, and else into the working memory.

   `control` is, in words:

       0                where the list of every class begins, and where that of the last one ends
       TILE_COUNT       how many tiles there are
       ROUNDS           a bit for every round that some segment takes
       COUNTS           what each group of the first kernel counted
       LIST             the lists of the classes: numbers of segments
       TILES            the tiles, at most `most_tiles`: the number of the segment, and which of its tiles it is
       SPLITS           for every tile of a merge, how many elements of the first run come before it: an Index each

   The plan gives COUNTS, and GROUP_COUNT, the groups of the first two kernels. */

#define LARGEST (1u << LARGEST_LOG2)

/* What a group counts: the segments of every class, the tiles of longer ones, and the rounds that these take. */
#define COLUMNS (LARGEST_LOG2 + 2)
#define TILE_COLUMN LARGEST_LOG2
#define ROUND_COLUMN (LARGEST_LOG2 + 1)

#define TILE_COUNT (LARGEST_LOG2 + 1)
#define ROUNDS (LARGEST_LOG2 + 2)

#define LIST (COUNTS + GROUP_COUNT * COLUMNS)
#define TILES (LIST + segments)
#define SPLITS ((TILES + 2 * most_tiles + 1) / 2 * 2)

/* `round` counts from 1 and is for merges only. */
#define SEGMENT_PARAMETERS                                                                                             \
    ALL_ARRAYS, GLOBAL u32 *control, GLOBAL const Offset *offsets, u32 segments, Index total, Index longest,           \
        u32 most_tiles, u32 round, u32 mapping

/* The segments of a group of the first two kernels: from `first` to `end`. */
#define SHARE_OF_GROUP                                                                                                 \
    u32 share = (segments + GROUP_COUNT - 1) / GROUP_COUNT;                                                            \
    u32 first = (u32)GROUP * share, end = first + share < segments ? first + share : segments;

/* The class of a short segment that is not empty. */
FUNCTION u32 class_of(Index length)
{
    u32 log2 = length > 2 ? 32 - LEADING_ZEROS((u32)length - 1) : 1;
    u32 class_log2 = (log2 + CLASS_STEP - 1) / CLASS_STEP * CLASS_STEP;
    return class_log2 < LARGEST_LOG2 ? class_log2 : LARGEST_LOG2;
}

/* The tiles of a long segment, and the rounds that these are merged in. */
FUNCTION u32 tiles_of(Index length)
{
    return (u32)((length + LARGEST - 1) >> LARGEST_LOG2);
}

FUNCTION u32 rounds_of(Index length)
{
    return 32 - LEADING_ZEROS(tiles_of(length) - 1);
}

/* Where the elements of a long segment are when so many rounds are still to come. */
#define IS_IN_WORK(rounds_left) (((rounds_left)&1) != 0)
