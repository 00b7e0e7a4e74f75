/* What the kernels need to know about OpenCL C 1.2; cuda/prelude.c says the same for CUDA. */

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef ulong2 u64x2; /* 16 bytes that are loaded and stored at once */

/* A kernel whose work-groups have exactly this many work-items. */
#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
/* One whose work-groups have any number up to this. */
#define KERNEL_UP_TO(items) __kernel void
/* Where PoCL 3.1 does not inline a function that asks for the number of its work-item, that number is in a variable which all threads of
   the processor share, and results are wrong now and then. It also crashes on loops around barriers there. (Oclgrind cannot run what
   becomes of a function that returns a structure and is always inlined.) */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define FUNCTION inline static __attribute__((always_inline))
#else
#define FUNCTION inline static
#endif
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_ARRAY(type, name, count) __local type name[count]
/* Local memory that the kernel declares itself, and no launch brings along. */
#define OWN_LOCAL_ARRAY(type, name, count) __local type name[count]

#define GROUP ((Index)get_group_id(0))
#define GROUPS ((Index)get_num_groups(0))
#define ITEM ((u32)get_local_id(0))
#define GROUP_ITEMS ((u32)get_local_size(0))
/* All work-items of the group have arrived here, and see what the others wrote to local memory. */
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
/* The same for what they wrote to global memory. */
#define GLOBAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
/* The same for work-items whose numbers differ only in the bits below `scope`; OpenCL 1.2 has no smaller barriers. */
#define BARRIER_OF(scope) BARRIER()
#define GLOBAL_BARRIER_OF(scope) GLOBAL_BARRIER()
/* Work-items meet at the same barrier of the program only. */
#define BARRIERS_MEET_ANYWHERE 0
#define UNROLL _Pragma("unroll")
/* For loops whose length the compiler does not know: so many rounds under way at the same time. */
#define UNROLL_SOME _Pragma("unroll 4")

/* What CUDA can do about kernels that overlap, and about what compilers keep in registers. */
#define AFTER_PREVIOUS()
#define LET_NEXT_START()
#define HIDDEN(number) (number)

/* The zeros above the highest one of a number that is not 0. */
#define LEADING_ZEROS(number) clz(number)
#define LEADING_ZEROS_64(number) ((u32)clz(number))
/* How many bits of a word are set. */
#define BITS_SET(word) popcount(word)
/* The high 32 bits of a product. */
#define HIGH_HALF(a, b) mul_hi(a, b)

/* Adds to a counter, and sets bits, in memory of the group or of all; what was there before. */
#define ATOMIC_ADD(counter, number) atomic_add(counter, number)
#define ATOMIC_OR(bits, more) atomic_or(bits, more)
/* Counts one more for this work-item; how many there were before. */
#define COUNT_ONE(counters, which) atomic_inc(&(counters)[which])
/* OpenCL 1.2 cannot look at what the neighbours count, so that nothing is counted together. */
#define FIND_HOT(one, other, hot) (*(hot) = 0, false)
#define COUNT_HOT(counters, which, hot) atomic_inc(&(counters)[which])
/* Adds the numbers of all work-items of the group to one in local memory. */
#define ADD_ALL(sum, number) atomic_add(sum, number)
/* The same for the largest number. */
#define MAX_ALL(most, number) atomic_max(most, number)
/* The same for bits that are set. */
#define OR_ALL(word, bits) atomic_or(word, bits)

/* A barrier, after which all work-items know whether one of them had this condition. `word` is one in local memory. */
FUNCTION bool barrier_or(__local u32 *word, bool condition)
{
    if (get_local_id(0) == 0) {
        *word = 0;
    }
    BARRIER();
    if (condition) {
        *word = 1;
    }
    BARRIER();
    bool any = *word != 0;
    BARRIER();
    return any;
}
#define BARRIER_OR(word, condition) barrier_or(word, condition)
