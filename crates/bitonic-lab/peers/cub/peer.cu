// A peer of `bitonic bench gpu`: sorts the same keys on the same GPU with CUB, NVIDIA's library of device-wide sorts.
//
//     nvcc -O3 -std=c++17 -arch=native peer.cu -o peer
//
// builds it for all types of keys, which takes minutes; '-DPEER_TYPES=std::uint32_t\,float' for some of them.
//
// All peers (this one, peers/pytorch, peers/numpy) speak the same protocol: a peer is a program that is asked line by line and
// answers each line with one of its own. What it measures it must measure itself, because only it has its keys; whether they
// are sorted is for the one who asks to see.
//
//     peer DEVICE                                         how it is started: the number that CUDA has for the device, 0 for a
//                                                         peer that sorts on the processor
//         ready DESCRIPTION                               unasked, when it can be asked: itself and its device in words
//     keys TYPE ROWS ROW_LENGTH KEYS_FILE [VALUES_FILE]   what to sort from now on: every row of so many keys for itself;
//                                                         values have 32 bits each and travel with their keys
//         sorts [NAME ...]                                the ways in which it can, best known first; maybe none
//     run NAME MICROSECONDS                               warms up: sorts the unsorted keys at least once, and until so much
//                                                         time is over; then sorts them once more
//         time NANOSECONDS [NOTE]                         of the last sort: on a device from an event before it to an event
//                                                         behind it on its stream; bringing back the unsorted keys is not in it
//     result KEYS_FILE [VALUES_FILE]                      writes what the last run has left
//         written
//     end                                                 it ends; so it does when nobody can ask any more
//         error REASON                                    instead of any answer; what comes next is another question
//
// TYPE is u32, i32, f32, u64, i64 or f64; numpy knows narrower ones, too. Files have the numbers' bytes and nothing else,
// little-endian, and are in the folder that the peer is started in. Floats are compared with `<`, as CUB's users do, so there must be no NaN among them: NaN is in
// no order, and CUB's merge sort then reads outside of its arrays. Nor may there be both zeros, which `<` calls equal.

#include "device.cuh"
#include "arrays.cuh"
#include "rows.cuh"

#include <cub/version.cuh>

#include <iostream>
#include <sstream>

#ifndef PEER_TYPES
#define PEER_TYPES std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double
#endif

namespace {

// Everything that can sort the keys of a question, with the memory that it needs.
template <class Key>
Contenders contenders_for(const Question& question) {
    auto arrays = std::make_shared<Arrays<Key>>(question);
    return question.rows == 1 ? sorts_of_arrays(arrays) : sorts_of_rows(arrays);
}

template <class... Keys>
Contenders contenders_of_type(const Question& question) {
    Contenders found;
    const bool known = ((question.type == type_name<Keys>() && (found = contenders_for<Keys>(question), true)) || ...);
    if (!known) throw std::runtime_error("this peer was built without keys of type " + question.type);
    return found;
}

std::string description(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "describe the device");
    int runtime = 0;
    check(cudaRuntimeGetVersion(&runtime), "tell its version");
    std::ostringstream text;
    text << "CUB " << CUB_MAJOR_VERSION << '.' << CUB_MINOR_VERSION << '.' << CUB_SUBMINOR_VERSION << ", CUDA "
         << runtime / 1000 << '.' << runtime % 1000 / 10 << ", " << properties.name;
    return text.str();
}

class Peer {
public:
    explicit Peer(int device) {
        check(cudaSetDevice(device), "open the device");
        stream = std::make_unique<Stream>();
    }

    std::string answer(const std::string& line) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "keys") return take_keys(words);
        if (verb == "run") return run(words);
        if (verb == "result") return write_result(words);
        throw std::runtime_error("unknown question: " + line);
    }

private:
    std::string take_keys(std::istringstream& words) {
        Question question;
        words >> question.type >> question.rows >> question.row_length >> question.keys_file;
        if (!words) throw std::runtime_error("keys needs a type, two numbers and a file");
        words >> question.values_file;
        contenders.clear(); // Their memory first: the next ones may need it.
        last = nullptr;
        contenders = contenders_of_type<PEER_TYPES>(question);
        std::string names = "sorts";
        for (const auto& contender : contenders) names += " " + contender->name;
        return names;
    }

    std::string run(std::istringstream& words) {
        std::string name;
        double microseconds = 0;
        words >> name >> microseconds;
        if (!words) throw std::runtime_error("run needs a name and a number of microseconds");
        for (const auto& contender : contenders) {
            if (contender->name != name) continue;
            last = contender.get();
            const double nanoseconds = contender->measure(*stream, microseconds);
            std::ostringstream text;
            text << "time " << static_cast<unsigned long long>(nanoseconds + 0.5);
            if (!contender->note.empty()) text << ' ' << contender->note;
            return text.str();
        }
        throw std::runtime_error("there is no sort " + name + " for these keys");
    }

    std::string write_result(std::istringstream& words) {
        std::string keys_file, values_file;
        words >> keys_file;
        if (!words || !last) throw std::runtime_error("result needs a file, and a run before");
        words >> values_file;
        last->write_result(keys_file, values_file);
        return "written";
    }

    std::unique_ptr<Stream> stream;
    Contenders contenders;
    Contender* last = nullptr;
};

// An answer is one line.
std::string on_one_line(std::string text) {
    for (char& letter : text) {
        if (letter == '\n' || letter == '\r') letter = ' ';
    }
    return text;
}

void say(const std::string& answer) { std::cout << on_one_line(answer) << std::endl; }

} // namespace

int main(int count, char** arguments) {
    const int device = count > 1 ? std::atoi(arguments[1]) : 0;
    std::unique_ptr<Peer> peer;
    try {
        peer = std::make_unique<Peer>(device);
        say("ready " + description(device));
    } catch (const std::exception& error) {
        say(std::string("error ") + error.what());
        return 1;
    }
    for (std::string line; std::getline(std::cin, line) && line != "end";) {
        try {
            say(peer->answer(line));
        } catch (const std::exception& error) {
            say(std::string("error ") + error.what());
        }
    }
    return 0;
}
