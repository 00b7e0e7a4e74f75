/*
 * What every kernel of the ladder knows about keys. The host puts a prelude before this file, which has the words of
 * OpenCL or of CUDA for what both have, and words.c; behind this file the kernel's own; and defines
 *
 *   KEY_BITS     the width of a key: 8, 16, 32, 64 or 128
 *   INDEX_BITS   the width of a position: 32, or 64 where there are more than 2^31 keys
 *   MOST_ITEMS   the most work-items that a group of this launch can have
 *
 * A key is an unsigned integer whose order is the order of the sort: the host has mapped signed keys, floats and
 * descending order to it. So the kernels know widths and no types, and need no feature of the device for any of them.
 */

#if KEY_BITS == 8
typedef u8 KEY;
#elif KEY_BITS == 16
typedef u16 KEY;
#elif KEY_BITS == 32
typedef u32 KEY;
#elif KEY_BITS == 64
typedef u64 KEY;
#elif KEY_BITS == 128
typedef u64x2 KEY; /* .x is the lower half, as in the memory of a little-endian machine */
#endif

/* Whether the first key comes before the second in ascending order. */
FUNCTION bool less(KEY first, KEY second)
{
#if KEY_BITS == 128
    return first.y < second.y || (first.y == second.y && first.x < second.x);
#else
    return first < second;
#endif
}
