/* A table of offsets on the device: segment s is from offsets[s] to offsets[s + 1]. */

#if OFFSET_BITS == 64
typedef u64 Offset;
#else
typedef u32 Offset;
#endif

/* The elements of a segment. Offsets that do not ascend or lead out of the arrays make an empty one; so do those of a segment that is longer
   than any was said to be, which there may be too few launches or too little memory for. */
FUNCTION Index length_of(GLOBAL const Offset *offsets, Index total, Index longest, u32 segment)
{
    Offset begin = offsets[segment], end = offsets[(Index)segment + 1];
    return begin < end && end <= total && end - begin <= longest ? (Index)(end - begin) : 0;
}
