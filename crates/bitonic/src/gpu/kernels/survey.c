/* Takes the sample, and begins anew with `control`. Every group keeps the extremes of its share. */

KERNEL(ITEMS)
survey(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, smallest, LOCAL_ELEMENTS);
    LOCAL Element *largest = smallest + ITEMS;
    AFTER_PREVIOUS();
    for (Index word = GROUP * ITEMS + ITEM; word < CLEARED; word += GROUPS * ITEMS) {
        control[word] = 0;
    }
    Element low = infinite(), high = zero();
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 number = ((u32)GROUP * HELD + a) * ITEMS + ITEM;
        Index place = sampled(number, SAMPLES, total);
        Element element = to_ordered(load_first(ARRAY_NAMES, place, place), ON_LOAD(mapping));
        WORK[SAMPLE_AT(number)] = element;
        low = is_less(element, low) ? element : low;
        high = is_less(high, element) ? element : high;
    }
    find_extremes(smallest, largest, low, high);
    LET_NEXT_START();
    if (ITEM == 0) {
        WORK[EXTREME_AT(2 + 2 * GROUP)] = smallest[0];
        WORK[EXTREME_AT(3 + 2 * GROUP)] = largest[0];
    }
}
