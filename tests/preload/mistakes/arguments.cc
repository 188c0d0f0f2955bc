// Arguments that MPI does not allow, or allows though they look odd. What the MPI library refuses
// is refused with the same error class, and calls its error handler as often; the next call is
// right. What it takes is served. The library itself tells which is which, by its functions' names
// for profiling.

#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

int handled = 0;
void count_errors(MPI_Comm* /*communicator*/, int* /*code*/, ...) { ++handled; }

/// What a call raised.
struct Outcome {
  int error_class = MPI_SUCCESS;
  int handler_calls = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A process's arguments, of which each collective takes some.
struct Arguments {
  void* input = nullptr;
  void* output = nullptr;
  int input_count = 2;  ///< Of a block.
  int count = 2;
  MPI_Datatype input_type = MPI_INT;
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_SUM;
  int root = 0;
};

/// The arguments of a call on one communicator.
struct Lists {
  Lists(const Arguments& a, MPI_Comm communicator)
      : sent(static_cast<std::size_t>(size_of(communicator)), a.input_count),
        received(sent.size(), a.count),
        begins(sent.size()),
        begins_bytes(sent.size()),
        sent_types(sent.size(), a.input_type),
        types(sent.size(), a.type) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      begins[i] = static_cast<int>(2 * i);
      begins_bytes[i] = static_cast<int>(8 * i);
    }
  }
  std::vector<int> sent;
  std::vector<int> received;
  std::vector<int> begins;
  std::vector<int> begins_bytes;
  std::vector<MPI_Datatype> sent_types;
  std::vector<MPI_Datatype> types;
};

enum class By { program, library };  // by MPI_ or by PMPI_

/// A collective in one of its forms.
struct Form {
  const char* name;
  std::function<int(By, const Arguments&, const Lists&, MPI_Comm, MPI_Request*)> make;
};

#define BLOCKING(name, ...)                                                        \
  {                                                                                \
#name, [](By by, const Arguments& a, const Lists& l, MPI_Comm c, MPI_Request*) { \
      (void)a, (void)l;                                                              \
      return by == By::program ? MPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__); \
    } \
  }
#define NONBLOCKING(name, ...)                                                             \
  {                                                                                        \
#name, [](By by, const Arguments& a, const Lists& l, MPI_Comm c, MPI_Request* r) {       \
      (void)a, (void)l;                                                                      \
      return by == By::program ? MPI_##name(__VA_ARGS__, r) : PMPI_##name(__VA_ARGS__, r);   \
    } \
  }
#if MPI_VERSION >= 4
#define PERSISTENT(name, ...)                                                               \
  {                                                                                         \
#name, [](By by, const Arguments& a, const Lists& l, MPI_Comm c, MPI_Request* r) {        \
      (void)a, (void)l;                                                                       \
      return by == By::program ? MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r)             \
                               : PMPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r);           \
    } \
  }
#else
#define PERSISTENT(name, ...)                                                               \
  {                                                                                         \
#name, [](By by, const Arguments& a, const Lists& l, MPI_Comm c, MPI_Request* r) {        \
      (void)a, (void)l;                                                                       \
      return by == By::program ? MPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r)            \
                               : PMPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r);          \
    } \
  }
#endif
#define REDUCED a.input, a.output, a.count, a.type, a.op
#define BOTH a.input, a.input_count, a.input_type, a.output, a.count, a.type
#define GATHERED_V \
  a.input, a.input_count, a.input_type, a.output, l.received.data(), l.begins.data(), a.type
#define SCATTERED_V a.input, l.sent.data(), l.begins.data(), a.input_type, a.output, a.count, a.type
#define PAIRS_V                                                                       \
  a.input, l.sent.data(), l.begins.data(), a.input_type, a.output, l.received.data(), \
      l.begins.data(), a.type
#define PAIRS_W                                                                                    \
  a.input, l.sent.data(), l.begins_bytes.data(), l.sent_types.data(), a.output, l.received.data(), \
      l.begins_bytes.data(), l.types.data()
