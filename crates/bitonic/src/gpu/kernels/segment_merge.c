/* What the kernels of a round know about a tile of a merge. In round r, runs of 2^(r-1) tiles become runs of 2^r. */

typedef struct {
    /* Where the first run begins in the arrays, and how many elements the two have. */
    Index begin, first_length, second_length;
    /* How many elements of the two come before the tile. */
    Index before;
    /* How many rounds come after this one. */
    u32 rounds_left;
    /* Whether its segment takes part at all. */
    bool is_merged;
} Merge;

/* Whether any segment takes part in a round. */
#define IS_USED(round) (control[ROUNDS] >> ((round)-1) & 1)

FUNCTION Merge merge_of_tile(GLOBAL const u32 *control, GLOBAL const Offset *offsets, u32 segments, Index total,
                             Index longest, u32 round, u32 number)
{
    Merge merge;
    merge.begin = merge.first_length = merge.second_length = merge.before = 0;
    merge.rounds_left = 0;
    merge.is_merged = false;
    if (IS_USED(round) && number < control[TILE_COUNT]) {
        u32 segment = control[TILES + 2 * number];
        Index length = length_of(offsets, total, longest, segment);
        Index place = (Index)control[TILES + 2 * number + 1] << LARGEST_LOG2;
        u32 rounds = rounds_of(length);
        merge.is_merged = rounds >= round && place < length;
        if (merge.is_merged) {
            Index run = (Index)1 << (LARGEST_LOG2 + round - 1);
            Index start = place >> (LARGEST_LOG2 + round) << (LARGEST_LOG2 + round);
            Index left = length - start;
            merge.rounds_left = rounds - round;
            merge.begin = (Index)offsets[segment] + start;
            merge.before = place - start;
            merge.first_length = left < run ? left : run;
            left -= merge.first_length;
            merge.second_length = left < run ? left : run;
        }
    }
    return merge;
}

/* An element of the arrays, or of the working memory. */
FUNCTION Element element_in(ALL_ARRAYS, bool in_work, Index place)
{
    if (in_work) {
        return load(WORK_NAMES, place);
    }
    return load(ARRAY_NAMES, place);
}
