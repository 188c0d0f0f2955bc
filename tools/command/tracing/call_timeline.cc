#include "tools/command/tracing/call_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/collective.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/base/markup.h"
#include "core/drawing/axis.h"
#include "core/drawing/schedule_svg.h"
#include "threading/program/program.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

// Sizes in pixels.
constexpr double kLabels = 190;
constexpr double kBorder = 12;
constexpr double kTop = 84;
constexpr double kBox = 16;
constexpr double kGap = 6;
constexpr double kTimes = 900;

/// The colours of schedule_svg.h, for the steps as traces name them.
struct StepColour {
  std::string_view name;
  std::string_view colour;
};
constexpr std::array<StepColour, 10> kStepColours = {{{"send", "#0072b2"},
                                                      {"receive", "#56b4e9"},
                                                      {"reduce", "#d55e00"},
                                                      {"copy", "#e69f00"},
                                                      {"write lines", "#f0c060"},
                                                      {"write stream", "#999933"},
                                                      {"read stream", "#ddcc77"},
                                                      {"signal", "#009e73"},
                                                      {"native", "#cc79a7"},
                                                      {"wait", "#d0d0d0"}}};

std::string_view colour_of(const TraceSlice& slice) {
  if (slice.is_wait) return kStepColours.back().colour;
  const auto found = std::ranges::find(kStepColours, slice.name, &StepColour::name);
  return found == kStepColours.end() ? "#999999" : found->colour;
}

class CallDrawing {
 public:
  CallDrawing(const Traces& traces, const TracedCall& call)
      : traces_(traces), call_(call), begin_us_(call.first_arrival_us()), end_us_(call.end_us()) {
    for (const TraceRun& run : call.workers) {
      begin_us_ = std::min(begin_us_, run.begin_us);
      end_us_ = std::max(end_us_, run.end_us);
    }
    end_us_ = std::max(end_us_, begin_us_ + 1e-3);
  }

