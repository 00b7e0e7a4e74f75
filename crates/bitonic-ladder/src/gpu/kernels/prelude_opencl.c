/* What the kernels need to know about OpenCL C 1.2; prelude_cuda.c says the same for CUDA. */

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef ulong2 u64x2; /* 16 bytes that are loaded and stored at once */

#define KERNEL __kernel void
#define FUNCTION static
#define GLOBAL __global
#define LOCAL_ARRAY(type, name, count) __local type name[count]

/* A work-item's place in its group, and how many a group has; the group's place in the grid. */
#define ITEM ((u32)get_local_id(0))
#define ITEMS ((u32)get_local_size(0))
#define GROUP ((INDEX)get_group_id(0))
/* A work-item's place in the whole grid, and how many the grid has. */
#define GRID_ITEM ((INDEX)get_global_id(0))
#define GRID_ITEMS ((INDEX)get_global_size(0))
/* All work-items of the group have arrived here, and see what the others wrote to local memory. */
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
