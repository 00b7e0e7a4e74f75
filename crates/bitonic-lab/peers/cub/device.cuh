// Memory on the device, what is asked for, and how a sort of it is measured.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

inline void check(cudaError_t code, const char* operation) {
    if (code == cudaSuccess) return;
    cudaGetLastError(); // Or the next call would find the same error again.
    throw std::runtime_error(std::string("CUDA cannot ") + operation + ": " + cudaGetErrorString(code));
}

template <class Key> const char* type_name();
template <> inline const char* type_name<std::uint32_t>() { return "u32"; }
template <> inline const char* type_name<std::int32_t>() { return "i32"; }
template <> inline const char* type_name<float>() { return "f32"; }
template <> inline const char* type_name<std::uint64_t>() { return "u64"; }
template <> inline const char* type_name<std::int64_t>() { return "i64"; }
template <> inline const char* type_name<double>() { return "f64"; }

struct Less {
    template <class Key>
    __host__ __device__ bool operator()(const Key& one, const Key& other) const {
        return one < other;
    }
};

// What is to be sorted. `values_file` is empty where keys travel alone.
struct Question {
    std::string type, keys_file, values_file;
    std::size_t rows = 0, row_length = 0;
};

class Stream {
public:
    Stream() { check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking), "make a stream"); }
    ~Stream() { cudaStreamDestroy(raw); }
    Stream(const Stream&) = delete;

    operator cudaStream_t() const { return raw; }

private:
    cudaStream_t raw = nullptr;
};

class Event {
public:
    Event() { check(cudaEventCreate(&raw), "make an event"); }
    ~Event() { cudaEventDestroy(raw); }
    Event(const Event&) = delete;

    void record(cudaStream_t stream) { check(cudaEventRecord(raw, stream), "note a time"); }

    double nanoseconds_until(const Event& later) const {
        float milliseconds = 0;
        check(cudaEventSynchronize(later.raw), "finish a sort");
        check(cudaEventElapsedTime(&milliseconds, raw, later.raw), "measure a time");
        return milliseconds * 1e6;
    }

private:
    cudaEvent_t raw = nullptr;
};

template <class T>
class Memory {
public:
    explicit Memory(std::size_t count) : count(count) {
        if (count > 0) check(cudaMalloc(&raw, count * sizeof(T)), "allocate memory");
    }
    ~Memory() { cudaFree(raw); }
    Memory(const Memory&) = delete;

    T* get() const { return raw; }
    std::size_t bytes() const { return count * sizeof(T); }

    void read_file(const std::string& name) {
        std::vector<char> host(bytes());
        std::ifstream file(name, std::ios::binary);
        if (!file.read(host.data(), host.size())) {
            throw std::runtime_error(name + " cannot be read, or has fewer bytes than it should");
        }
        check(cudaMemcpy(raw, host.data(), bytes(), cudaMemcpyHostToDevice), "upload numbers");
        // The call returns when the host's memory is free, and no stream waits for the rest.
        check(cudaDeviceSynchronize(), "upload numbers");
    }

    void write_file(const std::string& name) const {
        std::vector<char> host(bytes());
        check(cudaMemcpy(host.data(), raw, bytes(), cudaMemcpyDeviceToHost), "download numbers");
        std::ofstream file(name, std::ios::binary);
        if (!file.write(host.data(), host.size()).flush()) throw std::runtime_error(name + " cannot be written");
    }

private:
    std::size_t count;
    T* raw = nullptr;
};

// The arrays of a question: as they came, and as the sorts leave them. All sorts of the question share them.
template <class Key>
struct Arrays {
    explicit Arrays(const Question& question)
        : rows(question.rows), row_length(question.row_length), has_values(!question.values_file.empty()),
          unsorted_keys(length()), keys(length()), unsorted_values(has_values ? length() : 0),
          values(has_values ? length() : 0) {
        unsorted_keys.read_file(question.keys_file);
        if (has_values) unsorted_values.read_file(question.values_file);
    }

    std::size_t length() const { return rows * row_length; }

    void restore(cudaStream_t stream) const {
        copy(unsorted_keys, keys, stream);
        if (has_values) copy(unsorted_values, values, stream);
    }

    std::size_t rows, row_length;
    bool has_values;
    Memory<Key> unsorted_keys, keys;
    Memory<std::uint32_t> unsorted_values, values;

private:
    template <class T>
    static void copy(const Memory<T>& from, const Memory<T>& to, cudaStream_t stream) {
        check(cudaMemcpyAsync(to.get(), from.get(), from.bytes(), cudaMemcpyDeviceToDevice, stream), "restore numbers");
    }
};

// One way to sort the arrays of a question.
class Contender {
public:
    virtual ~Contender() = default;

    // Sorts at least once, and until so many microseconds are over; then once more, and that sort counts: its nanoseconds by
    // the device's clock.
    double measure(cudaStream_t stream, double microseconds) {
        using Clock = std::chrono::steady_clock;
        prepare(stream);
        const auto until = Clock::now() + std::chrono::duration<double, std::micro>(microseconds);
        do {
            time_one(stream);
        } while (Clock::now() < until);
        return time_one(stream);
    }

    virtual void write_result(const std::string& keys_file, const std::string& values_file) const = 0;

    std::string name;
    // What a reader should know about how it sorts.
    std::string note;

protected:
    // What has to be done once before the first sort.
    virtual void prepare(cudaStream_t) {}
    virtual void restore(cudaStream_t stream) = 0;
    // Queues the sort on the stream.
    virtual void sort(cudaStream_t stream) = 0;

    double time_one(cudaStream_t stream) {
        // The restoring copy is still under way when the sort is queued: what the host takes to queue it does not count, as in
        // a program that keeps the device busy.
        Event before, behind;
        restore(stream);
        before.record(stream);
        sort(stream);
        behind.record(stream);
        return before.nanoseconds_until(behind);
    }
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

template <class Key>
class ArrayContender : public Contender {
public:
    ArrayContender(std::string name, std::shared_ptr<Arrays<Key>> arrays) : arrays(std::move(arrays)) {
        this->name = std::move(name);
    }

    void write_result(const std::string& keys_file, const std::string& values_file) const override {
        arrays->keys.write_file(keys_file);
        if (arrays->has_values && !values_file.empty()) arrays->values.write_file(values_file);
    }

protected:
    void restore(cudaStream_t stream) override { arrays->restore(stream); }

    std::shared_ptr<Arrays<Key>> arrays;
};
