// Sorts of rows: cub::DeviceSegmentedSort, which takes rows of any length, and sorts written for one length each with CUB's
// blocks and warps, as a programmer would who knows the length. Of these, several shapes are tried on the keys themselves and
// the fastest is measured: how many threads share a row, and how many keys each of them holds in registers.
//
// Which key a thread loads does not matter for keys alone, so all loads are the fastest there are.
#pragma once

#include "arrays.cuh"

#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>

// One row a block: radix sort.
template <class Key, int Threads, int Items>
struct BlockRadixRows {
    using Sort = cub::BlockRadixSort<Key, Threads, Items>;
    using Storage = typename Sort::TempStorage;
    static constexpr int threads = Threads, rows_per_block = 1;

    static __device__ void sort(Storage& storage, Key* keys, std::size_t) {
        Key items[Items];
        Key* row = keys + std::size_t(blockIdx.x) * (Threads * Items);
        cub::LoadDirectStriped<Threads>(threadIdx.x, row, items);
        Sort(storage).SortBlockedToStriped(items);
        cub::StoreDirectStriped<Threads>(threadIdx.x, row, items);
    }
};

// One row a block: merge sort.
template <class Key, int Threads, int Items>
struct BlockMergeRows {
    using Sort = cub::BlockMergeSort<Key, Threads, Items>;
    using Store = cub::BlockStore<Key, Threads, Items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    union Storage {
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    };
    static constexpr int threads = Threads, rows_per_block = 1;

    static __device__ void sort(Storage& storage, Key* keys, std::size_t) {
        Key items[Items];
        Key* row = keys + std::size_t(blockIdx.x) * (Threads * Items);
        cub::LoadDirectStriped<Threads>(threadIdx.x, row, items);
        Sort(storage.sort).Sort(items, Less());
        __syncthreads();
        Store(storage.store).Store(row, items);
    }
};

// One row for a warp, or for a part of one with a power of two of threads.
template <class Key, int WarpThreads, int Items>
struct WarpMergeRows {
    static constexpr int threads = 128, rows_per_block = threads / WarpThreads;
    using Sort = cub::WarpMergeSort<Key, Items, WarpThreads>;
    // Up to 16 bytes a thread are one access; more are better handed over in shared memory.
    static constexpr bool transposed = Items * sizeof(Key) > 16;
    using Load = cub::BlockLoad<Key, threads, Items, transposed ? cub::BLOCK_LOAD_WARP_TRANSPOSE : cub::BLOCK_LOAD_VECTORIZE>;
    using Store =
        cub::BlockStore<Key, threads, Items, transposed ? cub::BLOCK_STORE_WARP_TRANSPOSE : cub::BLOCK_STORE_VECTORIZE>;
    union Storage {
        typename Sort::TempStorage sort[rows_per_block];
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    };

    static __device__ void sort(Storage& storage, Key* keys, std::size_t length) {
        constexpr int block_keys = threads * Items;
        const std::size_t start = std::size_t(blockIdx.x) * block_keys;
        const bool whole = length - start >= block_keys;
        const int valid = whole ? block_keys : static_cast<int>(length - start);
        Key items[Items];
        // The last block may have fewer rows than the others. What it sorts behind them nobody sees.
        if (whole) {
            Load(storage.load).Load(keys + start, items);
        } else {
            Load(storage.load).Load(keys + start, items, valid, Key());
        }
        __syncthreads();
        Sort(storage.sort[threadIdx.x / WarpThreads]).Sort(items, Less());
        __syncthreads();
        if (whole) {
            Store(storage.store).Store(keys + start, items);
        } else {
            Store(storage.store).Store(keys + start, items, valid);
        }
    }
};

template <class RowSort, class Key>
__global__ void __launch_bounds__(RowSort::threads) sort_rows(Key* keys, std::size_t length) {
    extern __shared__ __align__(16) unsigned char shared[];
    RowSort::sort(*reinterpret_cast<typename RowSort::Storage*>(shared), keys, length);
}

// A shape of a row sort.
struct Shape {
    std::string name;
    std::function<cudaError_t(cudaStream_t)> launch;
};

template <class RowSort, class Key>
Shape shape(const Arrays<Key>* arrays, int threads, int items) {
    const auto launch = [arrays](cudaStream_t stream) {
        constexpr std::size_t bytes = sizeof(typename RowSort::Storage);
        const auto kernel = sort_rows<RowSort, Key>;
        if (bytes > 48 * 1024) {
            const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
            const cudaError_t allowed = cudaFuncSetAttribute(kernel, attribute, static_cast<int>(bytes));
            if (allowed != cudaSuccess) return allowed;
        }
        const std::size_t blocks = (arrays->rows + RowSort::rows_per_block - 1) / RowSort::rows_per_block;
        kernel<<<static_cast<unsigned>(blocks), RowSort::threads, bytes, stream>>>(arrays->keys.get(), arrays->length());
        return cudaGetLastError();
    };
    return Shape{std::to_string(threads) + " threads x " + std::to_string(items) + " keys", launch};
}

