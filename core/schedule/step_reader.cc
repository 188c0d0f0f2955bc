#include "core/schedule/step_reader.h"

#include "core/base/errors.h"

namespace hycoll {

void show_steps(const Schedule& schedule, StepReader& reader) {
  HYCOLL_ASSERT(reader.dependencies() == Dependencies::ignored, "dependencies are numbered anew");
  for (std::size_t s = 0; s < schedule.strands.size(); ++s) {
    for (const Step& step : schedule.strands[s].steps) {
      reader.read(schedule, static_cast<int>(s), step, schedule.destinations(step),
                  schedule.sources(step), {});
    }
  }
}

}  // namespace hycoll