#define IN_ALL_FORMS(name, small, ...) \
  BLOCKING(name, __VA_ARGS__), NONBLOCKING(I##small, __VA_ARGS__), PERSISTENT(name, __VA_ARGS__)

const std::vector<Form>& broadcasts() {
  static const std::vector<Form> forms = {
      IN_ALL_FORMS(Bcast, bcast, a.output, a.count, a.type, a.root, c)};
  return forms;
}
const std::vector<Form>& reductions() {
  static const std::vector<Form> forms = {
    IN_ALL_FORMS(Allreduce, allreduce, REDUCED, c),
    IN_ALL_FORMS(Scan, scan, REDUCED, c),
    IN_ALL_FORMS(Reduce_scatter_block, reduce_scatter_block, REDUCED, c),
    IN_ALL_FORMS(Reduce_scatter, reduce_scatter, a.input, a.output, l.received.data(), a.type, a.op,
                 c),
#if MPI_VERSION >= 4
    BLOCKING(Allreduce_c, REDUCED, c),
    NONBLOCKING(Iscan_c, REDUCED, c),
#endif
  };
  return forms;
}
/// The first process gets no result.
const std::vector<Form>& exscans() {
  static const std::vector<Form> forms = {IN_ALL_FORMS(Exscan, exscan, REDUCED, c)};
  return forms;
}
const std::vector<Form>& rooted_reductions() {
  static const std::vector<Form> forms = {IN_ALL_FORMS(Reduce, reduce, REDUCED, a.root, c)};
  return forms;
}
const std::vector<Form>& gathers() {
  static const std::vector<Form> forms = {
    IN_ALL_FORMS(Gather, gather, BOTH, a.root, c),
    IN_ALL_FORMS(Gatherv, gatherv, GATHERED_V, a.root, c),
#if MPI_VERSION >= 4
    BLOCKING(Gather_c, BOTH, a.root, c),
#endif
  };
  return forms;
}
const std::vector<Form>& scatters() {
  static const std::vector<Form> forms = {IN_ALL_FORMS(Scatter, scatter, BOTH, a.root, c),
                                          IN_ALL_FORMS(Scatterv, scatterv, SCATTERED_V, a.root, c)};
  return forms;
}
const std::vector<Form>& allgathers() {
  static const std::vector<Form> forms = {IN_ALL_FORMS(Allgather, allgather, BOTH, c),
                                          IN_ALL_FORMS(Allgatherv, allgatherv, GATHERED_V, c)};
  return forms;
}
const std::vector<Form>& alltoalls() {
  static const std::vector<Form> forms = {IN_ALL_FORMS(Alltoall, alltoall, BOTH, c),
                                          IN_ALL_FORMS(Alltoallv, alltoallv, PAIRS_V, c),
                                          IN_ALL_FORMS(Alltoallw, alltoallw, PAIRS_W, c)};
  return forms;
}

/// Makes a call to its end.
Outcome outcome_of(const Form& form, By by, const Arguments& arguments, MPI_Comm communicator) {
  const Lists lists(arguments, communicator);
  const int before = handled;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = form.make(by, arguments, lists, communicator, &request);
  const bool is_persistent =
      code == MPI_SUCCESS && request != MPI_REQUEST_NULL && form.name[0] != 'I';
  if (is_persistent) code = MPI_Start(&request);
  if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) {
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (is_persistent) MPI_Request_free(&request);
  Outcome outcome{.handler_calls = handled - before};
  if (code != MPI_SUCCESS) MPI_Error_class(code, &outcome.error_class);
  return outcome;
}

/// That all processes' calls go together.
void require_together(MPI_Comm communicator) {
  static int round = 0;
  const int size = size_of(communicator);
  int value = rank_of(communicator) + ++round;
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, communicator);
  REQUIRE_HERE(sum == size * round + size * (size - 1) / 2);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Gather(&value, 1, MPI_INT, all.data(), 1, MPI_INT, size - 1, communicator);
  if (rank_of(communicator) == size - 1) {
    for (int rank = 0; rank < size; ++rank) {
      REQUIRE_HERE(all[static_cast<std::size_t>(rank)] == rank + round);
    }
  }
}