// The shape that is fastest on these very keys.
template <class Key>
class RowContender : public ArrayContender<Key> {
public:
    RowContender(std::string name, std::shared_ptr<Arrays<Key>> arrays, std::vector<Shape> shapes)
        : ArrayContender<Key>(std::move(name), std::move(arrays)), shapes(std::move(shapes)) {}

protected:
    void prepare(cudaStream_t stream) override {
        if (chosen) return;
        double least = 0;
        const Shape* best = nullptr;
        for (const Shape& candidate : shapes) {
            const double time = typical_time(candidate, stream);
            if (time > 0 && (!best || time < least)) {
                best = &candidate;
                least = time;
            }
        }
        if (!best) throw std::runtime_error("the device has no room for any shape of " + this->name);
        chosen = best;
        this->note = best->name;
    }

    void sort(cudaStream_t stream) override { check(chosen->launch(stream), "sort rows"); }

private:
    // The median of some runs; zero for a shape that the device does not take.
    double typical_time(const Shape& candidate, cudaStream_t stream) {
        constexpr int runs = 5;
        this->restore(stream);
        if (candidate.launch(stream) != cudaSuccess) {
            cudaGetLastError();
            return 0;
        }
        chosen = &candidate;
        std::vector<double> times;
        for (int run = 0; run < runs; ++run) times.push_back(this->time_one(stream));
        chosen = nullptr;
        std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
        return times[runs / 2];
    }

    std::vector<Shape> shapes;
    const Shape* chosen = nullptr;
};

// The shapes of a length: so many keys a thread, and as many threads as that makes, if they are neither too few nor too many.
template <template <class, int, int> class RowSort, class Key, int Length, int LeastThreads, int MostThreads, int... Items>
std::vector<Shape> shapes_of(const Arrays<Key>* arrays) {
    std::vector<Shape> found;
    const auto add = [&](auto items) {
        constexpr int keys = decltype(items)::value, threads = Length / keys;
        if constexpr (threads >= LeastThreads && threads <= MostThreads && threads * keys == Length) {
            found.push_back(shape<RowSort<Key, threads, keys>, Key>(arrays, threads, keys));
        }
    };
    (add(std::integral_constant<int, Items>()), ...);
    return found;
}

template <class Key, int Length>
void add_row_sorts(const std::shared_ptr<Arrays<Key>>& arrays, Contenders& found) {
    if (arrays->row_length != Length) return;
    const auto add = [&](const char* name, std::vector<Shape> shapes) {
        if (shapes.empty()) return;
        found.push_back(std::make_unique<RowContender<Key>>(name, arrays, std::move(shapes)));
    };
    add("block_radix", shapes_of<BlockRadixRows, Key, Length, 32, 1024, 2, 4, 8, 16, 32>(arrays.get()));
    add("block_merge", shapes_of<BlockMergeRows, Key, Length, 32, 1024, 2, 4, 8, 16, 32>(arrays.get()));
    add("warp_merge", shapes_of<WarpMergeRows, Key, Length, 1, 32, 2, 4, 8, 16, 32>(arrays.get()));
}

struct RowStart {
    std::size_t row_length;
    __host__ __device__ std::size_t operator()(std::size_t row) const { return row * row_length; }
};

template <class Key>
DeviceSort segmented_sort(const Arrays<Key>* arrays) {
    return [arrays](void* memory, std::size_t& bytes, cudaStream_t stream) {
        const auto starts =
            thrust::make_transform_iterator(thrust::make_counting_iterator(std::size_t(0)), RowStart{arrays->row_length});
        const Key* from = arrays->unsorted_keys.get();
        return cub::DeviceSegmentedSort::SortKeys(
            memory, bytes, from, arrays->keys.get(), arrays->length(), arrays->rows, starts, starts + 1, stream);
    };
}

template <class Key, int... Log2>
Contenders hand_written_sorts(const std::shared_ptr<Arrays<Key>>& arrays, std::integer_sequence<int, Log2...>) {
    Contenders found;
    (add_row_sorts<Key, (1 << Log2)>(arrays, found), ...);
    return found;
}

template <class Key>
Contenders sorts_of_rows(const std::shared_ptr<Arrays<Key>>& arrays) {
    if (arrays->has_values) throw std::runtime_error("this peer sorts rows of keys without values");
    // Rows of 8 to 16384 keys.
    Contenders found = hand_written_sorts(arrays, std::integer_sequence<int, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>());
    // It asks the device how many rows are short and waits for the answer, which a graph cannot record.
    const DeviceSort segmented = segmented_sort(arrays.get());
    found.push_back(std::make_unique<StreamSort<Key>>("segmented", arrays, segmented, memory_for(segmented)));
    return found;
}
