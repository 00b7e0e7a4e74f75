// cub::DeviceSegmentedSort for segments_cuda.py, which builds it: nvcc -O3 -std=c++17 -shared -Xcompiler -fPIC -arch=native
#include <cstddef>
#include <cub/device/device_segmented_sort.cuh>

// The bytes that a sort works in, where `work` is null; else sorts, and returns CUDA's error.
extern "C" long long segmented_sort(void *work, size_t bytes, const unsigned *keys, unsigned *sorted, long long count,
                                    int segments, const int *offsets, cudaStream_t stream)
{
    auto error = cub::DeviceSegmentedSort::SortKeys(work, bytes, keys, sorted, count, segments, offsets, offsets + 1, stream);
    return work == nullptr ? (long long)bytes : (long long)error;
}
