/* The verdict on a sort, by one group: see verify.c. What was wrong with an earlier sort stays in it. */

KERNEL(ITEMS)
verify_compare(GLOBAL u64 *words, u32 groups)
{
    OWN_LOCAL_ARRAY(u64, room, SUMS * ITEMS);
    AFTER_PREVIOUS();
    u64 differences[SUMS] = {0, 0, 0};
    for (u32 group = ITEM; group < groups; group += ITEMS) {
        UNROLL for (u32 s = 0; s < SUMS; s++)
        {
            differences[s] += words[AFTER + SUMS * group + s] - words[BEFORE + SUMS * group + s];
        }
    }
    add_up(room, differences);
    if (ITEM == 0) {
        u32 other = differences[0] != 0 || differences[1] != 0 ? OTHER_ELEMENTS : 0;
        u32 disorder = differences[2] != 0 ? OUT_OF_ORDER : 0;
        *(GLOBAL u32 *)words |= other | disorder;
    }
}
