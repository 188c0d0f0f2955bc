#ifndef HYCOLL_TESTS_PRELOAD_MISTAKES_COLLECTIVE_FORMS_H_
#define HYCOLL_TESTS_PRELOAD_MISTAKES_COLLECTIVE_FORMS_H_

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/preload/support/programs.h"

namespace programs {

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

/// All forms of like collectives: blocking, nonblocking and persistent ones, and some of those with
/// long counts.
const std::vector<Form>& broadcasts();
const std::vector<Form>& reductions();
/// The first process gets no result.
const std::vector<Form>& exscans();
const std::vector<Form>& rooted_reductions();
const std::vector<Form>& gathers();
const std::vector<Form>& scatters();
const std::vector<Form>& allgathers();
const std::vector<Form>& alltoalls();

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_MISTAKES_COLLECTIVE_FORMS_H_
