// All settings: to add one, add a row, and run tools/settings.

#include "collectives/calls/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <type_traits>
#include <vector>

#include "collectives/job/worker_groups.h"
#include "core/base/errors.h"
#include "threading/latency/core_latencies.h"

namespace hycoll {
namespace {

constexpr int kMostSeconds = 1'000'000;
constexpr int kMostKib = 1'000'000'000;

[[noreturn]] void refuse(const char* variable, std::string_view text, std::string_view expected) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}='{}': expected {}; correct or unset it", variable, text, expected));
}

/// "`auto`, `mpi`, `ucx`" without the marks.
std::vector<std::string> names_in(std::string_view values) {
  std::vector<std::string> names(1);
  for (const char c : values) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != '`' && c != ' ') {
      names.back() += c;
    }
  }
  return names;
}

/// The functions below are Setting::read of the field `kField`.
template <auto kField, int kMost>
void read_number(const Setting& setting, std::string_view text, Options& options) {
  options.*kField = parse_whole_number(setting.variable, text, 0, kMost);
}

template <auto kField>
void read_seconds(const Setting& setting, std::string_view text, Options& options) {
  options.*kField =
      std::chrono::seconds(parse_whole_number(setting.variable, text, 0, kMostSeconds));
}

/// `kOff` for 0, `kOn` for 1.
template <auto kField, auto kOff, auto kOn>
void read_switch(const Setting& setting, std::string_view text, Options& options) {
  options.*kField = parse_whole_number(setting.variable, text, 0, 1) == 1 ? kOn : kOff;
}

/// One of Setting::values.
template <auto kField>
void read_name(const Setting& setting, std::string_view text, Options& options) {
  using Field = std::remove_reference_t<decltype(options.*kField)>;
  const std::vector<std::string> names = names_in(setting.values);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    const std::span<const std::string> all_but_last(names.begin(), names.end() - 1);
    refuse(setting.variable, text,
           fmt::format("{} or {}", fmt::join(all_but_last, ", "), names.back()));
  }
  options.*kField = static_cast<Field>(found - names.begin());
}

template <auto kField>
void read_text(const Setting& /*setting*/, std::string_view text, Options& options) {
  options.*kField = text;
}

/// A text that `kParse` understands.
template <auto kField, auto kParse>
void read_parsed_text(const Setting& /*setting*/, std::string_view text, Options& options) {
  options.*kField = text;
  kParse(options.*kField);
}

/// "K" or "K:cyclic".
void read_emulated_nodes(const Setting& setting, std::string_view text, Options& options) {
  constexpr std::string_view kCyclic = ":cyclic";
  if (text.ends_with(kCyclic)) {
    text.remove_suffix(kCyclic.size());
    options.emulated_dealing = Options::EmulatedDealing::cyclic;
  }
  options.emulated_nodes = parse_whole_number(setting.variable, text, 0, 1'000'000);
}

constexpr auto kNeeded = Setting::Group::needed;
constexpr auto kTuning = Setting::Group::tuning;
constexpr auto kTests = Setting::Group::tests;

