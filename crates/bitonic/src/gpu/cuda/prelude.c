/* What the kernels need to know about CUDA C++ as NVRTC compiles it, without any header; opencl/prelude.c says the
   same for OpenCL. */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef ulonglong2 u64x2; /* 16 bytes that are loaded and stored at once */
#define WIDE u64x2 /* the same over elements of any type, where the language allows it */

/* A kernel whose blocks have exactly this many threads. RESIDENT_BLOCKS of them fit a multiprocessor: the compiler has to
   make do with that share of its registers. */
#define KERNEL(items) extern "C" __global__ __launch_bounds__(items, RESIDENT_BLOCKS) void
/* One whose blocks have any number up to this. The compiler keeps to as many registers as let so many threads run together. */
#define KERNEL_UP_TO(items) extern "C" __global__ __launch_bounds__(items) void
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL
/* A block has more than 48 KiB of shared memory only if the launch asks for it, so all of it comes with the launch. */
#define LOCAL_ARRAY(type, name, count)                                                                                 \
    extern __shared__ u64x2 shared_memory[];                                                                           \
    type *name = (type *)shared_memory
/* Shared memory that the kernel declares itself, up to 48 KiB. */
#define OWN_LOCAL_ARRAY(type, name, count) __shared__ type name[count]

#define GROUP ((Index)blockIdx.x)
#define GROUPS ((Index)gridDim.x)
#define ITEM ((u32)threadIdx.x)
#define GROUP_ITEMS ((u32)blockDim.x)
#define UNROLL _Pragma("unroll")
/* For loops whose length the compiler does not know: so many rounds under way at the same time. */
#define UNROLL_SOME _Pragma("unroll 4")

/* All threads of the block have arrived here, and see what the others wrote to shared memory. */
#define BARRIER() __syncthreads()
/* The same for what they wrote to global memory. */
#define GLOBAL_BARRIER() __syncthreads()

/* The same for threads whose numbers differ only in the bits below `scope`: the others need not wait. A block has 16
   barriers, by number. 0 is that of the whole block; halves have 1 and 2, quarters the next four, eighths the next eight.
   Different parts must not share one, because some threads may be at the next barrier while others are still at this one.

   Some kernels have `more` threads behind those of the tile. These have a barrier of their own, the last; and since 0 is that of them all
   then, the others move up by one, and there are no eighths. */
FUNCTION void barrier_of(u32 scope, u32 items, u32 more)
{
    u32 parts = items / (scope < 32 ? 32 : scope), most = more == 0 ? 8 : 4;
    if (scope <= 32) {
        __syncwarp();
    } else if (parts < 2 && more == 0) {
        __syncthreads();
    } else {
        parts = parts < 1 ? 1 : parts < most ? parts : most;
        u32 threads = items / parts;
        u32 number = more == 0 ? parts - 1 + ITEM / threads : ITEM < items ? parts + ITEM / threads : 2 * most;
        asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(more == 0 || ITEM < items ? threads : more) : "memory");
    }
}
#ifndef ITEMS_BEHIND
#define ITEMS_BEHIND 0
#endif
#define BARRIER_OF(scope) barrier_of(scope, ITEMS, ITEMS_BEHIND)
#define GLOBAL_BARRIER_OF(scope) barrier_of(scope, ITEMS, ITEMS_BEHIND)
/* Warps may come to a barrier from different places of the program. */
#define BARRIERS_MEET_ANYWHERE 1

/* A kernel may be started before the one that was queued before it has ended. What that one wrote is there from here on: */
#if __CUDA_ARCH__ >= 900
#define AFTER_PREVIOUS() asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_NEXT_START() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define AFTER_PREVIOUS()
#define LET_NEXT_START()
#endif

/* A number that the compiler does not know anything about. Addresses that are made of it are computed anew where they are
   needed, instead of being kept from one place to the other in registers, which are for the elements. */
FUNCTION u32 hidden(u32 number)
{
    asm volatile("" : "+r"(number));
    return number;
}
#define HIDDEN(number) hidden(number)

/* The zeros above the highest one of a number that is not 0. */
#define LEADING_ZEROS(number) __clz(number)
#define LEADING_ZEROS_64(number) __clzll(number)
/* How many bits of a word are set. */
#define BITS_SET(word) __popc(word)
/* The high 32 bits of a product. */
#define HIGH_HALF(a, b) __umulhi(a, b)

/* Adds to a counter, and sets bits, in memory of the group or of all; what was there before. */
#define ATOMIC_ADD(counter, number) atomicAdd(counter, number)
#define ATOMIC_OR(bits, more) atomicOr(bits, more)

/* Counts one more for this thread; how many there were before. All threads of a warp call it, and neighbours that count the
   same do so together: sorted or equal keys would otherwise queue up for one counter. */
