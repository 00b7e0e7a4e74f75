/* Sets all counters to 0. */

KERNEL(ITEMS)
tally_clear(TALLY_PARAMETERS)
{
    AFTER_PREVIOUS();
    for (u32 key = (u32)(GROUP * ITEMS) + ITEM; key < POSSIBLE; key += (u32)GROUPS * ITEMS) {
        control[key] = 0;
    }
    LET_NEXT_START();
}