/// Communicators whose errors are counted: for the calls, and to ask the library on, together or by
/// this process alone.
struct Communicators {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm asked = MPI_COMM_NULL;
  MPI_Comm alone = MPI_COMM_NULL;
  Communicators() {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(&count_errors, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_dup(MPI_COMM_WORLD, &asked);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    // Open MPI raises some errors there.
    for (const MPI_Comm each : {all, asked, alone, MPI_COMM_WORLD}) {
      MPI_Comm_set_errhandler(each, handler);
    }
    MPI_Errhandler_free(&handler);
  }
};

void report(const Form& form, const char* what, const Outcome& wanted, const Outcome& got) {
  if (wanted == got) return;
  std::fprintf(stderr, "%s, %s: class %d and %d calls of the handler, not %d and %d\n", form.name,
               what, got.error_class, got.handler_calls, wanted.error_class, wanted.handler_calls);
}

/// All processes make a mistake that a process alone can tell, then the first one does alone.
void as_the_library(const std::vector<Form>& forms, const char* what, const Arguments& arguments,
                    const Communicators& on) {
  for (const Form& form : forms) {
    const Outcome wanted = outcome_of(form, By::library, arguments, on.asked);
    const Outcome got = outcome_of(form, By::program, arguments, on.all);
    report(form, what, wanted, got);
    REQUIRE_HERE(got == wanted);
    require_together(on.all);
    if (wanted.error_class == MPI_SUCCESS) continue;
    if (rank_of(on.all) == 0) {
      REQUIRE_HERE(outcome_of(form, By::program, arguments, on.all) == wanted);
    }
    require_together(on.all);
  }
}

/// What libraries do not survive is an error about a buffer.
void as_an_error(const std::vector<Form>& forms, const char* what, const Arguments& arguments,
                 const Communicators& on) {
  for (const Form& form : forms) {
    const Outcome got = outcome_of(form, By::program, arguments, on.all);
    const bool is_refused = (got.error_class == MPI_ERR_BUFFER || got.error_class == MPI_ERR_ARG) &&
                            got.handler_calls == 1;
    report(form, what,
           {.error_class = is_refused ? got.error_class : MPI_ERR_BUFFER, .handler_calls = 1}, got);
    REQUIRE_HERE(is_refused);
    require_together(on.all);
  }
}

/// Where one library does not survive it, the other raises this class.
void as_class(int error_class, const std::vector<Form>& forms, const char* what,
              const Arguments& arguments, const Communicators& on) {
  for (const Form& form : forms) {
    const Outcome wanted{.error_class = error_class, .handler_calls = 1};
    const Outcome got = outcome_of(form, By::program, arguments, on.all);
    report(form, what, wanted, got);
    REQUIRE_HERE(got == wanted);
    require_together(on.all);
  }
}

/// As the library, the first process, which is the root; MPI looks at nothing of this kind
/// elsewhere.
void as_the_library_at_the_root(const std::vector<Form>& forms, const char* what,
                                const Arguments& bad, const Arguments& good,
                                const Communicators& on) {
  const bool is_root = rank_of(on.all) == 0;
  for (const Form& form : forms) {
    const Outcome wanted = outcome_of(form, By::library, bad, on.alone);
    const bool is_refused = wanted.error_class != MPI_SUCCESS;
    if (is_root || !is_refused) {
      const Outcome got = outcome_of(form, By::program, is_root ? bad : good, on.all);
      report(form, what, wanted, got);
      REQUIRE_HERE(got == wanted);
    }
    require_together(on.all);
  }
}

void mistakes(const Communicators& on) {
  const auto size = static_cast<std::size_t>(size_of(on.all));
  std::vector<int> input(4 * size, 1);
  std::vector<int> output(4 * size, 2);
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  const Arguments good{.input = input.data(), .output = output.data()};
  const auto with = [&](auto change) {
    Arguments changed = good;
    change(changed);
    return changed;
  };
  using A = Arguments;
  const Arguments aliased = with([](A& a) { a.output = a.input; });
  const Arguments to_in_place = with([](A& a) { a.output = MPI_IN_PLACE; });
  const Arguments from_in_place = with([](A& a) { a.input = MPI_IN_PLACE; });
  const Arguments no_output = with([](A& a) { a.output = nullptr; });
  const Arguments no_input = with([](A& a) { a.input = nullptr; });
  const Arguments no_root = with([&](A& a) { a.root = static_cast<int>(size); });
  const Arguments below = with([](A& a) { a.root = -1; });
  const Arguments open = with([&](A& a) { a.type = a.input_type = uncommitted; });
  const Arguments open_input = with([&](A& a) {
    a.input_type = uncommitted;
    a.input_count = 1;
  });
  const Arguments no_type = with([](A& a) { a.type = a.input_type = MPI_DATATYPE_NULL; });
  const Arguments no_op = with([](A& a) { a.op = MPI_OP_NULL; });
  const Arguments no_count = with([](A& a) { a.count = a.input_count = -1; });

  for (const auto* forms : {&broadcasts(), &rooted_reductions(), &gathers(), &scatters()}) {
    as_the_library(*forms, "a root behind the last", no_root, on);
    as_the_library(*forms, "a root of -1", below, on);
    Arguments nothing = no_root;
    nothing.count = nothing.input_count = 0;
    as_the_library(*forms, "no elements for no root", nothing, on);
  }
  for (const auto* forms : {&broadcasts(), &gathers(), &allgathers(), &alltoalls()}) {
    as_the_library(*forms, "an uncommitted type", open, on);
    as_the_library(*forms, "no type", no_type, on);
    as_the_library(*forms, "a negative count", no_count, on);
  }
  for (const auto* forms : {&gathers(), &allgathers(), &alltoalls()}) {
    as_the_library(*forms, "an uncommitted type of the input", open_input, on);
  }
  for (const auto* forms : {&reductions(), &exscans(), &rooted_reductions()}) {
    as_the_library(*forms, "an uncommitted type", open, on);
    as_the_library(*forms, "no operator", no_op, on);
    as_class(MPI_ERR_COUNT, *forms, "a negative count", no_count, on);
  }
  as_the_library(reductions(), "one buffer for both", aliased, on);
  as_the_library(exscans(), "one buffer for both", aliased, on);
  as_the_library(alltoalls(), "one buffer for both", aliased, on);
  as_the_library(alltoalls(), "a result in place", to_in_place, on);
  as_the_library(allgathers(), "a result in place", to_in_place, on);
  for (const auto* forms : {&rooted_reductions(), &gathers(), &scatters()}) {
    as_the_library_at_the_root(*forms, "one buffer for both", aliased, good, on);
  }
  as_the_library_at_the_root(rooted_reductions(), "a result in place", to_in_place, good, on);
  as_the_library_at_the_root(gathers(), "a result in place", to_in_place, good, on);
  as_the_library_at_the_root(scatters(), "input in place", from_in_place, good, on);
  for (const auto* forms : {&broadcasts(), &reductions()}) {
    as_an_error(*forms, "a result in place", to_in_place, on);
    as_an_error(*forms, "no output", no_output, on);
  }
  for (const auto* forms : {&reductions(), &rooted_reductions(), &allgathers(), &alltoalls()}) {
    as_an_error(*forms, "no input", no_input, on);
  }
  for (const auto* forms : {&allgathers(), &alltoalls(), &scatters()}) {
    as_an_error(*forms, "no output", no_output, on);
  }
  MPI_Type_free(&uncommitted);
}

/// The first process's own block is too long, or too short for what it says it gets: it gets the
/// error, if any, after the call, which the others have made.
void lengths_at_the_root(const Communicators& on) {
  const auto size = static_cast<std::size_t>(size_of(on.all));
  const int rank = rank_of(on.all);
  std::vector<int> all(20 * size, -1);
  std::vector<int> own(10, rank);
  const auto class_of = [](int code) {
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    return error_class;
  };
  int code = MPI_Gather(own.data(), 10, MPI_INT, all.data(), 1, MPI_INT, 0, on.all);
  REQUIRE_HERE(class_of(code) == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  REQUIRE_HERE(std::ranges::count(all, -1) == std::ssize(all));
  require_together(on.all);
  std::ranges::fill(all, 7);
  const int room = rank == 0 ? 1 : 10;
  code = MPI_Scatter(all.data(), 10, MPI_INT, own.data(), room, MPI_INT, 0, on.all);
  REQUIRE_HERE(class_of(code) == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  if (rank != 0) REQUIRE_HERE(std::ranges::count(own, 7) == 10);
  require_together(on.all);
  // Fewer than the others expect.
  std::ranges::fill(own, rank);
  std::ranges::fill(all, -1);
  code = MPI_Allgather(own.data(), 9, MPI_INT, all.data(), 10, MPI_INT, on.all);
  REQUIRE_HERE(code == MPI_SUCCESS);
  for (std::size_t r = 0; r < size; ++r) {
    REQUIRE_HERE(std::count(all.data() + 10 * r, all.data() + 10 * r + 9, static_cast<int>(r)) ==
                 9);
  }
  require_together(on.all);
}

/// Blocks anywhere in a buffer, which may share bytes, between guards.
class Scattered {
 public:
  static constexpr std::uint8_t kGuard = 0xee;

  Scattered(std::size_t blocks, std::mt19937& random) : counts_(blocks), begins_(blocks) {
    const int spread = 1 << std::uniform_int_distribution(2, 12)(random);
    for (std::size_t b = 0; b < blocks; ++b) {
      counts_[b] = std::uniform_int_distribution(0, spread)(random);
      begins_[b] = std::uniform_int_distribution(0, 2 * spread)(random);
    }
    bytes_.assign(static_cast<std::size_t>(4 * spread), kGuard);
  }
  /// The lengths are others' business.
  void set_counts(const std::vector<int>& counts) {
    counts_ = counts;
    const int most = *std::ranges::max_element(counts);
    bytes_.assign(bytes_.size() + static_cast<std::size_t>(most), kGuard);
  }

  std::uint8_t* data() { return bytes_.data() + kMargin; }
  const std::vector<int>& counts() const { return counts_; }
  const std::vector<int>& begins() const { return begins_; }

  /// Every byte is one that a block has there, `value(block)`, or a guard where there is none.
  template <class Value>
  void check(const Value& value) const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bool is_in_a_block = false;
      bool is_right = false;
      for (std::size_t b = 0; b < counts_.size(); ++b) {
        const int at = static_cast<int>(i) - static_cast<int>(kMargin) - begins_[b];
        if (at < 0 || at >= counts_[b]) continue;
        is_in_a_block = true;
        is_right = is_right || bytes_[i] == value(b);
      }
      REQUIRE_HERE(is_in_a_block ? is_right : bytes_[i] == kGuard);
    }
  }

 private:
  static constexpr std::size_t kMargin = 2;
  std::vector<int> counts_;
  std::vector<int> begins_;
  std::vector<std::uint8_t> bytes_;
};

void overlaps(MPI_Comm communicator) {
  const auto size = static_cast<std::size_t>(size_of(communicator));
  const int rank = rank_of(communicator);
  const std::vector<MPI_Datatype> types(size, MPI_BYTE);
  // All processes draw alike what all must know, and each its own places.
  std::mt19937 common(7);
  std::mt19937 own_random(static_cast<unsigned>(rank) + 70);
  for (int round = 0; round < 60; ++round) {
    const std::vector<int> counts = Scattered(size, common).counts();
    const int own_count = counts[static_cast<std::size_t>(rank)];
    const std::vector<std::uint8_t> own(static_cast<std::size_t>(own_count) + 1,
                                        static_cast<std::uint8_t>(rank + 1));
    const auto of_rank = [](std::size_t r) { return static_cast<std::uint8_t>(r + 1); };
    Scattered all(size, own_random);
    all.set_counts(counts);
    MPI_Request request = MPI_REQUEST_NULL;
    switch (round % 4) {
      case 0:
        MPI_Allgatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                       all.begins().data(), MPI_BYTE, communicator);
        break;
      case 1:
        MPI_Iallgatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                        all.begins().data(), MPI_BYTE, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Gatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(), all.begins().data(),
                    MPI_BYTE, 0, communicator);
        break;
      default:
        MPI_Igatherv(own.data(), own_count, MPI_BYTE, all.data(), counts.data(),
                     all.begins().data(), MPI_BYTE, 0, communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (round % 4 < 2 || rank == 0) all.check(of_rank);
    // Each sends as many to everybody as it has said.
    Scattered result(size, own_random);
    result.set_counts(counts);
    const std::vector<int> sent(size, own_count);
    const std::vector<int> from(size, 0);
    if (round % 2 == 0) {
      MPI_Alltoallv(own.data(), sent.data(), from.data(), MPI_BYTE, result.data(), counts.data(),
                    result.begins().data(), MPI_BYTE, communicator);
    } else {
      MPI_Alltoallw(own.data(), sent.data(), from.data(), types.data(), result.data(),
                    counts.data(), result.begins().data(), types.data(), communicator);
    }
    result.check(of_rank);
  }
}

/// Input that overlaps the output in part. MPICH alone ends the job.
void partial_overlap(MPI_Comm communicator) {
  const int size = size_of(communicator);
  for (const std::size_t count : {4u, 3000u}) {
    std::vector<int> values(count + 2);
    std::iota(values.begin(), values.end(), 0);
    MPI_Allreduce(values.data(), values.data() + 2, static_cast<int>(count), MPI_INT, MPI_SUM,
                  communicator);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE_HERE(values[i + 2] == size * static_cast<int>(i));
    }
  }
}

