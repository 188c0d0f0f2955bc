// Measures the reduction kernels against a plain loop that the compiler vectorises, and streaming
// stores against a hand-written loop. The contenders take turns; the result is checked first.

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/types.h"
#include "core/kernels/kernels.h"

namespace hycoll {
namespace {

struct Case {
  Operator op;
  DataType type;
  std::size_t size_bytes;
  std::size_t source_count;
  std::size_t destination_count;
  std::size_t thread_count;
  Stores stores;
  bool huge_pages;
};

struct Contender {
  std::string name;
  ReduceKernel kernel;
};

// ---------------------------------------------------------------------------------------------------------
// What the kernels are compared with.

#ifdef __x86_64__
#define HYCOLL_FOR_EVERY_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HYCOLL_FOR_EVERY_CPU
#endif

HYCOLL_FOR_EVERY_CPU
void plain_sum_float(float* __restrict out, float* __restrict out2, const float* __restrict a,
                     const float* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = out2[i] = a[i] + b[i];
}

HYCOLL_FOR_EVERY_CPU
void plain_sum_double(double* __restrict out, double* __restrict out2, const double* __restrict a,
                      const double* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = out2[i] = a[i] + b[i];
}

HYCOLL_FOR_EVERY_CPU
void plain_sum_int32(std::uint32_t* __restrict out, std::uint32_t* __restrict out2,
                     const std::uint32_t* __restrict a, const std::uint32_t* __restrict b,
                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = out2[i] = a[i] + b[i];
}

HYCOLL_FOR_EVERY_CPU
void plain_sum_int8(std::uint8_t* __restrict out, std::uint8_t* __restrict out2,
                    const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
                    std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = out2[i] = static_cast<std::uint8_t>(a[i] + b[i]);
}

template <class T, void (*kLoop)(T*, T*, const T*, const T*, std::size_t)>
void plain_kernel(std::span<void* const> destinations, std::span<const void* const> sources,
                  std::size_t count, Stores /*stores*/) {
  kLoop(static_cast<T*>(destinations[0]), static_cast<T*>(destinations[1]),
        static_cast<const T*>(sources[0]), static_cast<const T*>(sources[1]), count);
}

#ifdef __x86_64__
/// The memory traffic of a streaming sum of any type, with what a loop for exactly this needs and
/// nothing else.
__attribute__((target("avx512f"))) void hand_written_sum(std::span<void* const> destinations,
                                                         std::span<const void* const> sources,
                                                         std::size_t count, Stores /*stores*/) {
  auto* const out = static_cast<double*>(destinations[0]);
  auto* const out2 = static_cast<double*>(destinations[1]);
  const auto* const a = static_cast<const double*>(sources[0]);
  const auto* const b = static_cast<const double*>(sources[1]);
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    const __m512d sum = _mm512_add_pd(_mm512_loadu_pd(a + i), _mm512_loadu_pd(b + i));
    _mm512_stream_pd(out + i, sum);
    _mm512_stream_pd(out2 + i, sum);
  }
  _mm_sfence();
}
#endif

std::vector<Contender> contenders(const Case& measured) {
  std::vector<Contender> list = {{"hycoll", reduce_kernel(measured.op, measured.type)}};
  if (measured.op != Operator::sum || measured.source_count != 2 || measured.destination_count != 2)
    return list;
  if (measured.type == DataType::float32) {
    list.push_back({"plain", &plain_kernel<float, plain_sum_float>});
  } else if (measured.type == DataType::float64) {
    list.push_back({"plain", &plain_kernel<double, plain_sum_double>});
  } else if (size_of(measured.type) == 4) {
    list.push_back({"plain", &plain_kernel<std::uint32_t, plain_sum_int32>});
  } else if (size_of(measured.type) == 1) {
    list.push_back({"plain", &plain_kernel<std::uint8_t, plain_sum_int8>});
  }
#ifdef __x86_64__
  const bool is_comparable = measured.type == DataType::float64 &&
                             measured.stores == Stores::streaming &&
                             measured.size_bytes % (measured.thread_count * 64) == 0;
  if (is_comparable && __builtin_cpu_supports("avx512f"))
    list.push_back({"by hand", &hand_written_sum});
#endif
  return list;
}

// ---------------------------------------------------------------------------------------------------------
// Running them.

/// The part of the buffers that one thread reduces.
struct Part {
  std::vector<void*> destinations;
  std::vector<const void*> sources;
  std::size_t count;
};

class Buffers {
 public:
  explicit Buffers(const Case& measured) : measured_(measured) {
    for (std::size_t k = 0; k < measured.source_count + measured.destination_count; ++k) {
      const std::size_t page_bytes = measured.huge_pages ? std::size_t{2} << 20 : 4096;
      const std::size_t allocated_bytes = (measured.size_bytes / page_bytes + 2) * page_bytes;
      memory_.emplace_back(
          static_cast<std::byte*>(std::aligned_alloc(page_bytes, allocated_bytes)));
      if (measured.huge_pages) madvise(memory_.back().get(), allocated_bytes, MADV_HUGEPAGE);
      // As floating point between 1e-9 and 1: products that underflow would take twice as long.
      std::memset(memory_.back().get(), static_cast<int>(0x3F - k % 16), allocated_bytes);
    }
  }