FUNCTION u32 count_one(u32 *counters, u32 which)
{
    u32 lane = ITEM & 31;
    u32 before = __shfl_up_sync(~0u, which, 1);
    bool begins = lane == 0 || before != which;
    u32 beginnings = __ballot_sync(~0u, begins);
    u32 first = 31 - __clz(beginnings & ~0u >> (31 - lane));
    u32 later = beginnings & ~0u << lane << 1;
    u32 start = 0;
    if (begins) {
        start = atomicAdd(&counters[which], (later ? __ffs(later) - 1 : 32) - lane);
    }
    return __shfl_sync(~0u, start, first) + lane - first;
}
#define COUNT_ONE(counters, which) count_one(counters, which)

/* Looks for a number that many threads of the warp have, in two that each has. */
FUNCTION bool find_hot(u32 one, u32 other, u32 *hot)
{
    u32 many = __ballot_sync(~0u, __popc(__match_any_sync(~0u, one)) >= 7);
    u32 more = __ballot_sync(~0u, __popc(__match_any_sync(~0u, other)) >= 7);
    u32 of_one = __shfl_sync(~0u, one, many ? __ffs(many) - 1 : 0);
    u32 of_other = __shfl_sync(~0u, other, more ? __ffs(more) - 1 : 0);
    *hot = many ? of_one : of_other;
    return many | more;
}
#define FIND_HOT(one, other, hot) find_hot(one, other, hot)

/* Counts as COUNT_ONE does: those threads of the warp together that count the hot one, or else what the first thread counts. */
FUNCTION u32 count_hot(u32 *counters, u32 which, u32 hot)
{
    u32 together = __ballot_sync(~0u, which == hot);
    if (__popc(together) < 7) {
        hot = __shfl_sync(~0u, which, 0);
        together = __ballot_sync(~0u, which == hot);
    }
    u32 lane = ITEM & 31, first = __ffs(together) - 1, start = 0;
    bool is_hot = which == hot;
    if (!is_hot || lane == first) {
        start = atomicAdd(&counters[which], is_hot ? __popc(together) : 1);
    }
    u32 start_of_hot = __shfl_sync(~0u, start, first);
    return is_hot ? start_of_hot + __popc(together & ((1u << lane) - 1)) : start;
}
#define COUNT_HOT(counters, which, hot) count_hot(counters, which, hot)

/* What the numbers of all threads of a warp are together. */
#if __CUDA_ARCH__ >= 800
#define SUM_OF_WARP(number) __reduce_add_sync(~0u, number)
#define MOST_OF_WARP(number) __reduce_max_sync(~0u, number)
#define BITS_OF_WARP(bits) __reduce_or_sync(~0u, bits)
#else
#define OF_WARP(name, both)                                                                                            \
    FUNCTION u32 name(u32 a)                                                                                           \
    {                                                                                                                  \
        UNROLL for (u32 distance = 16; distance > 0; distance /= 2)                                                    \
        {                                                                                                              \
            u32 b = __shfl_xor_sync(~0u, a, distance);                                                                 \
            a = both;                                                                                                  \
        }                                                                                                              \
        return a;                                                                                                      \
    }
OF_WARP(sum_of_warp, a + b)
OF_WARP(most_of_warp, a > b ? a : b)
OF_WARP(bits_of_warp, a | b)
#define SUM_OF_WARP(number) sum_of_warp(number)
#define MOST_OF_WARP(number) most_of_warp(number)
#define BITS_OF_WARP(bits) bits_of_warp(bits)
#endif

/* Adds the numbers of all threads of the block to one in shared memory: those of a warp together. */
FUNCTION void add_all(u32 *sum, u32 number)
{
    number = SUM_OF_WARP(number);
    if ((ITEM & 31) == 0) {
        atomicAdd(sum, number);
    }
}
#define ADD_ALL(sum, number) add_all(sum, number)

/* The same for the largest number. */
FUNCTION void max_all(u32 *most, u32 number)
{
    number = MOST_OF_WARP(number);
    if ((ITEM & 31) == 0) {
        atomicMax(most, number);
    }
}
#define MAX_ALL(most, number) max_all(most, number)

/* The same for bits that are set. */
FUNCTION void or_all(u32 *word, u32 bits)
{
    bits = BITS_OF_WARP(bits);
    if ((ITEM & 31) == 0) {
        atomicOr(word, bits);
    }
}
#define OR_ALL(word, bits) or_all(word, bits)

/* What another thread of the warp has, and what the one has that is so many before this one. */
#define OF_LANE(number, lane) __shfl_sync(~0u, number, lane)
#define OF_LANE_BELOW(number, distance) __shfl_up_sync(~0u, number, distance)
/* What the thread has whose number in the warp differs in this bit. */
#define OF_LANE_ACROSS(number, bit) __shfl_xor_sync(~0u, number, bit)

/* A barrier, after which all threads know whether one of them had this condition. `word` is one in shared memory, for those that need it. */
#define BARRIER_OR(word, condition) __syncthreads_or(condition)
