/* What the kernels need to know about CUDA C++ as NVRTC compiles it, without any header; prelude_opencl.c says the
   same for OpenCL. To CUDA, a work-item is a thread, a group a block, and local memory shared memory. */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef ulonglong2 u64x2; /* 16 bytes that are loaded and stored at once */

/* The compiler keeps to as many registers as let MOST_ITEMS threads run together. */
#define KERNEL extern "C" __global__ __launch_bounds__(MOST_ITEMS) void
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL_ARRAY(type, name, count) __shared__ type name[count]

/* A thread's place in its block, and how many a block has; the block's place in the grid. */
#define ITEM ((u32)threadIdx.x)
#define ITEMS ((u32)blockDim.x)
#define GROUP ((INDEX)blockIdx.x)
/* A thread's place in the whole grid, and how many the grid has. */
#define GRID_ITEM (GROUP * ITEMS + ITEM)
#define GRID_ITEMS ((INDEX)gridDim.x * ITEMS)
/* All threads of the block have arrived here, and see what the others wrote to shared memory. */
#define BARRIER() __syncthreads()