  std::vector<Part> parts() const {
    const std::size_t count = measured_.size_bytes / size_of(measured_.type);
    std::vector<Part> parts;
    for (std::size_t t = 0; t < measured_.thread_count; ++t) {
      const std::size_t begin = count * t / measured_.thread_count;
      const std::size_t end = count * (t + 1) / measured_.thread_count;
      Part part{{}, {}, end - begin};
      for (std::size_t k = 0; k < memory_.size(); ++k) {
        // Some lines apart, so that the buffers do not all fall into the same sets of the caches.
        std::byte* const address =
            memory_[k].get() + k * 320 % 4096 + begin * size_of(measured_.type);
        if (k < measured_.source_count) {
          part.sources.push_back(address);
        } else {
          part.destinations.push_back(address);
        }
      }
      parts.push_back(part);
    }
    return parts;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  Case measured_;
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

void pin_to_allowed_core(std::size_t index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::size_t seen = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != index) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

double time_call_ns(ReduceKernel kernel, const std::vector<Part>& parts, Stores stores,
                    std::size_t iterations) {
  std::vector<double> elapsed_ns(parts.size());
  std::barrier start_together(static_cast<std::ptrdiff_t>(parts.size()));
  const auto run = [&](std::size_t index) {
    const Part& part = parts[index];
    if (parts.size() > 1) pin_to_allowed_core(index);
    kernel(part.destinations, part.sources, part.count, stores);
    start_together.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < iterations; ++i)
      kernel(part.destinations, part.sources, part.count, stores);
    elapsed_ns[index] = nanoseconds_since(start) / static_cast<double>(iterations);
  };
  if (parts.size() == 1) {
    run(0);
  } else {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < parts.size(); ++t) threads.emplace_back(run, t);
  }
  return *std::max_element(elapsed_ns.begin(), elapsed_ns.end());
}

/// Whether the contender leaves the same bytes in the destinations as the first one.
bool agrees(ReduceKernel kernel, ReduceKernel reference, const std::vector<Part>& parts,
            Stores stores, std::size_t element_bytes) {
  for (const Part& part : parts) {
    const std::size_t part_bytes = part.count * element_bytes;
    reference(part.destinations, part.sources, part.count, stores);
    const auto* const first = static_cast<const std::byte*>(part.destinations[0]);
    const std::vector<std::byte> expected(first, first + part_bytes);
    std::memset(part.destinations[0], 0, part_bytes);
    kernel(part.destinations, part.sources, part.count, stores);
    if (std::memcmp(first, expected.data(), part_bytes) != 0) return false;
  }
  return true;
}

bool measure(const Case& measured, std::size_t rounds) {
  const Buffers buffers(measured);
  const std::vector<Part> parts = buffers.parts();
  const std::vector<Contender> list = contenders(measured);
  for (const Contender& contender : list) {
    if (agrees(contender.kernel, list[0].kernel, parts, measured.stores, size_of(measured.type)))
      continue;
    fmt::print(stderr, "{}: wrong result\n", contender.name);
    return false;
  }
  std::vector<std::vector<double>> times_ns(list.size());
  const auto total_bytes = static_cast<double>(
      measured.size_bytes * (measured.source_count + measured.destination_count));
  const auto iterations = static_cast<std::size_t>(std::max(1.0, 2e7 / (total_bytes + 200.0)));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < list.size(); ++c) {
      times_ns[c].push_back(time_call_ns(list[c].kernel, parts, measured.stores, iterations));
    }
  }
  for (std::size_t c = 0; c < list.size(); ++c) {
    std::sort(times_ns[c].begin(), times_ns[c].end());
    const double median_ns = times_ns[c][rounds / 2];
    fmt::print("{:5} {:7} {:10} {:4} {:4} {:4} {:10} {:8} {:12.1f} {:12.1f} {:8.1f}\n",
               name_of(measured.op), name_of(measured.type), measured.size_bytes,
               measured.source_count, measured.destination_count, measured.thread_count,
               measured.stores == Stores::cached ? "cached" : "streaming", list[c].name,
               times_ns[c].front(), median_ns, total_bytes / median_ns);
  }
  return true;
}