constexpr Setting kSettings[] = {
    {.group = kNeeded,
     .variable = "HYCOLL_LAYOUT",
     .field = "layout",
     .otherwise = "L: `per_node`; P: by machine",
     .values = "`per_node`, `processes`",
     .effect = "what the members of a node are: each process by itself, or the processes of a "
               "machine together. P chooses `processes` where several ranks share a machine",
     .readers = "L P",
     .read = read_name<&Options::layout>},
    {.group = kNeeded,
     .variable = "HYCOLL_WORKERS",
     .field = "workers",
     .otherwise = "0: the cores of the process",
     .values = "0 to 4096",
     .effect =
         "threads of a `Communicator` with the layout `per_node`. May differ between processes",
     .readers = "L",
     .read = read_number<&Options::workers, 4096>},
    {.group = kNeeded,
     .variable = "HYCOLL_LEADERS",
     .field = "workers",
     .otherwise = "1",
     .values = "1 to 4096",
     .effect = "`per_node` for all communicators with this many workers per process; more than one "
               "raises the thread level to `MPI_THREAD_MULTIPLE`",
     .readers = "P"},
    {.group = kNeeded,
     .variable = "HYCOLL_PIN",
     .field = "pinning",
     .otherwise = "1",
     .values = "0, 1",
     .effect = "whether threads are pinned, each to a core. May differ between processes",
     .readers = "L P",
     .read = read_switch<&Options::pinning, Options::Pinning::unpinned, Options::Pinning::pinned>},
    {.group = kNeeded,
     .variable = "HYCOLL_REPORT",
     .otherwise = "0",
     .values = "1, `FILE.json`",
     .effect = "what hycoll served, by which algorithm, and why not: printed or written in "
               "`MPI_Finalize`",
     .readers = "P"},
    {.group = kNeeded,
     .variable = "HYCOLL_DISABLE",
     .otherwise = "nothing",
     .values = "`scan,reduce`, `all`",
     .effect = "these collectives go to the MPI library, in all their forms",
     .readers = "P"},
    {.group = kNeeded,
     .variable = "HYCOLL_REPRODUCIBLE",
     .field = "bits",
     .otherwise = "0",
     .values = "0, 1",
     .effect = "sums have the same bits for any algorithm, size and number of lanes "
               "([exactly](algorithms.md#reproducible-sums))",
     .readers = "L P",
     .read = read_switch<&Options::bits, Bits::same_on_all_members, Bits::reproducible>},
    {.group = kNeeded,
     .variable = "HYCOLL_WARN_AFTER_S",
     .field = "warn_after",
     .otherwise = "60",
     .values = "seconds; 0: never",
     .effect = "a line names the process that a call waits for; again after twice, four times as "
               "long. May differ",
     .readers = "L P",
     .read = read_seconds<&Options::warn_after>},
    {.group = kNeeded,
     .variable = "HYCOLL_TIMEOUT_S",
     .field = "timeout",
     .otherwise = "0: never",
     .values = "seconds",
     .effect = "ends the job when a call has made no progress for this long, and says who is "
               "missing. May differ",
     .readers = "L P",
     .read = read_seconds<&Options::timeout>},
    {.group = kNeeded,
     .variable = "HYCOLL_WAIT",
     .field = "waiting",
     .otherwise = "`auto`",
     .values = "`auto`, `spin`, `yield`, `sleep`",
     .effect = "what a process does while it waits in a collective; `sleep` leaves its core to "
               "others after 1 ms ([waiting](preload.md#waiting))",
     .readers = "L P",
     .read = read_name<&Options::waiting>},
    {.group = kNeeded,
     .variable = "HYCOLL_CHECK",
     .field = "checking",
     .otherwise = "0",
     .values = "0, 1",
     .effect = "compares the arguments of every call between processes; slow, for finding mistakes",
     .readers = "L P",
     .read = read_switch<&Options::checking, Options::Checking::process,
                         Options::Checking::all_processes>},
    {.group = kNeeded,
     .variable = "HYCOLL_SHARED_HEAP",
     .otherwise = "0",
     .values = "0, 1",
     .effect = "large blocks of `malloc` come from the [shared heap](heap.md)",
     .readers = "H"},
    {.group = kTuning,
     .variable = "HYCOLL_ALGORITHM",
     .field = "algorithm",
     .otherwise = "`auto`",
     .values = "`dpml-ring`, or `allreduce:dpml:4,reduce:dpml-binomial`",
     .effect = "algorithms by name, for all or by collective, and their lanes; `dpml` is any "
               "`dpml-...`, `auto:4` any algorithm with 4 lanes; `bcast` is `broadcast`",
     .for_whom = "studies; a choice of `auto` that is bad on your machine",
     .readers = "L P",
     .read = read_text<&Options::algorithm>},
    {.group = kTuning,
     .variable = "HYCOLL_LANES",
     .field = "lanes",
     .otherwise = "0: by call",
     .values = "0 to 4096",
     .effect = "lanes per node, at most 8 for each worker",
     .for_whom = "studies",
     .readers = "L P",
     .read = read_number<&Options::lanes, 4096>},
    {.group = kTuning,
     .variable = "HYCOLL_PLACEMENT",
     .field = "placement",
     .otherwise = "`spread`",
     .values = "`compact`, `spread`, `one_per_package`",
     .effect = "where leaders run: side by side, over the NUMA domains, one per package. May "
               "differ with `per_node`",
     .for_whom = "machines with several NUMA domains",
     .readers = "L P",
     .read = read_text<&Options::placement>},
    {.group = kTuning,
     .variable = "HYCOLL_TRANSPORT",
     .field = "transport",
     .otherwise = "`auto`",
     .values = "`auto`, `mpi`, `ucx`",
     .effect = "what messages between nodes go through; `auto` takes UCX (1.10 or later) where all "
               "processes have it and it is measured to be faster",
     .for_whom = "when `hycoll info` shows a wrong choice",
     .readers = "L P",
     .read = read_name<&Options::transport>},
    {.group = kTuning,
     .variable = "HYCOLL_PUTS",
     .field = "puts",
     .otherwise = "`auto`",
     .values = "`auto`, 0, 1",
     .effect = "over UCX: whether messages of 32 to 512 KiB are put into the receiver's memory; no "
               "difference over TCP",
     .for_whom = "as above",
     .readers = "L P",
     .read = read_name<&Options::puts>},
    {.group = kTuning,
     .variable = "HYCOLL_ATTACH_AFTER",
     .otherwise = "when it pays",
     .values = "calls",
     .effect = "calls on a communicator before hycoll prepares itself for it; 0 with "
               "`HYCOLL_REPRODUCIBLE=1`",
     .for_whom = "short tests and benchmarks (0)",
     .readers = "P"},
    {.group = kTuning,
     .variable = "HYCOLL_DEVICE_MEMORY",
     .otherwise = "1",
     .values = "0, 1",
     .effect = "0: no buffer lies in GPU memory, so hycoll need not look",
     .for_whom = "programs with a GPU driver loaded that pass host buffers only",
     .readers = "P"},
    {.group = kTuning,
     .variable = "HYCOLL_SINGLE_COPY_KIB",
     .field = "single_copy_kib",
     .otherwise = "long vectors, near processes",
     .values = "KiB; 0: never",
     .effect = "vectors from this length on are copied between processes by the kernel "
               "(`process_vm_readv`), near or far",
     .for_whom = "containers that forbid it (0)",
     .readers = "L P",
     .read = read_number<&Options::single_copy_kib, kMostKib>},
    {.group = kTuning,
     .variable = "HYCOLL_STAGING_KIB",
     .field = "staging_kib",
     .otherwise = "1024",
     .values = "64 to 1048576",
     .effect = "shared memory of each process and communicator through which vectors pass",
     .for_whom = "large cores' caches",
     .readers = "L P",
     .read = read_number<&Options::staging_kib, 1'048'576>},
    {.group = kTuning,
     .variable = "HYCOLL_STAGING_LIMIT",
     .field = "staging_limit_mib",
     .otherwise = "64, or eight communicators per process",
     .values = "MiB",
     .effect = "shared memory of all communicators on a machine",
     .for_whom = "programs with many communicators",
     .readers = "L P",
     .read = read_number<&Options::staging_limit_mib, 1'000'000'000>},
    {.group = kTuning,
     .variable = "HYCOLL_NODE",
     .field = "node_scope",
     .otherwise = "`machine`",
     .values = "`machine`, `numa`",
     .effect =
         "layout `processes`: whether the processes of a machine or of a NUMA domain form a node",
     .for_whom = "machines with several NUMA domains",
     .readers = "L P",
     .read = read_name<&Options::node_scope>},
    {.group = kTuning,
     .variable = "HYCOLL_GROUPS",
     .field = "groups",
     .otherwise = "`machine`",
     .values = "`machine`, `flat`, `4,16`",
     .effect = "which members of a node are near one another: by topology, none, or groups of 4 in "
               "groups of 16",
     .for_whom = "virtual machines that hide their topology",
     .readers = "L P",
     .read = read_parsed_text<&Options::groups, &parse_groups>},
    {.group = kTuning,
     .variable = "HYCOLL_LATENCIES",
     .field = "latencies",
     .otherwise = "measured once, kept in the user's cache folder",
     .values = "`measure`, `published`, `10,25,80,110,200`",
     .effect = "nanoseconds that a cache line takes: same core, cache, NUMA domain, package, "
               "between packages. Algorithms that follow groups are chosen by it",
     .for_whom = "as above",
     .readers = "L P",
     .read = read_parsed_text<&Options::latencies, &parse_latency_request>},
    {.group = kTuning,
     .variable = "HYCOLL_TOPOLOGY",
     .field = "topology",
     .otherwise = "none",
     .values = "a file, `slurm`",
     .effect = "the network's switches and hosts: nodes are numbered as in a ring that is free of "
               "contention ([topology](topology.md))",
     .for_whom = "networks of several switches, whose links hold long vectors up",
     .readers = "L P",
     .read = read_text<&Options::topology>},
    {.group = kTuning,
     .variable = "HYCOLL_MACHINE",
     .field = "machine",
     .otherwise = "a cluster of 100 Gbit/s",
     .values = "a file",
     .effect = "what messages, copies and reductions cost, as `hycoll calibrate` measures it: "
               "between nodes, algorithms and lanes are chosen by it "
               "([machine files](models.md#machine-files))",
     .for_whom = "networks that are much faster or slower",
     .readers = "L P",
     .read = read_text<&Options::machine>},
    {.group = kTuning,
     .variable = "HYCOLL_TUNING",
     .field = "tuning",
     .otherwise = "none",
     .values = "a file",
     .effect = "which algorithm is fastest, as `hycoll tune` has measured it on such nodes "
               "([tune](tune.md))",
     .for_whom = "machines on which the choices are not the best",
     .readers = "L P",
     .read = read_text<&Options::tuning>},
    {.group = kNeeded,
     .variable = "HYCOLL_TRACE",
     .field = "trace",
     .otherwise = "none",
     .values = "a folder",
     .effect = "what every worker did in its latest calls, written when the process exits, and on "
               "`SIGUSR2` ([trace](trace.md))",
     .readers = "L P",
     .read = read_text<&Options::trace>},
    {.group = kTuning,
     .variable = "HYCOLL_TRACE_KIB",
     .field = "trace_kib",
     .otherwise = "1024",
     .values = "1 to 1000000",
     .effect = "what the trace keeps for each thread, in KiB: a step takes 32 bytes",
     .for_whom = "calls of interest that are long ago when the trace is written",
     .readers = "L P",
     .read = read_number<&Options::trace_kib, 1'000'000>},
    {.group = kTuning,
     .variable = "HYCOLL_PLAN_CACHE_KIB",
     .field = "plan_cache_kib",
     .otherwise = "16384",
     .values = "at least 1",
     .effect =
         "memory for the plans of a communicator on each process; the longest unused go first",
     .for_whom = "thousands of different calls",
     .readers = "L P",
     .read = read_number<&Options::plan_cache_kib, kMostKib>},
    {.group = kTuning,
     .variable = "HYCOLL_EXCHANGE_KIB",
     .field = "exchange_kib",
     .otherwise = "65536",
     .values = "at least 1",
     .effect = "what the leaders of a node may hold of an all-to-all; longer ones pass in segments",
     .for_whom = "very large all-to-alls",
     .readers = "L P",
     .read = read_number<&Options::exchange_kib, kMostKib>},
    {.group = kTuning,
     .variable = "HYCOLL_AGGREGATORS",
     .field = "aggregators",
     .otherwise = "0",
     .values = "processes",
     .effect = "the last processes only reduce, for `node-leader` and `socket-leader`",
     .for_whom = "studies",
     .readers = "L",
     .read = read_number<&Options::aggregators, 1'000'000>},
    {.group = kTuning,
     .variable = "HYCOLL_SHARED_HEAP_THRESHOLD",
     .otherwise = "64K",
     .values = "bytes, with K, M or G; at least 32K",
     .effect = "the smallest block that comes from the shared heap",
     .for_whom = "many small blocks",
     .readers = "H"},
    {.group = kTuning,
     .variable = "HYCOLL_SHARED_HEAP_LIMIT",
     .otherwise = "the machine's memory; 256M under valgrind",
     .values = "bytes, with K, M, G or T; 0: no sharing",
     .effect = "size of the shared heap; also of `hycoll::allocate`",
     .for_whom = "limited address space",
     .readers = "L H"},
    {.group = kTests,
     .variable = "HYCOLL_EMULATE_NODES",
     .field = "emulated_nodes",
     .otherwise = "0",
     .values = "`2`, `2:cyclic`",
     .effect = "layout `processes` on one machine: its processes form that many nodes, in blocks "
               "of ranks or in turn",
     .readers = "L P",
     .read = read_emulated_nodes},
    {.group = kTests,
     .variable = "HYCOLL_MPI",
     .otherwise = "`mpich`",
     .values = "`mpich`, `openmpi`, a prefix",
     .effect = "the MPI library that Bazel, `tools/demo` and `tools/install` build for",
     .readers = "B"},
};

}  // namespace

std::span<const Setting> all_settings() noexcept { return kSettings; }

std::string_view title_of(Setting::Group group) noexcept {
  switch (group) {
    case Setting::Group::needed:
      return "You may need these";
    case Setting::Group::tuning:
      return "Tuning";
    case Setting::Group::tests:
      return "For tests, and to build";
  }
  return "";
}

int parse_whole_number(const char* variable, std::string_view text, int least, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most) {
    refuse(variable, text, fmt::format("a whole number from {} to {}", least, most));
  }
  return value;
}

}  // namespace hycoll
