// Sorts of whole arrays: cub::DeviceRadixSort and cub::DeviceMergeSort, each launched on a stream and as a captured graph.
#pragma once

#include "device.cuh"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

// CUB's way to call its sorts: without memory they say how much they need. The number of items is a size_t, so that the same
// code serves every length.
using DeviceSort = std::function<cudaError_t(void* memory, std::size_t& bytes, cudaStream_t stream)>;

// Reads the unsorted arrays and writes the others.
template <class Key>
DeviceSort radix_sort(const Arrays<Key>* arrays) {
    return [arrays](void* memory, std::size_t& bytes, cudaStream_t stream) {
        const std::size_t length = arrays->length();
        const Key* from = arrays->unsorted_keys.get();
        Key* to = arrays->keys.get();
        const int end_bit = sizeof(Key) * 8;
        if (!arrays->has_values) {
            return cub::DeviceRadixSort::SortKeys(memory, bytes, from, to, length, 0, end_bit, stream);
        }
        const std::uint32_t* values_from = arrays->unsorted_values.get();
        std::uint32_t* values_to = arrays->values.get();
        return cub::DeviceRadixSort::SortPairs(memory, bytes, from, to, values_from, values_to, length, 0, end_bit, stream);
    };
}

// Sorts the arrays where they are.
template <class Key>
DeviceSort merge_sort(const Arrays<Key>* arrays) {
    return [arrays](void* memory, std::size_t& bytes, cudaStream_t stream) {
        const std::size_t length = arrays->length();
        Key* keys = arrays->keys.get();
        if (!arrays->has_values) {
            return cub::DeviceMergeSort::SortKeys(memory, bytes, keys, length, Less(), stream);
        }
        return cub::DeviceMergeSort::SortPairs(memory, bytes, keys, arrays->values.get(), length, Less(), stream);
    };
}

// The memory that a sort of CUB's needs beside its arrays.
inline std::shared_ptr<Memory<char>> memory_for(const DeviceSort& sort) {
    std::size_t bytes = 0;
    check(sort(nullptr, bytes, nullptr), "tell how much memory a sort needs");
    return std::make_shared<Memory<char>>(bytes > 0 ? bytes : 1);
}

template <class Key>
class StreamSort : public ArrayContender<Key> {
public:
    StreamSort(std::string name, std::shared_ptr<Arrays<Key>> arrays, DeviceSort device_sort,
               std::shared_ptr<Memory<char>> memory)
        : ArrayContender<Key>(std::move(name), std::move(arrays)), device_sort(std::move(device_sort)),
          memory(std::move(memory)) {}

protected:
    void sort(cudaStream_t stream) override {
        std::size_t bytes = memory->bytes();
        check(device_sort(memory->get(), bytes, stream), "sort");
    }

private:
    DeviceSort device_sort;
    std::shared_ptr<Memory<char>> memory;
};

// The same launches, recorded once and replayed.
template <class Key>
class GraphSort : public StreamSort<Key> {
public:
    using StreamSort<Key>::StreamSort;
    ~GraphSort() override {
        if (graph) cudaGraphExecDestroy(graph);
    }

protected:
    void prepare(cudaStream_t stream) override {
        if (graph) return;
        const cudaGraph_t recorded = record(stream);
        const cudaError_t made = cudaGraphInstantiate(&graph, recorded, 0);
        cudaGraphDestroy(recorded);
        check(made, "make a graph");
        check(cudaGraphUpload(graph, stream), "upload a graph");
    }

    void sort(cudaStream_t stream) override { check(cudaGraphLaunch(graph, stream), "launch a graph"); }

private:
    cudaGraph_t record(cudaStream_t stream) {
        cudaGraph_t recorded = nullptr;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "record a graph");
        try {
            StreamSort<Key>::sort(stream);
        } catch (...) {
            cudaStreamEndCapture(stream, &recorded); // Or the stream would be of no use any more.
            throw;
        }
        check(cudaStreamEndCapture(stream, &recorded), "record a graph");
        return recorded;
    }

    cudaGraphExec_t graph = nullptr;
};

template <class Key>
Contenders sorts_of_arrays(const std::shared_ptr<Arrays<Key>>& arrays) {
    Contenders found;
    const auto add = [&](const std::string& name, const DeviceSort& sort) {
        const auto memory = memory_for(sort);
        found.push_back(std::make_unique<StreamSort<Key>>(name + "_stream", arrays, sort, memory));
        found.push_back(std::make_unique<GraphSort<Key>>(name + "_graph", arrays, sort, memory));
    };
    add("radix", radix_sort(arrays.get()));
    add("merge", merge_sort(arrays.get()));
    return found;
}