/// Blocks at addresses that fit into an int, from MPI_BOTTOM on.
void absolute_addresses(MPI_Comm communicator) {
  const int size = size_of(communicator);
  const int rank = rank_of(communicator);
  void* const low =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  REQUIRE_HERE(low != MAP_FAILED);
  auto* const bytes = static_cast<std::uint8_t*>(low);
  const auto place = static_cast<int>(reinterpret_cast<std::uintptr_t>(low));
  std::vector<int> counts(static_cast<std::size_t>(size), 4);
  std::vector<int> begins(counts.size());
  for (int r = 0; r < size; ++r) begins[static_cast<std::size_t>(r)] = place + 16 * r;
  const std::vector<std::uint8_t> own(4, static_cast<std::uint8_t>(rank + 1));
  const auto require_gathered = [&] {
    for (int r = 0; r < size; ++r) {
      REQUIRE_HERE(std::count(bytes + 16 * r, bytes + 16 * r + 4, r + 1) == 4);
      REQUIRE_HERE(std::count(bytes + 16 * r + 4, bytes + 16 * r + 16, 0) == 12);
    }
    std::memset(bytes, 0, 4096);
  };
  const auto wait = [](MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allgatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE,
                 communicator);
  require_gathered();
  MPI_Iallgatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE,
                  communicator, &request);
  wait(request);
  require_gathered();
  for (int root = 0; root < size; ++root) {
    MPI_Gatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, root,
                communicator);
    if (rank == root) require_gathered();
    MPI_Igatherv(own.data(), 4, MPI_BYTE, MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, root,
                 communicator, &request);
    wait(request);
    if (rank == root) require_gathered();
    for (int r = 0; r < size; ++r) std::memset(bytes + 16 * r, r + 1, 4);
    std::vector<std::uint8_t> got(4, 0);
    MPI_Scatterv(MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, got.data(), 4, MPI_BYTE, root,
                 communicator);
    REQUIRE_HERE(got == own);
    got.assign(4, 0);
    MPI_Iscatterv(MPI_BOTTOM, counts.data(), begins.data(), MPI_BYTE, got.data(), 4, MPI_BYTE, root,
                  communicator, &request);
    wait(request);
    REQUIRE_HERE(got == own);
    std::memset(bytes, 0, 4096);
  }
