#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "tools/command/measuring/measurement.h"

namespace hycoll::command {
namespace {

/// Whether members may leave a call before others have entered it.
bool lets_members_run_ahead(Routine routine) {
  return routine == Routine::reduce || routine == Routine::scan || routine == Routine::exscan ||
         routine == Routine::broadcast;
}

}  // namespace

std::string_view name_of(InputUse inputs) { return inputs == InputUse::fresh ? "fresh" : "reused"; }

InputUse parse_input_use(std::string_view argument, std::string_view name) {
  if (name == "fresh") return InputUse::fresh;
  if (name == "reused") return InputUse::reused;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}': give fresh or reused", argument, name));
}

std::string_view describe(InputUse inputs) {
  return inputs == InputUse::fresh
             ? "members write their inputs and read their outputs before every timed call"
             : "members leave their buffers alone between calls, unlike most programs";
}

std::string_view name_of(Pace pace) { return pace == Pace::separate ? "separate" : "back-to-back"; }

Pace parse_pace(std::string_view argument, std::string_view name) {
  if (name == "back-to-back") return Pace::back_to_back;
  if (name == "separate") return Pace::separate;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}': give back-to-back or separate", argument, name));
}

std::string describe(Pace pace, Routine routine) {
  if (pace == Pace::separate) {
    return "calls one by one, from a common beginning until the last member has left";
  }
  if (!lets_members_run_ahead(routine)) return "calls back to back";
  return fmt::format(
      "calls back to back: in {} members need not wait for one another, so the time is that of a "
      "stage of a pipeline, not of a call alone (--pace separate)",
      name_of(routine));
}

}  // namespace hycoll::command
