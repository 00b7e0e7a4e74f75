/* Takes the sample, and begins anew with `control`. Every group keeps the extremes of its share, and the bits that are set in indices. */

KERNEL(ITEMS)
survey(BUCKET_PARAMETERS)
{
    LOCAL_ARRAY(Element, smallest, LOCAL_ELEMENTS);
    LOCAL Element *largest = smallest + ITEMS;
    LOCAL u32 *seen = (LOCAL u32 *)(largest + ITEMS);
    if (ITEM < 2) {
        seen[ITEM] = 0;
    }
    BARRIER();
    AFTER_PREVIOUS();
    for (Index word = GROUP * ITEMS + ITEM; word < CLEARED; word += GROUPS * ITEMS) {
        control[word] = 0;
    }
    Element low = infinite(), high = zero();
    u64 values_seen = 0;
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        u32 number = ((u32)GROUP * HELD + a) * ITEMS + ITEM;
        Index place = sampled(number, SAMPLES, total);
        Element element = to_ordered(load_first(ARRAY_NAMES, place, place), ON_LOAD(mapping));
        WORK[SAMPLE_AT(number)] = element;
        low = is_less(element, low) ? element : low;
        high = is_less(high, element) ? element : high;
#if ORDERS_VALUES
        values_seen |= VALUE_IN(element);
#endif
    }
    if (ORDERS_VALUES) {
        OR_ALL(&seen[0], (u32)values_seen);
        OR_ALL(&seen[1], (u32)(values_seen >> 32));
    }
    find_extremes(smallest, largest, low, high);
    LET_NEXT_START();
    if (ITEM == 0) {
        WORK[EXTREME_AT(2 + 2 * GROUP)] = smallest[0];
        WORK[EXTREME_AT(3 + 2 * GROUP)] = largest[0];
        control[VALUES_SEEN + 2 * GROUP] = seen[0];
        control[VALUES_SEEN + 2 * GROUP + 1] = seen[1];
    }
}
