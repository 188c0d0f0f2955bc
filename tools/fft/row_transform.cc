#include "tools/fft/row_transform.h"

#include <fftw3.h>

#include <vector>

namespace hycoll::fft {
namespace {

/// The two lay out a number alike.
fftw_complex* to_fftw(Complex* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

}  // namespace

struct RowTransform::Plan {
  explicit Plan(std::size_t length) {
    std::vector<Complex> row(length);
    handle = fftw_plan_dft_1d(static_cast<int>(length), to_fftw(row.data()), to_fftw(row.data()),
                              FFTW_FORWARD, FFTW_MEASURE | FFTW_UNALIGNED);
  }
  ~Plan() { fftw_destroy_plan(handle); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  fftw_plan handle;
};

RowTransform::RowTransform(std::size_t length)
    : length_(length), plan_(std::make_shared<const Plan>(length)) {}

void RowTransform::run(Complex* row) const {
  fftw_execute_dft(plan_->handle, to_fftw(row), to_fftw(row));
}

}  // namespace hycoll::fft
