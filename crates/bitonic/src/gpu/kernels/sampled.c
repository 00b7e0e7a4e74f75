/* The sample has one element of every stretch of the array; which one varies, so that no regular order can make it a bad
   one. */
FUNCTION Index sampled(u32 number, u32 samples, Index total)
{
    u32 scrambled = (number + 1) * 2654435769u;
    scrambled = (scrambled ^ scrambled >> 15) * 2246822519u;
    scrambled ^= scrambled >> 13;
    Index first = (Index)((u64)number * total / samples), end = (Index)((u64)(number + 1) * total / samples);
    return first + (Index)((u64)scrambled * (end - first) >> 32);
}