  std::string draw() && {
    double y = kTop;
    std::size_t drawn = 0;
    for (const auto* parts : {&call_.members, &call_.workers}) {
      for (const TraceRun& run : *parts) {
        if (drawn++ == kMostTimelineWorkers) break;
        y = draw_worker(run, y);
      }
    }
    draw_axis(y + 4);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               kLabels + kTimes + 2 * kBorder, y + 34) +
           header(drawn) + grid_ + body_ + "</svg>\n";
  }

 private:
  double x(double time_us) const {
    return kLabels + kBorder + (time_us - begin_us_) / (end_us_ - begin_us_) * kTimes;
  }

  std::string header(std::size_t workers) const {
    const TraceRun& first = call_.members.front();
    std::string text = fmt::format(
        "<text x=\"{0}\" y=\"22\" font-size=\"15\">{1} {2}</text>\n"
        "<text x=\"{0}\" y=\"40\" fill=\"#555555\">call {3}, {4} from the first arrival to the "
        "end, {5} after the last one{6}</text>\n",
        kBorder, escaped(first.collective + " " + first.algorithm), short_size(first.bytes),
        call_.call, time_text(end_us_ - begin_us_) + " us",
        time_text(call_.after_last_us()) + " us",
        workers > kMostTimelineWorkers
            ? fmt::format("; the first {} of {} workers", kMostTimelineWorkers,
                          call_.members.size() + call_.workers.size())
            : "");
    double at = kBorder;
    for (const StepColour& step : kStepColours) {
      text += fmt::format(
          "<rect x=\"{:.0f}\" y=\"55\" width=\"12\" height=\"12\" fill=\"{}\"/>"
          "<text x=\"{:.0f}\" y=\"65\">{}</text>\n",
          at, step.colour, at + 16, step.name);
      at += 92;
    }
    return text;
  }

  double draw_worker(const TraceRun& run, double y) {
    const std::vector<TraceSlice> slices = traces_.slices_of(run);
    int strands = 1;
    for (const TraceSlice& slice : slices) strands = std::max(strands, slice.strand + 1);
    const std::string& host = traces_.processes[static_cast<std::size_t>(run.process)].host;
    const std::string label = run.has_member ? fmt::format("rank {} on {}", run.rank, host)
                                             : fmt::format("worker {} on {}", run.worker, host);
    add("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kBorder, y + 12, escaped(label));
    add("<line x1=\"{0:.2f}\" y1=\"{1:.1f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\" stroke=\"#222222\"/>\n",
        x(run.begin_us), y - 2, y + strands * (kBox + kGap) - kGap + 2);
    for (const TraceSlice& slice : slices) {
      const double top = y + slice.strand * (kBox + kGap);
      const double left = x(slice.begin_us);
      const double right = x(slice.begin_us + slice.duration_us);
      add("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}{}, "
          "{} us</title></rect>\n",
          left, top, std::max(right - left, 0.3), kBox, colour_of(slice), escaped(slice.name),
          slice.bytes > 0 ? ", " + short_size(slice.bytes) : "", time_text(slice.duration_us));
    }
    return y + strands * (kBox + kGap) + kGap;
  }

  void draw_axis(double bottom) {
    const double tick = line_distance((end_us_ - begin_us_) / 8);
    for (int i = 0; i * tick <= end_us_ - begin_us_; ++i) {
      fmt::format_to(std::back_inserter(grid_),
                     "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" "
                     "stroke=\"#e4e4e4\"/><text x=\"{0:.1f}\" y=\"{3:.0f}\" fill=\"#555555\" "
                     "text-anchor=\"middle\">{4:.4g}</text>\n",
                     x(begin_us_ + i * tick), kTop - 6, bottom, bottom + 14, i * tick);
    }
    add("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"#a50026\" "
        "stroke-dasharray=\"3 2\"><title>the last member comes</title></line>\n",
        x(call_.last_arrival_us()), kTop - 6, bottom);
    add("<text x=\"{}\" y=\"{:.0f}\" fill=\"#555555\">measured time in us</text>\n", kBorder,
        bottom + 14);
  }

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }

  const Traces& traces_;
  const TracedCall& call_;
  double begin_us_;
  double end_us_;
  std::string grid_;
  std::string body_;
};

}  // namespace

std::string call_timeline(const Traces& traces, const TracedCall& call) {
  return CallDrawing(traces, call).draw();
}

std::string planned_timeline(const Traces& traces, const TracedCall& call) {
  std::map<std::string, int> members_of_host;
  for (const TraceRun& run : call.members) {
    ++members_of_host[traces.processes[static_cast<std::size_t>(run.process)].host];
  }
  const int members = members_of_host.begin()->second;
  const bool are_equal = std::ranges::all_of(
      members_of_host, [&](const auto& host) { return host.second == members; });
  const TraceRun& first = call.members.front();
  const auto collective = collective_named(first.collective);
  if (!are_equal || !collective || first.algorithm.empty()) return "";
  const auto node_count = static_cast<int>(members_of_host.size());
  const int workers = members + static_cast<int>(call.workers.size() / members_of_host.size());
  const std::vector<EqualNodes> nodes = {{.node = {members, workers}, .count = node_count}};
  try {
    const SelectedPlan selected = select({.collective = *collective,
                                          .nodes = nodes,
                                          .size_bytes = first.bytes,
                                          .requested_algorithm = first.algorithm});
    const Schedule schedule =
        find_algorithm(*collective, selected.algorithm)
            .generate(Shape(nodes, selected.lanes), selected.segments, 0, kAllNodes);
    const std::size_t count = std::max<std::size_t>(first.bytes, 1);
    return to_svg(schedule, partition_for(schedule, {.count = count}, 1), 1);
  } catch (const Error&) {
    return "";  // an algorithm that such nodes cannot run
  }
}

}  // namespace hycoll::command
