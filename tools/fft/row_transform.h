#ifndef HYCOLL_TOOLS_FFT_ROW_TRANSFORM_H_
#define HYCOLL_TOOLS_FFT_ROW_TRANSFORM_H_

#include <complex>
#include <cstddef>
#include <memory>

namespace hycoll::fft {

using Complex = std::complex<double>;

/// A forward transform of one length, by FFTW. Not normalised.
class RowTransform {
 public:
  /// FFTW tries out what is fastest. One at a time in a process.
  explicit RowTransform(std::size_t length);

  /// In place. By any number of threads at once.
  void run(Complex* row) const;

  std::size_t length() const { return length_; }

 private:
  struct Plan;
  std::size_t length_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_ROW_TRANSFORM_H_
