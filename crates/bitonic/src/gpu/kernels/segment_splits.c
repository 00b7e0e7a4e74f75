/* Finds, for every tile of a merge, how many elements of the first run come before it: a work-item each. */

KERNEL(ITEMS)
segment_splits(SEGMENT_PARAMETERS)
{
    AFTER_PREVIOUS();
    for (u32 number = (u32)GROUP * ITEMS + ITEM; number < control[TILE_COUNT]; number += (u32)GROUPS * ITEMS) {
        Merge merge = merge_of_tile(control, offsets, segments, total, longest, round, number);
        Index before = merge.before, second_begin = merge.begin + merge.first_length, low = 0;
        bool in_work = IS_IN_WORK(merge.rounds_left + 1);
        Index high = before < merge.first_length ? before : merge.first_length;
        while (merge.is_merged && low < high) {
            /* With `middle` elements of the first run before the tile, so many of the second are there, but one: */
            Index middle = low + (high - low) / 2, other = before - 1 - middle;
            bool is_too_many = false;
            if (other < merge.second_length) {
                Element first = element_in(ARRAY_NAMES, WORK_NAMES, in_work, merge.begin + middle);
                Element second = element_in(ARRAY_NAMES, WORK_NAMES, in_work, second_begin + other);
                is_too_many = is_less(second, first);
            }
            low = is_too_many ? low : middle + 1;
            high = is_too_many ? middle : high;
        }
        ((GLOBAL Index *)(control + SPLITS))[number] = low;
    }
}
