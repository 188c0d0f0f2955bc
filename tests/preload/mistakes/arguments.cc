// Arguments that MPI does not allow, or allows though they look odd. What the MPI library refuses
// is refused with the same error class, and calls its error handler as often; the next call is
// right. What it takes is served. The library itself tells which is which, by its functions' names
// for profiling.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

#include "tests/preload/mistakes/collective_forms.h"
#include "tests/preload/mistakes/odd_arguments.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::allgathers;
using programs::alltoalls;
using programs::Arguments;
using programs::broadcasts;
using programs::By;
using programs::exscans;
using programs::Form;
using programs::gathers;
using programs::Lists;
using programs::rank_of;
using programs::reductions;
using programs::rooted_reductions;
using programs::scatters;
using programs::size_of;

int handled = 0;
void count_errors(MPI_Comm* /*communicator*/, int* /*code*/, ...) { ++handled; }

/// What a call raised.
struct Outcome {
  int error_class = MPI_SUCCESS;
  int handler_calls = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

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
  programs::require_sum(communicator, ++round);
  int value = rank_of(communicator) + round;
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
  programs::overlaps(on.all);
  programs::partial_overlap(on.all);
  programs::absolute_addresses(on.all);
  no_communicator();
  not_significant(on);
  MPI_Comm_free(&on.alone);
  MPI_Comm_free(&on.asked);
  MPI_Comm_free(&on.all);
  MPI_Finalize();
  if (rank == 0) std::puts("arguments: ok");
  return 0;
}