#if MPI_VERSION >= 4
  std::vector<std::uint8_t> anywhere(static_cast<std::size_t>(16 * size), 0);
  const std::vector<MPI_Count> long_counts(counts.begin(), counts.end());
  std::vector<MPI_Aint> addresses(counts.size());
  for (std::size_t r = 0; r < addresses.size(); ++r) {
    MPI_Get_address(anywhere.data() + 16 * r, &addresses[r]);
  }
  MPI_Allgatherv_c(own.data(), 4, MPI_BYTE, MPI_BOTTOM, long_counts.data(), addresses.data(),
                   MPI_BYTE, communicator);
  for (std::size_t r = 0; r < addresses.size(); ++r) REQUIRE_HERE(anywhere[16 * r] == r + 1);
#endif
  munmap(low, 4096);
}

/// Where there is no communicator, its error is raised once.
void no_communicator() {
  MPI_Comm copy = MPI_COMM_NULL;
#ifdef MPICH_VERSION
  // Open MPI looks into the memory that it has freed.
  MPI_Comm freed = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &freed);
  copy = freed;
  MPI_Comm_free(&freed);
#endif
  std::vector<int> values(4, 0);
  const int counts[1] = {1};
  const auto outcome = [&](const auto& call) {
    const int before = handled;
    Outcome made;
    MPI_Error_class(call(), &made.error_class);
    made.handler_calls = handled - before;
    return made;
  };
  REQUIRE_HERE(outcome([&] { return MPI_Barrier(copy); }) ==
               outcome([&] { return PMPI_Barrier(copy); }));
  REQUIRE_HERE(outcome([&] {
                 return MPI_Gatherv(values.data(), 1, MPI_INT, values.data() + 1, counts, counts,
                                    MPI_INT, 0, copy);
               }) == outcome([&] {
                 return PMPI_Gatherv(values.data(), 1, MPI_INT, values.data() + 1, counts, counts,
                                     MPI_INT, 0, copy);
               }));
}

