#ifndef HYCOLL_TOOLS_FFT_EXCHANGES_H_
#define HYCOLL_TOOLS_FFT_EXCHANGES_H_

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <string_view>

#include "tools/fft/six_step.h"

namespace hycoll::fft {

/// Who the members of a transform are, and how they exchange their blocks.
enum class Layout {
  threads,   ///< Every thread of hycoll's Team.
  per_node,  ///< Every process, through hycoll's Communicator.
  mpi,       ///< Every process, through MPI_Alltoall.
};
inline constexpr Layout kAllLayouts[] = {Layout::threads, Layout::per_node, Layout::mpi};

/// "threads", "per_node", "mpi".
std::string_view name_of(Layout layout);

/// By hycoll. `Caller` is Communicator or Member, and outlives this object.
template <class Caller>
class HycollExchange final : public Exchange {
 public:
  explicit HycollExchange(Caller& caller) : caller_(caller) {}
  void alltoall(const Complex* input, Complex* output, std::size_t block) override {
    caller_.alltoall(input, output, 2 * block, DataType::float64);
  }

 private:
  Caller& caller_;
};

/// By the MPI library.
class MpiExchange final : public Exchange {
 public:
  explicit MpiExchange(MPI_Comm comm) : comm_(comm) {}
  void alltoall(const Complex* input, Complex* output, std::size_t block) override {
    const int count = static_cast<int>(2 * block);
    MPI_Alltoall(input, count, MPI_DOUBLE, output, count, MPI_DOUBLE, comm_);
  }

 private:
  MPI_Comm comm_;
};

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_EXCHANGES_H_
