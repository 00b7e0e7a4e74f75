/* Counts the sample by cell, once with linear cells and once with logarithmic ones. All groups find the extremes of the sample, and how
   many bits its indices have; the first one writes them down. */

KERNEL(ITEMS)
weigh(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, extremes, LOCAL_ELEMENTS);
    LOCAL u32 *seen = (LOCAL u32 *)(extremes + ITEMS);
    if (ITEM < 2) {
        seen[ITEM] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    for (u32 word = ITEM; ORDERS_VALUES && word < EXTREMES - 2; word += ITEMS) {
        ATOMIC_OR(&seen[word % 2], control[VALUES_SEEN + word]);
    }
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
    u32 value_bits = seen[1] > 0 ? 64 - LEADING_ZEROS(seen[1]) : seen[0] > 0 ? 32 - LEADING_ZEROS(seen[0]) : 0;
    LET_NEXT_START();
    if (GROUP == 0 && ITEM < 2) {
        WORK[EXTREME_AT(ITEM)] = extremes[ITEM];
        control[VALUE_WIDTH] = value_bits;
    }
    Cells linear = sampled_cells(extremes[0], extremes[1], value_bits, cell_count, LINEAR);
    Cells logarithmic = sampled_cells(extremes[0], extremes[1], value_bits, CELLS, LOGARITHMIC);
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 number = ((u32)GROUP * HELD + a) * ITEMS + ITEM;
        Element element = WORK[SAMPLE_AT(number)];
        COUNT_ONE(control + WEIGHTS, linear_cell_of(linear, element));
        COUNT_ONE(control + WEIGHTS + CELLS, logarithmic_cell_of(logarithmic, element));
    }
}
