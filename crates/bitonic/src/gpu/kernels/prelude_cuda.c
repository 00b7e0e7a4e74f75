/* What the kernels need to know about CUDA C++ as NVRTC compiles it, without any header; prelude_opencl.c says the
   same for OpenCL. */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef ulonglong2 u64x2; /* 16 bytes that are loaded and stored at once */

/* A kernel whose blocks have exactly this many threads. */
#define KERNEL(items) extern "C" __global__ __launch_bounds__(items) void
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name, count) __shared__ type name[count]

#define GROUP ((Index)blockIdx.x)
#define ITEM ((u32)threadIdx.x)
/* All threads of the block have arrived here, and see what the others wrote to shared memory. */
#define BARRIER() __syncthreads()
#define UNROLL _Pragma("unroll")
