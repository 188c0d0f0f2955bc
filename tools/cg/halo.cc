#include "tools/cg/halo.h"

#include <omp.h>

#include <utility>

namespace hycoll::cg {

Halo::Halo(MPI_Comm parent, std::vector<Neighbour> neighbours, std::size_t row_count)
    : neighbours_(std::move(neighbours)), row_count_(row_count) {
  MPI_Comm_dup(parent, &comm_);
  std::size_t send_count = 0;
  for (const Neighbour& neighbour : neighbours_) send_count += neighbour.send_rows.size();
  send_buffer_.resize(send_count);
  requests_.resize(2 * neighbours_.size());
}

Halo::~Halo() { MPI_Comm_free(&comm_); }

void Halo::exchange(double* vector) {
  // All threads have written their part of the vector.
#pragma omp barrier
  if (neighbours_.empty()) return;
  if (omp_get_thread_num() == 0) communicate(vector);
    // The ghosts have arrived.
#pragma omp barrier
}

void Halo::communicate(double* vector) {
  constexpr int kTag = 0;
  double* const ghosts = vector + row_count_;
  std::size_t request = 0;
  for (const Neighbour& neighbour : neighbours_) {
    MPI_Irecv(ghosts + neighbour.receive_begin, static_cast<int>(neighbour.receive_count),
              MPI_DOUBLE, neighbour.rank, kTag, comm_, &requests_[request++]);
  }
  double* packed = send_buffer_.data();
  for (const Neighbour& neighbour : neighbours_) {
    const double* const first = packed;
    for (const std::int32_t row : neighbour.send_rows) *packed++ = vector[row];
    MPI_Isend(first, static_cast<int>(neighbour.send_rows.size()), MPI_DOUBLE, neighbour.rank, kTag,
              comm_, &requests_[request++]);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace hycoll::cg
