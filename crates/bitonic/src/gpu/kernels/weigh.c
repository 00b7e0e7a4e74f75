/* Counts the sample by cell, once with linear cells and once with logarithmic ones. All groups find the extremes of the sample; the
   first one writes them down. */

KERNEL(ITEMS)
weigh(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, extremes, LOCAL_ELEMENTS);
    AFTER_PREVIOUS();
    /* Work-items of even number look for the smallest, those of odd number for the largest. */
    bool odd = ITEM & 1;
    Element best = odd ? zero() : infinite();
    for (u32 number = ITEM; number < EXTREMES - 2; number += ITEMS) {
        Element other = WORK[EXTREME_AT(2 + number)];
        bool better = odd ? is_less(best, other) : is_less(other, best);
        best = better ? other : best;
    }
    extremes[ITEM] = best;
    BARRIER();
    for (u32 distance = ITEMS / 2; distance > 1; distance /= 2) {
        if (ITEM < distance) {
            Element other = extremes[ITEM + distance];
            bool better = odd ? is_less(extremes[ITEM], other) : is_less(other, extremes[ITEM]);
            if (better) {
                extremes[ITEM] = other;
            }
        }
        BARRIER();
    }
    LET_NEXT_START();
    if (GROUP == 0 && ITEM < 2) {
        WORK[EXTREME_AT(ITEM)] = extremes[ITEM];
    }
    Cells linear = sampled_cells(extremes[0], extremes[1], cell_count, LINEAR);
    Cells logarithmic = sampled_cells(extremes[0], extremes[1], CELLS, LOGARITHMIC);
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 number = ((u32)GROUP * HELD + a) * ITEMS + ITEM;
        Element element = WORK[SAMPLE_AT(number)];
        COUNT_ONE(control + WEIGHTS, linear_cell_of(linear, element));
        COUNT_ONE(control + WEIGHTS + CELLS, cell_of(logarithmic, 0, element));
    }
}