struct Options {
  std::vector<std::string> operators = {"sum"};
  std::vector<std::string> types = {"float", "double", "int32", "int8"};
  std::vector<std::size_t> sizes_bytes = {8, 16 << 10, 256 << 10, 16 << 20};
  std::size_t source_count = 2;
  std::size_t destination_count = 2;
  std::size_t thread_count = 1;
  std::size_t rounds = 11;
  bool huge_pages = false;
};

std::vector<Case> cases(const Options& options) {
  std::vector<Case> list;
  for (const std::string& op : options.operators) {
    for (const std::string& type : options.types) {
      for (const std::size_t size_bytes : options.sizes_bytes) {
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          const Case measured{parse_operator(op).value(),
                              parse_data_type(type).value(),
                              size_bytes,
                              options.source_count,
                              options.destination_count,
                              options.thread_count,
                              stores,
                              options.huge_pages};
          if (is_defined_for(measured.op, measured.type)) list.push_back(measured);
        }
      }
    }
  }
  return list;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the reduction kernels; GB/s count every byte read and written once.");
  const auto is_operator = [](const std::string& name) {
    return parse_operator(name) ? std::string() : "unknown operator: " + name;
  };
  const auto is_type = [](const std::string& name) {
    return parse_data_type(name) ? std::string() : "unknown type: " + name;
  };
  app.add_option("--op", options.operators, "operators")
      ->delimiter(',')
      ->check(is_operator)
      ->capture_default_str();
  app.add_option("--type", options.types, "element types")
      ->delimiter(',')
      ->check(is_type)
      ->capture_default_str();
  app.add_option("--size", options.sizes_bytes, "bytes of each buffer, such as 16Ki")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--sources", options.source_count, "number of sources")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--destinations", options.destination_count, "number of destinations")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--threads", options.thread_count, "threads that reduce a part each")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "turns of every loop")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--huge-pages", options.huge_pages, "ask for huge pages");
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:5} {:7} {:>10} {:>4} {:>4} {:>4} {:10} {:8} {:>12} {:>12} {:>8}\n", "op", "type",
             "bytes", "src", "dst", "thr", "stores", "loop", "min ns", "median ns", "GB/s");
  for (const Case& measured : cases(options)) {
    if (!measure(measured, options.rounds)) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace hycoll

int main(int argc, char** argv) { return hycoll::run(argc, argv); }
