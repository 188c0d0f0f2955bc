#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_MEASUREMENT_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_MEASUREMENT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/command/line/routine.h"
#include "tools/command/measuring/bench_data.h"
#include "tools/command/measuring/crew.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {

/// One of those that are measured in alternation, as one member calls it.
class Contestant {
 public:
  virtual ~Contestant() = default;

  /// Makes `calls` calls on the slots of the buffers in turn, from slot 0 on.
  virtual void run(const MemberBuffers& buffers, int calls) = 0;

  /// The same; returns the seconds that count, which are all of them unless a contestant says
  /// otherwise.
  virtual double timed_run(const MemberBuffers& buffers, int calls) {
    const auto start = std::chrono::steady_clock::now();
    run(buffers, calls);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  virtual const std::string& name() const = 0;
};

/// `call(input, output)` is one call of the routine that is measured.
template <class Call>
std::unique_ptr<Contestant> make_contestant(std::string name, Call call) {
  class Calls final : public Contestant {
   public:
    Calls(std::string its_name, Call its_call)
        : name_(std::move(its_name)), call_(std::move(its_call)) {}

    void run(const MemberBuffers& buffers, int calls) override {
      for (int done = 0, slot = 0; done < calls; ++done) {
        call_(buffers.input(slot), buffers.output(slot));
        if (++slot == buffers.slot_count()) slot = 0;
      }
    }

    const std::string& name() const override { return name_; }

   private:
    std::string name_;
    Call call_;
  };
  return std::make_unique<Calls>(std::move(name), std::move(call));
}

enum class InputUse {
  reused,  ///< Calls follow one another. Nobody touches the buffers in between, so all of them lie
           ///< in the caches of those that worked on them.
  fresh,   ///< Before every timed call, outside of the timing, members write to their inputs and
           ///< read their outputs, as programs do.
};

/// "reused", "fresh".
std::string_view name_of(InputUse inputs);

/// The inverse of name_of. Throws Error (invalid_argument), which names the argument.
InputUse parse_input_use(std::string_view argument, std::string_view name);

/// For reports: what members do with their buffers between calls.
std::string_view describe(InputUse inputs);

enum class Pace {
  back_to_back,  ///< Calls follow one another. Where members need not wait for one another (reduce,
                 ///< scan, exscan, broadcast), the time is that of a stage of a pipeline.
  separate,      ///< Before every call the members meet and begin at one time of a common clock; it
                 ///< ends when the last one has left. Needs members on one machine.
};

/// "back-to-back", "separate".
std::string_view name_of(Pace pace);

/// The inverse of name_of. Throws Error (invalid_argument), which names the argument.
Pace parse_pace(std::string_view argument, std::string_view name);

/// For reports: what a time is of.
std::string describe(Pace pace, Routine routine);

/// What is checked besides the calls of a last block, which is as the timed ones.
enum class Verification {
  pipelined,  ///< 32 calls, fewer of long vectors, that follow one another on buffers of their own.
  timed_calls,  ///< Nothing: earlier measurements have done it.
};

struct MeasurementOptions {
  Problem problem;
  int rounds = 0;         ///< Blocks of calls of each contestant; 0: as many as fit `seconds`.
  double seconds = 0.25;  ///< For the timed blocks of one size, at least 5 rounds.
  InputUse inputs = InputUse::reused;
  Pace pace = Pace::back_to_back;
  Verification verification = Verification::pipelined;
  BufferMemory memory = BufferMemory::own;
};

/// The member that measures: a thread of the crew.
struct MeasuringMember {
  Crew& crew;
  int thread;
  int rank;
  int member_count;
};

/// What was measured of one contestant.
struct Timing {
  measure::Summary call_us;  ///< Over the rounds, of the maximum over all members.
  int calls_per_round = 0;
  int rounds = 0;
  bool verified = false;  ///< Right results before and after the timing, on all members.
};

/// What was measured of one size.
struct SizeTimings {
  std::vector<Timing> timings;  ///< One for each contestant; empty if the size was refused.
  std::string refusal;          ///< Why it does not serve this size.
};

/// Which of the contestants do not refuse this size; called by all members of the crew with the
/// same arguments, and the same on all. Requires a size as measure_size().
std::vector<bool> who_serves(const MeasuringMember& member, std::size_t size_bytes,
                             std::span<const std::unique_ptr<Contestant>> contestants,
                             const MeasurementOptions& options);

/// Measures one size of the input vectors; called by all members of the crew with the same
/// arguments. Returns the same on all members. A contestant refuses by throwing Error (unsupported)
/// on all of them; a size is refused too when it is not possible with so many members.
///
/// A round is a block of calls of each contestant in turn. A block takes at least 20 us (the least
/// of three tries counts), so that reading the clock does not count, and gives one sample: the time
/// of the slowest member, divided by the number of calls. The members meet before a block. With
/// reused inputs calls that are not timed come first, so that a contestant finds the caches as its
/// own calls leave them and not as the others' do; with fresh ones, one call on other buffers where
/// calls take less than 20 us. At a separate pace a block is one call, and the time of the longest
/// member includes a reading of the clock.
///
/// Results are compared, inputs must be unchanged, and nothing may be written beside the results:
/// of pipelined calls before the timing, whose data differ from call to call, and of a block as
/// those that were timed after it. Outputs are poisoned first. Wrong results are reported on the
/// standard error.
///
/// A barrier is verified by clocks: no member leaves before the last one on its machine, which is
/// late on purpose, has entered.
///
/// Requires a size that is a multiple of the element size.
SizeTimings measure_size(const MeasuringMember& member, std::size_t size_bytes,
                         std::span<const std::unique_ptr<Contestant>> contestants,
                         const MeasurementOptions& options);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_MEASUREMENT_H_