/// What MPI does not look at: nobody looks at it.
void not_significant(const Communicators& on) {
  const int rank = rank_of(on.all);
  if (size_of(on.all) < 2) return;
  MPI_Datatype gone = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &gone);
  MPI_Datatype copy = gone;
  MPI_Type_free(&gone);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const int side = rank == 0 ? 0 : 1;
  MPI_Comm_split(on.all, side, rank, &half);
  MPI_Intercomm_create(half, 0, on.all, side == 0 ? 1 : 0, 3, &between);
  const int before = handled;
  // From the first process to the second one's group.
  std::vector<int> values(static_cast<std::size_t>(4 * size_of(on.all)), 3);
  const std::vector<int> counts(values.size(), 1);
  std::vector<int> begins(values.size());
  std::iota(begins.begin(), begins.end(), 0);
  const int root = side == 0 ? MPI_ROOT : 0;
  if (side == 0) {
    MPI_Gather(nullptr, -1, copy, values.data(), 1, MPI_INT, root, between);
    MPI_Gatherv(nullptr, -1, copy, values.data(), counts.data(), begins.data(), MPI_INT, root,
                between);
    MPI_Scatter(values.data(), 1, MPI_INT, nullptr, -1, copy, root, between);
    MPI_Scatterv(values.data(), counts.data(), begins.data(), MPI_INT, nullptr, -1, copy, root,
                 between);
  } else {
    MPI_Gather(values.data(), 1, MPI_INT, nullptr, -1, copy, root, between);
    MPI_Gatherv(values.data(), 1, MPI_INT, nullptr, nullptr, nullptr, copy, root, between);
    MPI_Scatter(nullptr, -1, copy, values.data(), 1, MPI_INT, root, between);
    MPI_Scatterv(nullptr, nullptr, nullptr, copy, values.data(), 1, MPI_INT, root, between);
  }
  // From the second one, where there is a third one, to the first one's.
  const int other = side == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
  if (other == MPI_PROC_NULL) {
    // MPICH looks at these.
    MPI_Bcast(nullptr, 0, MPI_INT, other, between);
    MPI_Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, other, between);
  } else {
    MPI_Bcast(values.data(), 2, MPI_INT, other, between);
    MPI_Gather(values.data(), 1, MPI_INT, values.data() + 1, 1, MPI_INT, other, between);
  }
  // And where all are one group.
  const bool is_first = rank == 0;
  MPI_Gather(values.data(), 1, MPI_INT, values.data() + 1, is_first ? 1 : -1,
             is_first ? MPI_INT : copy, 0, on.all);
  MPI_Scatter(values.data() + 1, is_first ? 1 : -1, is_first ? MPI_INT : copy, values.data(), 1,
              MPI_INT, 0, on.all);
  REQUIRE_HERE(handled == before);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_of(MPI_COMM_WORLD);
  Communicators on;
  for (int i = 0; i < 20; ++i) require_together(on.all);
  mistakes(on);
  lengths_at_the_root(on);
  overlaps(on.all);
  partial_overlap(on.all);
  absolute_addresses(on.all);
  no_communicator();
  not_significant(on);
  MPI_Comm_free(&on.alone);
  MPI_Comm_free(&on.asked);
  MPI_Comm_free(&on.all);
  MPI_Finalize();
  if (rank == 0) std::puts("arguments: ok");
  return 0;
}
