#include "threading/tracing/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/base/version.h"
#include "threading/observing/code_place.h"
#include "threading/observing/observer.h"

namespace hycoll {
namespace {

std::string_view step_name(int kind) {
  switch (kind) {
    case HYCOLL_STEP_SEND:
      return "send";
    case HYCOLL_STEP_RECEIVE:
      return "receive";
    case HYCOLL_STEP_NATIVE:
      return "native";
    case HYCOLL_STEP_REDUCE:
      return "reduce";
    case HYCOLL_STEP_COPY:
      return "copy";
    case HYCOLL_STEP_WRITE_LINES:
      return "write lines";
    case HYCOLL_STEP_WRITE_STREAM:
      return "write stream";
    case HYCOLL_STEP_READ_STREAM:
      return "read stream";
    case HYCOLL_STEP_SIGNAL:
      return "signal";
    default:
      return "wait";
  }
}

class TraceText {
 public:
  explicit TraceText(const TracedProcess& process) : process_(process) {}

  std::string write(std::vector<TraceEvent> events) && {
    add("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}}", pid(),
        quoted(fmt::format("rank {} on {}", pid(), process_.host)));
    // A worker is one thread's at a time, but may pass from thread to thread.
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
      return std::pair(a.worker, a.ticks) < std::pair(b.worker, b.ticks);
    });
    for (const TraceEvent& event : events) add_event(event);
    end_run(process_.end_ticks, "under way");
    return fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\n\"otherData\":{},\n\"traceEvents\":[\n{}\n]}}\n",
        about().dump(), text_);
  }

 private:
  int pid() const { return process_.clock.communicator.rank; }
  static std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  double us(std::uint64_t ticks) const {
    const double since =
        static_cast<double>(static_cast<std::int64_t>(ticks - process_.begin_ticks));
    return (static_cast<double>(process_.begin_ns + process_.clock.offset_ns) +
            since * process_.ns_per_tick) /
           1e3;
  }
  double duration_us(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * process_.ns_per_tick / 1e3;
  }

  nlohmann::json about() const {
    return {{"hycoll_trace", kTraceFileVersion},
            {"hycoll", {HYCOLL_VERSION_MAJOR, HYCOLL_VERSION_MINOR, HYCOLL_VERSION_PATCH}},
            {"host", process_.host},
            {"pid", process_.pid},
            {"rank", pid()},
            {"clock",
             {{"communicator", fmt::format("{:016x}", process_.clock.communicator.id)},
              {"processes", process_.clock.communicator.size},
              {"offset_ns", process_.clock.offset_ns},
              {"error_ns", process_.clock.error_ns}}},
            {"lost_records", process_.lost_records}};
  }

  void add_event(const TraceEvent& event) {
    if (event.worker != worker_) {
      end_run(process_.end_ticks, "under way");
      worker_ = event.worker;
      named_strands_ = 0;
    }
    switch (event.kind) {
      case TraceEvent::Kind::run_begins:
        // What was abandoned has no end of its own.
        end_run(event.ticks, "abandoned");
        run_ = event.run;
        began_ = event.ticks;
        is_in_run_ = true;
        waited_ticks_ = 0;
        text_before_run_ = std::exchange(text_, {});
        break;
      case TraceEvent::Kind::run_ends:
        end_run(event.ticks, "");
        break;
      case TraceEvent::Kind::run_fails:
        end_run(event.ticks, "failed");
        break;
      case TraceEvent::Kind::step:
        if (is_in_run_) add_step(event);
        break;
      case TraceEvent::Kind::message:
        if (is_in_run_) add_message(event);
        break;
      case TraceEvent::Kind::none:
        break;
    }
  }

  void end_run(std::uint64_t ticks, std::string_view state) {
    if (!std::exchange(is_in_run_, false)) return;
    // Before what lies in it: times may be the same.
    const std::string inside = std::exchange(text_, std::move(text_before_run_));
    name_strand(0);
    const auto found = process_.communicators.find(run_.communicator);
    const std::uint64_t id = found == process_.communicators.end() ? 0 : found->second.id;
    add("{{\"ph\":\"X\",\"cat\":\"call\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
        "\"dur\":{:.3f},\"args\":{{\"communicator\":\"{:016x}\",\"call\":{},\"bytes\":{},"
        "\"rank\":{},\"worker\":{},\"member\":{},\"algorithm\":\"{}\",\"waited_us\":{:.3f}{}{}}}}}",
        run_.collective, pid(), tid(0), us(began_), duration_us(ticks - began_), id, run_.call,
        run_.bytes, run_.rank, run_.index, run_.has_member, run_.algorithm,
        duration_us(waited_ticks_), site_text(run_.call_site),
        state.empty() ? "" : fmt::format(",\"state\":\"{}\"", state));
    if (!inside.empty()) text_ += ",\n" + inside;
  }

  /// A program has few places from which it calls.
  const std::string& site_text(const void* address) {
    const auto [place, is_new] = sites_.try_emplace(address);
    if (!is_new || address == nullptr) return place->second;
    const CodePlace code = place_of_call(address);
    if (code.module.empty()) return place->second;
    place->second =
        fmt::format(",\"site\":{},\"function\":{}", quoted(code.text()), quoted(code.function));
    return place->second;
  }

  void add_step(const TraceEvent& event) {
    const TraceEvent::Step& step = event.step;
    name_strand(step.strand);
    const bool is_wait = step.kind == HYCOLL_STEP_WAIT;
    // Of a wait the work is the look that has found what it waited for.
    const std::uint64_t working = is_wait ? 0 : step.working_ticks;
    const std::uint64_t waiting = step.waiting_ticks + (is_wait ? step.working_ticks : 0);
    if (waiting > 0) {
      waited_ticks_ += waiting;
      const std::string whom = step.peer < 0 || is_message(step.kind)
                                   ? std::string("wait")
                                   : fmt::format("wait for worker {}", step.peer);
      add("{{\"ph\":\"X\",\"cat\":\"wait\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
          "\"dur\":{:.3f}}}",
          whom, pid(), tid(step.strand), us(event.ticks - working - waiting), duration_us(waiting));
    }
    if (is_wait) return;
    add("{{\"ph\":\"X\",\"cat\":\"step\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
        "\"dur\":{:.3f},\"args\":{{\"bytes\":{}{}}}}}",
        step_name(step.kind), pid(), tid(step.strand), us(event.ticks - working),
        duration_us(working), step.bytes,
        is_message(step.kind) ? fmt::format(",\"peer\":{}", step.peer) : "");
  }

  void add_message(const TraceEvent& event) {
    const TraceEvent::Step& step = event.step;
    name_strand(step.strand);
    ++message_count_;
    const std::string name =
        step.kind == HYCOLL_STEP_NATIVE
            ? std::string("native")
            : fmt::format("{} {}", step.kind == HYCOLL_STEP_SEND ? "to" : "from", step.peer);
    for (const bool begins : {true, false}) {
      add("{{\"ph\":\"{}\",\"cat\":\"message\",\"name\":\"{}\",\"id\":{},\"pid\":{},\"tid\":{},"
          "\"ts\":{:.3f},\"args\":{{\"bytes\":{}}}}}",
          begins ? 'b' : 'e', name, message_count_, pid(), tid(step.strand),
          us(begins ? event.ticks - step.working_ticks : event.ticks), step.bytes);
    }
  }

  static bool is_message(int kind) {
    return kind == HYCOLL_STEP_SEND || kind == HYCOLL_STEP_RECEIVE || kind == HYCOLL_STEP_NATIVE;
  }

  std::uint64_t tid(int strand) const {
    return worker_ * kTraceStrands + static_cast<std::uint64_t>(strand);
  }

  /// Once for each strand of a worker. Strands are used from the first on.
  void name_strand(int strand) {
    for (; named_strands_ <= strand; ++named_strands_) {
      const std::string of = run_.has_member
                                 ? fmt::format("rank {}", run_.rank)
                                 : fmt::format("worker {} of rank {}", run_.index, run_.rank);
      add("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}{}"
          ", "
          "communicator {}\"}}}}",
          pid(), tid(named_strands_), of,
          named_strands_ == 0 ? "" : fmt::format(" (strand {})", named_strands_),
          run_.communicator);
    }
  }

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    if (!text_.empty()) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  const TracedProcess& process_;
  std::string text_;
  std::string text_before_run_;  // while in one, whose text is only what lies in it
  std::uint32_t worker_ = 0;
  int named_strands_ = 0;  // of the worker
  bool is_in_run_ = false;
  TraceEvent::Run run_;
  std::uint64_t began_ = 0;
  std::uint64_t waited_ticks_ = 0;  // in the run
  std::uint64_t message_count_ = 0;
  std::map<const void*, std::string> sites_;
};

}  // namespace

std::string trace_text(const TracedProcess& process, std::vector<TraceEvent> events) {
  return TraceText(process).write(std::move(events));
}

}  // namespace hycoll
