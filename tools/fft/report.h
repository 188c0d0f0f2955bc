#ifndef HYCOLL_TOOLS_FFT_REPORT_H_
#define HYCOLL_TOOLS_FFT_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tools/fft/experiment.h"

namespace hycoll::fft {

/// What the results were obtained with.
struct ReportContext {
  Grid grid;
  int process_count = 1;
  int thread_count = 1;
  std::string machine;
  std::string mpi_library;
  std::string reference;
  double library_s = 0;  ///< FFTW's own transform over MPI; 0 where it is not there.
};

/// A result whose relative error is above this is wrong.
double tolerance(const Grid& grid);

/// A table for people: a row per layout, medians over its runs, with ratios to MPI's where that was
/// run too.
std::string text_report(const ReportContext& context, std::span<const Variant> variants);

/// The same as {"context": {...}, "records": [...]}, one record per layout.
nlohmann::ordered_json json_report(const ReportContext& context, std::span<const Variant> variants);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_REPORT_H_
