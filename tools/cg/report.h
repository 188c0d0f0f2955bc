#ifndef HYCOLL_TOOLS_CG_REPORT_H_
#define HYCOLL_TOOLS_CG_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tools/cg/experiment.h"

namespace hycoll::cg {

/// What the results were obtained with.
struct ReportContext {
  std::string system;  ///< One line.
  std::int64_t row_count = 0;
  std::int64_t nonzero_count = 0;
  int process_count = 1;
  int thread_count = 1;
  std::string machine;
  std::string mpi_library;
  std::string mpi_thread_level;
  SolverLimits limits;
};

/// A table for people: a row per variant, with ratios to MPI's where that was run too.
std::string text_report(const ReportContext& context, std::span<const Variant> variants,
                        std::span<const std::string> disagreements);

/// The same as {"context": {...}, "records": [...]}, one record per variant.
nlohmann::ordered_json json_report(const ReportContext& context, std::span<const Variant> variants,
                                   std::span<const std::string> disagreements);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_REPORT_H_
