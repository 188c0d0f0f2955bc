#include "collectives/job/tuning_agreement.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "core/base/text_file.h"

namespace hycoll {
namespace {

/// What a file says, or why it cannot be read.
struct ReadTuning {
  std::string path;
  std::shared_ptr<const TuningTable> table;
  std::string complaint;
};

/// Read once for all communicators of the process that name the same file in a row.
ReadTuning read_tuning(const std::string& path) {
  static constinit std::mutex mutex;
  static Immortal<ReadTuning> last;
  const std::lock_guard lock(mutex);
  if (last->path == path) return *last;
  *last = {.path = path, .table = nullptr, .complaint = ""};
  try {
    const std::string text =
        read_text_file("HYCOLL_TUNING (Options::tuning)", path,
                       "measured choices, as hycoll tune --output writes them");
    last->table = TuningTable::read(text, path);
  } catch (const Error& error) {
    last->complaint = error.what();
  }
  return *last;
}

}  // namespace

std::shared_ptr<const TuningTable> agree_on_tuning(JointSetup& setup, const std::string& path,
                                                   bool speaks) {
  const ReadTuning read = read_tuning(path);
  const std::uint64_t digest = read.table == nullptr ? 0 : read.table->digest();
  const bool is_read_alike = setup.same(static_cast<std::int64_t>(digest));
  if (is_read_alike && read.table != nullptr) return read.table;
  if (!speaks) return nullptr;
  const std::string complaint =
      read.complaint.empty()
          ? fmt::format(
                "HYCOLL_TUNING (Options::tuning) '{}' is not the same file on all processes, "
                "or one cannot read it; put one file where all can",
                path)
          : read.complaint;
  std::fprintf(stderr, "hycoll: %s. All choices are made without it\n", complaint.c_str());
  return nullptr;
}

}  // namespace hycoll
