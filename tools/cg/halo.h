#ifndef HYCOLL_TOOLS_CG_HALO_H_
#define HYCOLL_TOOLS_CG_HALO_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hycoll::cg {

/// What one process exchanges with one other.
struct Neighbour {
  int rank = 0;
  std::vector<std::int32_t> send_rows;  ///< The own rows whose values the other process needs.
  std::size_t receive_begin = 0;        ///< Where its values go, counted from the first ghost.
  std::size_t receive_count = 0;
};

/// Fetches the ghost values of a distributed vector, from inside a parallel region.
class Halo {
 public:
  /// Collective over `parent`, which it duplicates. At most one entry of `neighbours` per process;
  /// what A sends to B is what B receives from A, in the same order. `row_count` own values precede
  /// the ghosts in every vector.
  Halo(MPI_Comm parent, std::vector<Neighbour> neighbours, std::size_t row_count);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// Fills the ghosts of `vector`. Called by every thread of the innermost parallel region, in all
  /// processes. What any thread of the region wrote before the call is sent; when it returns, every
  /// thread sees the own values and the ghosts. Only OpenMP's thread 0 calls MPI, so
  /// MPI_THREAD_FUNNELED is enough if that is the main thread.
  void exchange(double* vector);

  int neighbour_count() const noexcept { return static_cast<int>(neighbours_.size()); }

  /// The values that this process sends in one exchange.
  std::size_t send_count() const noexcept { return send_buffer_.size(); }

 private:
  void communicate(double* vector);

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Neighbour> neighbours_;
  std::size_t row_count_;
  std::vector<double> send_buffer_;
  std::vector<MPI_Request> requests_;
};

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_HALO_H_
