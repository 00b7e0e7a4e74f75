/* The words of the ladder's kernels, made of those that the prelude before this file has for OpenCL or CUDA. A group of these kernels
   may have any number of work-items up to MOST_ITEMS, and local memory is an array of the kernel's own. */

#if INDEX_BITS == 32
typedef u32 Index;
#else
typedef u64 Index;
#endif
#define INDEX Index

#undef KERNEL
#define KERNEL KERNEL_UP_TO(MOST_ITEMS)
#undef LOCAL_ARRAY
#define LOCAL_ARRAY(type, name, count) OWN_LOCAL_ARRAY(type, name, count)

/* How many work-items a group has; a work-item's place in the whole grid, and how many the grid has. */
#define ITEMS GROUP_ITEMS
#define GRID_ITEM (GROUP * ITEMS + ITEM)
#define GRID_ITEMS (GROUPS * ITEMS)
