/*
 * What every kernel of the ladder knows about keys. The host puts this file before the kernel's own and defines
 *
 *   KEY_BITS     the width of a key: 8, 16, 32, 64 or 128
 *   INDEX_BITS   the width of a position: 32, or 64 where there are more than 2^31 keys
 *
 * A key is an unsigned integer whose order is the order of the sort: the host has mapped signed keys, floats and
 * descending order to it. So the kernels know widths and no types, and need no feature of the device for any of them.
 *
 * The kernels keep to what OpenCL C 1.2 and CUDA both have: work-items, local arrays of a fixed size, barriers.
 */

#if KEY_BITS == 8
typedef uchar KEY;
#elif KEY_BITS == 16
typedef ushort KEY;
#elif KEY_BITS == 32
typedef uint KEY;
#elif KEY_BITS == 64
typedef ulong KEY;
#elif KEY_BITS == 128
typedef ulong2 KEY; /* .x is the lower half, as in the memory of a little-endian machine */
#endif

#if INDEX_BITS == 32
typedef uint INDEX;
#elif INDEX_BITS == 64
typedef ulong INDEX;
#endif

/* Whether the first key comes before the second in ascending order. */
static bool less(KEY first, KEY second)
{
#if KEY_BITS == 128
    return first.y < second.y || (first.y == second.y && first.x < second.x);
#else
    return first < second;
#endif
}
