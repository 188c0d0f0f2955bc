#ifndef HYCOLL_TOOLS_FFT_REFERENCE_H_
#define HYCOLL_TOOLS_FFT_REFERENCE_H_

#include <mpi.h>

#include <string_view>
#include <vector>

#include "tools/fft/six_step.h"

namespace hycoll::fft {

/// What computes the reference, for people: FFTW's own transform over MPI where its library is
/// built for this MPI library (Debian's is for Open MPI), else FFTW's transform in one process.
std::string_view reference_name();

/// This process's part of the transform of the whole vector. Collective over `comm`. The time of
/// FFTW's own transform over MPI, in seconds, ends up in `library_s`: 0 where it is not there.
std::vector<Complex> reference_part(const Grid& grid, MPI_Comm comm, double& library_s);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_REFERENCE_H_
