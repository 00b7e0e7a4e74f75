/* Merges the part of two runs that belongs into a tile: what the first run has for it, infinite elements, and what the second one has, the
   other way round. That rises and then falls, so that half-cleaners sort it. A group takes one tile after the other. */

KERNEL(ITEMS)
segment_tile_merge(SEGMENT_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    AFTER_PREVIOUS();
    u32 tiles = IS_USED(round) ? control[TILE_COUNT] : 0, number = (u32)GROUP;
    GLOBAL const Index *splits = (GLOBAL const Index *)(control + SPLITS);
    for (; number < tiles; number += (u32)GROUPS) {
        Merge merge = merge_of_tile(control, offsets, segments, total, longest, round, number);
        Index first = 0, second = 0, target = merge.begin + merge.before;
        bool is_last = merge.rounds_left == 0, to_work = IS_IN_WORK(merge.rounds_left), from_work = !to_work;
        u32 of_first = 0, of_second = 0;
        if (merge.is_merged) {
            Index both = merge.first_length + merge.second_length, end = merge.before + TILE;
            first = splits[number];
            second = merge.before - first;
            /* The next tile of the two runs is the next one of the list. Where segments overlap, which none should, runs are not in order
               and it may say anything: what is read stays within the runs. */
            Index first_end = end < both && number + 1 < tiles ? splits[number + 1] : merge.first_length;
            end = end < both ? end : both;
            first_end = first_end < first ? first : first_end;
            first_end = first_end > first + (end - merge.before) ? first + (end - merge.before) : first_end;
            of_first = (u32)(first_end - first);
            of_second = (u32)(end - first_end - second);
            of_second = of_second > merge.second_length - second ? (u32)(merge.second_length - second) : of_second;
            first += merge.begin;
            second += merge.begin + merge.first_length;
        }
        Element x[HELD];
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = place_of(a, TOP_SHIFT, false);
            x[a] = infinite();
            if (place < of_first) {
                x[a] = element_in(ARRAY_NAMES, WORK_NAMES, from_work, first + place);
            } else if (TILE - 1 - place < of_second) {
                x[a] = element_in(ARRAY_NAMES, WORK_NAMES, from_work, second + (TILE - 1 - place));
            }
        }
        clean(x, HELD_LOG2);
        clean_tile(tile, x, TOP_SHIFT, TOP_SHIFT, false, ALL_WORK);
        exchange(tile, x, 0, false, STREAMED, false, ALL_WORK);
        restore_keys(x, is_last ? mapping : 0);
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = place_of(a, STREAMED, false);
            if (place < of_first + of_second) {
                if (to_work) {
                    store(WORK_NAMES, target + place, x[a]);
                } else {
                    store(ARRAY_NAMES, target + place, x[a]);
                }
            }
        }
        BARRIER();
    }
}
