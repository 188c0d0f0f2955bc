#include "tools/fft/experiment.h"

#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

namespace hycoll::fft {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

int members_of(Layout layout, int process_count, int thread_count) {
  return layout == Layout::threads ? process_count * thread_count : process_count;
}

/// What a process has of one layout's members.
class Party {
 public:
  virtual ~Party() = default;
  /// Transforms the process's part; the times are those of its slowest member.
  virtual void run(std::span<Complex> part, PhaseTimes& times) = 0;
};

/// The process is the member.
class ProcessParty final : public Party {
 public:
  ProcessParty(const Grid& grid, MPI_Comm comm, const RowTransform& of_rows,
               const RowTransform& of_columns, std::unique_ptr<Exchange> exchange)
      : exchange_(std::move(exchange)),
        transform_(grid, rank_in(comm), size_of(comm), of_rows, of_columns) {}

  void run(std::span<Complex> part, PhaseTimes& times) override {
    transform_.run(*exchange_, part, Threads::whole_region, times);
  }

 private:
  std::unique_ptr<Exchange> exchange_;
  SixStep transform_;
};

/// Through hycoll's communicator, whose workers are as many as threads.
class CommunicatorExchange final : public Exchange {
 public:
  CommunicatorExchange(MPI_Comm comm, int thread_count)
      : communicator_(comm, options(thread_count)), exchange_(communicator_) {}
  void alltoall(const Complex* input, Complex* output, std::size_t block) override {
    exchange_.alltoall(input, output, block);
  }

 private:
  static Options options(int thread_count) {
    Options options = Options::from_environment();
    options.workers = thread_count;
    return options;
  }

  Communicator communicator_;
  HycollExchange<Communicator> exchange_;
};

/// Every thread is a member.
class ThreadParty final : public Party {
 public:
  ThreadParty(const Grid& grid, MPI_Comm comm, int thread_count, const RowTransform& of_rows,
              const RowTransform& of_columns)
      : thread_count_(thread_count),
        team_(comm, thread_count),
        members_(static_cast<std::size_t>(thread_count)) {
    in_all_threads([&](int thread, Place& place) {
      place.member.emplace(team_.join(thread));
      place.transform.emplace(grid, place.member->rank(), place.member->size(), of_rows,
                              of_columns);
    });
  }

  void run(std::span<Complex> part, PhaseTimes& times) override {
    const std::size_t share = part.size() / members_.size();
    in_all_threads([&](int thread, Place& place) {
      place.times = {};
      HycollExchange<Member> exchange(*place.member);
      place.transform->run(exchange, part.subspan(static_cast<std::size_t>(thread) * share, share),
                           Threads::one, place.times);
    });
    for (const Place& place : members_) {
      for (std::size_t p = 0; p < kPhaseCount; ++p) times[p] = std::max(times[p], place.times[p]);
    }
  }

 private:
  struct Place {
    std::optional<Member> member;
    std::optional<SixStep> transform;
    PhaseTimes times{};
  };

  /// An exception must not leave the parallel region.
  template <class Body>
  void in_all_threads(const Body& body) {
    std::exception_ptr error;
#pragma omp parallel num_threads(thread_count_)
    {
      const int thread = omp_get_thread_num();
      try {
        body(thread, members_[static_cast<std::size_t>(thread)]);
      } catch (const std::exception&) {
#pragma omp critical
        error = std::current_exception();
      }
    }
    if (error != nullptr) std::rethrow_exception(error);
  }

  int thread_count_;
  Team team_;
  std::vector<Place> members_;
};

std::unique_ptr<Party> party_of(Layout layout, const Settings& settings, MPI_Comm comm,
                                const RowTransform& of_rows, const RowTransform& of_columns) {
  if (layout == Layout::threads) {
    return std::make_unique<ThreadParty>(settings.grid, comm, settings.thread_count, of_rows,
                                         of_columns);
  }
  std::unique_ptr<Exchange> exchange;
  if (layout == Layout::per_node) {
    exchange = std::make_unique<CommunicatorExchange>(comm, settings.thread_count);
  } else {
    exchange = std::make_unique<MpiExchange>(comm);
  }
  return std::make_unique<ProcessParty>(settings.grid, comm, of_rows, of_columns,
                                        std::move(exchange));
}

Run measure(Party& party, std::span<Complex> part, MPI_Comm comm) {
  Run run;
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  party.run(part, run.phases);
  MPI_Barrier(comm);
  run.whole_s = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &run.whole_s, 1, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, run.phases.data(), static_cast<int>(kPhaseCount), MPI_DOUBLE, MPI_MAX,
                comm);
  return run;
}

double relative_error(std::span<const Complex> result, std::span<const Complex> reference,
                      MPI_Comm comm) {
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < result.size(); ++i) {
    sums[0] += std::norm(result[i] - reference[i]);
    sums[1] += std::norm(reference[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(sums[0] / sums[1]);
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::threads:
      return "threads";
    case Layout::per_node:
      return "per_node";
    case Layout::mpi:
      break;
  }
  return "mpi";
}

Complex element(std::size_t index) {
  const auto part = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((x ^ (x >> 31)) >> 11) / static_cast<double>(1ULL << 53) - 0.5;
  };
  return {part(2 * index + 1), part(2 * index + 2)};
}

std::vector<Complex> input_part(const Grid& grid, MPI_Comm comm) {
  std::vector<Complex> part(grid.size() / static_cast<std::size_t>(size_of(comm)));
  const std::size_t first = part.size() * static_cast<std::size_t>(rank_in(comm));
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = element(first + i);
  return part;
}

void require_equal_parts(const Settings& settings, int process_count) {
  for (const Layout layout : settings.layouts) {
    const int members = members_of(layout, process_count, settings.thread_count);
    for (const std::size_t length : {settings.grid.rows, settings.grid.columns}) {
      if (length % static_cast<std::size_t>(members) == 0) continue;
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--size {},{}: {} is no multiple of {}, the members of {} ({} "
                              "processes, {} threads each); pass multiples, or other --layouts",
                              settings.grid.rows, settings.grid.columns, length, members,
                              name_of(layout), process_count, settings.thread_count));
    }
  }
}

std::vector<Variant> run_experiment(const Settings& settings, std::span<const Complex> reference,
                                    MPI_Comm comm) {
  require_equal_parts(settings, size_of(comm));
  omp_set_num_threads(settings.thread_count);
  const RowTransform of_rows(settings.grid.rows);
  const RowTransform of_columns(settings.grid.columns);
  std::vector<Variant> variants;
  std::vector<std::unique_ptr<Party>> parties;
  for (const Layout layout : settings.layouts) {
    variants.push_back({.layout = layout, .runs = {}});
    parties.push_back(party_of(layout, settings, comm, of_rows, of_columns));
  }
  const std::vector<Complex> input = input_part(settings.grid, comm);
  std::vector<Complex> part(input.size());
  // The first transform of each layout is not measured: memory comes, and plans are made.
  for (int repetition = -1; repetition < settings.repetitions; ++repetition) {
    for (std::size_t v = 0; v < variants.size(); ++v) {
      std::ranges::copy(input, part.begin());
      const Run run = measure(*parties[v], part, comm);
      if (repetition >= 0) variants[v].runs.push_back(run);
      const double error = relative_error(part, reference, comm);
      variants[v].relative_error = std::max(variants[v].relative_error, error);
    }
  }
  return variants;
}

}  // namespace hycoll::fft
