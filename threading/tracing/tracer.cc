#include "threading/tracing/tracer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "threading/observing/observers.h"

namespace hycoll {
namespace {

/// Of which the processes are remembered; those that were made first are forgotten first.
constexpr std::size_t kMostCommunicators = 10'000;

constinit std::atomic<Tracer*> tracer_here{nullptr};
constinit std::mutex starting;

/// The end of a pipe that the signal's handler writes to.
constinit std::atomic<int> signal_pipe{-1};

void on_signal(int /*signal*/) {
  const char byte = 0;
  // What the pipe has no room for has been asked for already.
  [[maybe_unused]] const auto written = ::write(signal_pipe.load(), &byte, 1);
}

std::string host_here() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// A thread's ring, from its first event to its end.
struct RingOfThread {
  ~RingOfThread() {
    if (ring != nullptr) tracer_here.load()->give_back(*ring);
  }
  TraceRing* ring = nullptr;
};

TraceRing& own_ring(void* context) {
  RingOfThread& own = of_this_thread<RingOfThread>();
  if (own.ring == nullptr) [[unlikely]]
    own.ring = &static_cast<Tracer*>(context)->ring_here();
  return *own.ring;
}

hycoll_observer observer_for(Tracer& tracer) {
  return {.size = sizeof(hycoll_observer),
          .context = &tracer,
          .run_begins = [](void* context,
                           const hycoll_observed_run* run) { own_ring(context).run_begins(*run); },
          .step_ends =
              [](void* context, const hycoll_observed_run* run, const hycoll_observed_step* step) {
                own_ring(context).step_ends(*run, *step);
              },
          .message_ends =
              [](void* context, const hycoll_observed_run* run, const hycoll_observed_step* step) {
                own_ring(context).message_ends(*run, *step);
              },
          .run_ends = [](void* context, const hycoll_observed_run* run,
                         int failed) { own_ring(context).run_ends(*run, failed != 0); }};
}

/// Makes the folder, and tries whether files can be made in it.
void require_writable(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && access(folder.c_str(), W_OK | X_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  }
  if (!error) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("HYCOLL_TRACE (Options::trace) is '{}', into which nothing can be "
                          "written: {}; name a folder, which is made if it is missing",
                          folder, error.message()));
}

}  // namespace

Tracer::Tracer(std::string folder, std::size_t ring_bytes)
    : folder_(std::move(folder)), ring_bytes_(ring_bytes), own_pid_(getpid()) {
  process_.host = host_here();
  process_.pid = own_pid_;
}

Tracer& Tracer::start(const std::string& folder, std::size_t ring_bytes) {
  const std::lock_guard lock(starting);
  if (Tracer* const running = tracer_here.load()) {
    if (running->folder_ == folder) return *running;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Options::trace (HYCOLL_TRACE) is '{}', but this process's trace goes "
                            "to '{}' already; pass the same for all communicators and teams",
                            folder, running->folder_));
  }
  require_writable(folder);
  // It lasts: threads may end, and signals come, until the process has ended.
  auto* const made = new Tracer(folder, ring_bytes);
  if (!Observers::add(observer_for(*made))) {
    delete made;
    throw Error(ErrorKind::environment,
                fmt::format("HYCOLL_TRACE (Options::trace): {} observers are registered already, "
                            "and the trace would be one more; register fewer",
                            HYCOLL_MOST_OBSERVERS));
  }
  tracer_here.store(made);
  std::atexit([] { tracer_here.load()->write(); });
  made->write_on_signal();
  return *made;
}

Tracer* Tracer::running() noexcept { return tracer_here.load(); }

void Tracer::write_on_signal() {
  struct sigaction handler {};
  if (sigaction(SIGUSR2, nullptr, &handler) != 0 || handler.sa_handler != SIG_DFL) return;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  // The program's signals are none of this thread's business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this, end = ends[0]] {
      char byte = 0;
      while (::read(end, &byte, 1) == 1) {
        const std::string name = write();
        if (!name.empty()) std::fprintf(stderr, "hycoll: trace: %s\n", name.c_str());
      }
    }).detach();
    signal_pipe.store(ends[1]);
    handler = {};
    handler.sa_handler = on_signal;
    handler.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &handler, nullptr);
  } catch (const std::system_error&) {
    // No thread is to be had: the trace is written at the end.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Tracer::add_communicator(std::uint64_t number, const ClockOffset& clock) {
  const std::lock_guard lock(mutex_);
  auto& known = process_.communicators;
  known[static_cast<std::uint32_t>(number)] = clock.communicator;
  if (known.size() > kMostCommunicators) known.erase(known.begin());
  const bool is_first = process_.clock.communicator.id == 0;
  if (is_first || clock.communicator.size > process_.clock.communicator.size) {
    process_.clock = clock;
  }
}

TraceRing& Tracer::ring_here() noexcept {
  const std::lock_guard lock(mutex_);
  if (!vacant_.empty()) {
    TraceRing* const ring = vacant_.back();
    vacant_.pop_back();
    return *ring;
  }
  return *rings_.emplace_back(std::make_unique<TraceRing>(ring_bytes_));
}

void Tracer::give_back(TraceRing& ring) noexcept {
  const std::lock_guard lock(mutex_);
  vacant_.push_back(&ring);
}

std::string Tracer::write() noexcept {
  if (getpid() != own_pid_) return {};  // a child that has been forked
  try {
    return try_to_write();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hycoll: the trace could not be written to '%s': %s\n", folder_.c_str(),
                 error.what());
    return {};
  }
}

std::string Tracer::try_to_write() {
  const std::lock_guard lock(mutex_);
  process_.begin_ticks = rate_.begin().ticks;
  process_.begin_ns = nanoseconds(rate_.begin().time);
  process_.ns_per_tick = rate_.seconds_per_tick() * 1e9;
  process_.end_ticks = ticks();
  process_.lost_records = 0;
  std::vector<TraceEvent> events;
  for (const auto& ring : rings_) {
    process_.lost_records += ring->lost_count();
    const std::vector<TraceEvent> its = ring->events();
    events.insert(events.end(), its.begin(), its.end());
  }
  // Whole, or as it was: somebody may read it while the job goes on.
  const std::string name = fmt::format("{}/{}.{}.json", folder_, process_.host, process_.pid);
  const std::string unfinished = name + ".part";
  std::ofstream file(unfinished, std::ios::binary);
  file << trace_text(process_, std::move(events));
  file.close();
  if (!file) throw std::system_error(errno, std::generic_category(), unfinished);
  std::filesystem::rename(unfinished, name);
  return name;
}

}  // namespace hycoll
