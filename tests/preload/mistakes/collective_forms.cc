#include "tests/preload/mistakes/collective_forms.h"

#include <mpi.h>

#include <vector>

#include "tests/preload/support/persistent_names.h"

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
#define SET_UP(name, ...)                                                                   \
  {                                                                                         \
#name, [](By by, const Arguments& a, const Lists& l, MPI_Comm c, MPI_Request* r) {        \
      (void)a, (void)l;                                                                       \
      return by == By::program ? PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, r)              \
                               : PERSISTENT_BY_PMPI(name)(__VA_ARGS__, MPI_INFO_NULL, r);     \
    } \
  }
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
  BLOCKING(name, __VA_ARGS__), NONBLOCKING(I##small, __VA_ARGS__), SET_UP(name, __VA_ARGS__)

namespace programs {

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

}  // namespace programs
