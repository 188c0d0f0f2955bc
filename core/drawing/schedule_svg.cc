#include "core/drawing/schedule_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/base/markup.h"
#include "core/drawing/axis.h"
#include "core/drawing/statistics_timeline.h"
#include "core/drawing/turns_timeline.h"
#include "core/schedule/packs.h"
#include "core/schedule/schedule_text.h"

namespace hycoll {
namespace {

// Sizes in pixels.
constexpr double kLabelWidth = 190;
constexpr double kMargin = 12;
constexpr double kHeaderHeight = 78;
constexpr double kLegendHeight = 18;  // of the lanes
constexpr double kBoxHeight = 16;
constexpr double kBarHeight = 5;
constexpr double kRowGap = 6;
constexpr double kNodeGap = 22;
constexpr double kWidthPerCriticalStep = 16;
constexpr double kMinimumTimeWidth = 760;
constexpr double kMaximumTimeWidth = 12000;
constexpr int kMaximumBars = 8;  // of one strand under one another

/// Colours that people with any colour vision can tell apart (M. Okabe, K. Ito, 2008), by StepKind.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#56b4e9", "#d55e00", "#e69f00",
                                                      "#009e73", "#d0d0d0", "#cc79a7"};

/// Colours of messages, by lane; further lanes have them again.
constexpr std::array<std::string_view, 6> kLaneColours = {"#0072b2", "#a50026", "#6a3d9a",
                                                          "#1b7837", "#8c510a", "#222222"};

/// The cost model that the header describes, in microseconds.
class CostModel {
 public:
  CostModel(const Schedule& schedule, const Partition& partition, std::size_t element_size_bytes)
      : schedule_(schedule), partition_(partition), element_size_bytes_(element_size_bytes) {}

  std::size_t bytes_of(const Step& step) const {
    if (step.destination_count + step.source_count == 0) return 0;
    const Span& span = schedule_.spans[static_cast<std::size_t>(step.first_span)];
    return partition_.range(span.first_chunk, span.chunk_count).size() * element_size_bytes_;
  }

  StepCost cost_of(const Step& step, double shortest) const {
    constexpr double kMessageMicrosecondsPerByte = 1e-4;
    constexpr double kMemoryMicrosecondsPerByte = 5e-5;
    const auto size_bytes = static_cast<double>(bytes_of(step));
    double busy = 0.03;
    double transfer = 0;
    if (is_asynchronous(step.kind)) {
      busy = 0.2;
      transfer = 1.5 + size_bytes * kMessageMicrosecondsPerByte;
    } else if (step.kind == StepKind::reduce || step.kind == StepKind::copy) {
      const int span_count = step.destination_count + step.source_count;
      busy = 0.05 + size_bytes * span_count * kMemoryMicrosecondsPerByte;
    }
    return {.busy = std::max(busy, shortest), .transfer = transfer};
  }

 private:
  const Schedule& schedule_;
  const Partition& partition_;
  std::size_t element_size_bytes_;
};

/// Where a strand is drawn.
struct Row {
  int strand;
  double y = 0;       // of its boxes
  int bar_count = 0;  // of asynchronous steps under one another
};

bool has_messages(const Schedule& schedule) {
  return std::any_of(schedule.strands.begin(), schedule.strands.end(), [](const Strand& strand) {
    return std::any_of(strand.steps.begin(), strand.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::send; });
  });
}

class Drawing {
 public:
  /// Without a timeline it is computed by the cost model.
  Drawing(const Schedule& schedule, const Partition& partition, std::size_t element_size_bytes,
          std::optional<Timeline> timeline)
      : schedule_(schedule),
        walk_(schedule),
        model_(schedule, partition, element_size_bytes),
        time_name_(timeline ? "simulated" : "modelled"),
        bar_of_step_(static_cast<std::size_t>(walk_.index.step_count()), 0),
        row_of_strand_(schedule.strands.size(), -1),
        has_lanes_(schedule.shape.lane_count() > 1 && has_messages(schedule)) {
    compute_times(std::move(timeline));
    place_rows();
  }

  std::string draw() {
    draw_header();
    draw_axis();
    draw_labels();
    for (const Row& row : rows_) draw_strand(row);
    for (const Row& row : rows_) draw_arrows(row);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n",
               width(), height_) +
           body_ + "</svg>\n";
  }

 private:
  double width() const { return kLabelWidth + time_width_ + 2 * kMargin; }
  double x(double time) const { return kLabelWidth + kMargin + time / timeline_.end * time_width_; }

  const Strand& strand_of(int strand) const {
    return schedule_.strands[static_cast<std::size_t>(strand)];
  }

  void compute_times(std::optional<Timeline> timeline);
  void place_rows();
  void place_bars(Row& row);

  void draw_header();
  void draw_style();
  void draw_lane_legend();
  void draw_axis();
  void draw_labels();
  void draw_strand(const Row& row);
  void draw_step(const Row& row, int id, const Step& step);
  void draw_arrows(const Row& row);
  void draw_arrow(int from, double from_time, int to, double to_time, std::string_view style);

  double header_height() const { return kHeaderHeight + (has_lanes_ ? kLegendHeight : 0); }
  std::string label_of(const Row& row) const;

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }

  const Schedule& schedule_;
  ScheduleWalk walk_;
  CostModel model_;
  std::string_view time_name_;
  Timeline timeline_;
  std::vector<int> bar_of_step_;
  std::vector<Row> rows_;
  std::vector<int> row_of_strand_;  // -1: not drawn
  int drawn_nodes_ = 0;
  double time_width_ = 0;
  double height_ = 0;
  bool has_lanes_;  // whether messages have several colours
  std::string body_;
};

void Drawing::compute_times(std::optional<Timeline> timeline) {
  const Timeline chain =
      compute_turns_timeline(walk_, [](const Step&) { return StepCost{.busy = 1, .transfer = 0}; });
  const double chain_length = std::max(chain.end, 1.0);
  time_width_ =
      std::clamp(chain_length * kWidthPerCriticalStep, kMinimumTimeWidth, kMaximumTimeWidth);
  if (timeline) {
    timeline_ = std::move(*timeline);
    return;
  }
  const Timeline exact = compute_turns_timeline(
      walk_, [&](const Step& step) { return model_.cost_of(step, /*shortest=*/0); });
  const double shortest = exact.end / (4 * chain_length);
  timeline_ = compute_turns_timeline(
      walk_, [&](const Step& step) { return model_.cost_of(step, shortest); });
  timeline_.end = std::max(timeline_.end, 1e-3);
}

void Drawing::place_rows() {
  const Shape& shape = schedule_.shape;
  double y = header_height();
  int workers = 0;
  for (int node = 0; node < shape.node_count(); ++node) {
    workers += shape.node(node).workers;
    if (node > 0 && workers > kMaximumDrawnWorkers) break;
    y += kNodeGap;
    ++drawn_nodes_;
    const int first = shape.first_worker(node);
    for (int worker = first; worker < first + shape.node(node).workers; ++worker) {
      for (int strand = 0; std::cmp_less(strand, schedule_.strands.size()); ++strand) {
        if (strand_of(strand).worker != worker) continue;
        Row row{.strand = strand, .y = y};
        place_bars(row);
        row_of_strand_[static_cast<std::size_t>(strand)] = static_cast<int>(rows_.size());
        rows_.push_back(row);
        y += kBoxHeight + row.bar_count * kBarHeight + kRowGap;
      }
    }
  }
  height_ = y + 34;
}

/// A send is over, in this model, when its strand has handed it over.
bool has_bar(const Step& step) {
  return step.kind == StepKind::recv || step.kind == StepKind::native;
}

/// Puts asynchronous steps that are under way at the same time under one another.
void Drawing::place_bars(Row& row) {
  std::vector<double> free_from;
  const int first = walk_.index.number(row.strand, 0);
  for (int id = first; id < walk_.index.number(row.strand + 1, 0); ++id) {
    if (!has_bar(walk_.index.step(id))) continue;
    const double issue = timeline_.issue[static_cast<std::size_t>(id)];
    const auto fitting =
        std::find_if(free_from.begin(), free_from.end(), [&](double t) { return t <= issue; });
    auto bar = static_cast<std::size_t>(fitting - free_from.begin());
    if (bar == kMaximumBars) bar = kMaximumBars - 1;
    if (bar == free_from.size()) free_from.push_back(0);
    free_from[bar] = timeline_.completion[static_cast<std::size_t>(id)];
    bar_of_step_[static_cast<std::size_t>(id)] = static_cast<int>(bar);
  }
  row.bar_count = static_cast<int>(free_from.size());
}

void Drawing::draw_header() {
  draw_style();
  add("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<defs><marker id=\"head\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" "
      "markerHeight=\"6\" orient=\"auto\"><path d=\"M0,0 L6,3 L0,6 z\"/></marker></defs>\n");
  add("<text x=\"{}\" y=\"22\" font-size=\"15\">{} {}</text>\n", kMargin, schedule_.collective.name,
      escaped(schedule_.algorithm));
  std::string subtitle = to_text(schedule_.shape);
  if (has_root(schedule_.collective)) {
    const std::string_view side = delivers_to_root(schedule_.collective) ? "to" : "from";
    subtitle = fmt::format("{} member {}; {}", side, schedule_.root, subtitle);
  }
  if (drawn_nodes_ < schedule_.shape.node_count()) {
    subtitle += fmt::format("; only the first {} of {} nodes are drawn", drawn_nodes_,
                            schedule_.shape.node_count());
  }
  add("<text x=\"{}\" y=\"40\" fill=\"#555555\">{}</text>\n", kMargin, escaped(subtitle));
  double legend_x = kMargin;
  for (std::size_t kind = 0; kind < kColours.size(); ++kind) {
    add("<rect x=\"{:.0f}\" y=\"51\" width=\"12\" height=\"12\" class=\"{}\"/>"
        "<text x=\"{:.0f}\" y=\"61\">{}</text>\n",
        legend_x, name_of(static_cast<StepKind>(kind)), legend_x + 16,
        name_of(static_cast<StepKind>(kind)));
    legend_x += 66;
  }
  add("<text x=\"{:.0f}\" y=\"61\" fill=\"#555555\">bar: under way; solid arrow: message; dashed: "
      "signal or lines</text>\n",
      legend_x + 8);
  if (has_lanes_) draw_lane_legend();
}

/// Classes keep the drawing small: one for each kind of step, and for each kind of arrow.
void Drawing::draw_style() {
  add("<style>rect{{stroke:#fff;stroke-width:.5}}.bar{{stroke:none;fill-opacity:.6}}"
      ".arrow{{marker-end:url(#head)}}.announce{{stroke:{};stroke-dasharray:3 2}}",
      kColours[static_cast<std::size_t>(StepKind::signal)]);
  for (std::size_t kind = 0; kind < kColours.size(); ++kind) {
    add(".{}{{fill:{}}}", name_of(static_cast<StepKind>(kind)), kColours[kind]);
  }
  for (std::size_t lane = 0; lane < kLaneColours.size(); ++lane) {
    add(".lane{}{{stroke:{};stroke-opacity:.7}}", lane, kLaneColours[lane]);
  }
  add("</style>\n");
}

void Drawing::draw_lane_legend() {
  const auto lane_count = static_cast<std::size_t>(schedule_.shape.lane_count());
  double legend_x = kMargin;
  for (std::size_t lane = 0; lane < std::min(lane_count, kLaneColours.size()); ++lane) {
    add("<line x1=\"{0:.0f}\" y1=\"76\" x2=\"{1:.0f}\" y2=\"76\" stroke-width=\"2\" "
        "class=\"lane{2}\"/>"
        "<text x=\"{3:.0f}\" y=\"80\">lane {2}</text>\n",
        legend_x, legend_x + 14, lane, legend_x + 18);
    legend_x += 66;
  }
  if (lane_count > kLaneColours.size()) {
    add("<text x=\"{:.0f}\" y=\"80\">, and so on</text>\n", legend_x - 10);
  }
}

void Drawing::draw_axis() {
  const double tick = line_distance(timeline_.end * 120 / time_width_);  // 120 pixels or more
  const double bottom = height_ - 26;
  for (int i = 0; i * tick <= timeline_.end; ++i) {
    const double at = x(i * tick);
    add("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"#e4e4e4\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.0f}\" fill=\"#555555\" "
        "text-anchor=\"middle\">{4:.4g}</text>\n",
        at, header_height(), bottom, bottom + 14, i * tick);
  }
  add("<text x=\"{}\" y=\"{:.0f}\" fill=\"#555555\">{} time in us</text>\n", kMargin, bottom + 14,
      time_name_);
}

void Drawing::draw_labels() {
  const Shape& shape = schedule_.shape;
  int last_worker = -1;
  int last_node = -1;
  for (const Row& row : rows_) {
    const int worker = strand_of(row.strand).worker;
    const int node = shape.node_of_worker(worker);
    if (node != last_node) {
      const double line_y = row.y - kNodeGap + 4;
      add("<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2:.0f}\" y2=\"{1:.1f}\" stroke=\"#999999\"/>"
          "<text x=\"{0}\" y=\"{3:.1f}\" font-weight=\"bold\">node {4}{5}</text>\n",
          kMargin, line_y, width() - kMargin, line_y + 13, node,
          shape.node(node).members == 0 ? ", aggregator" : "");
    }
    add("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>\n", kLabelWidth, row.y + 12,
        worker != last_worker ? fmt::format("worker {}, ", worker) : "", label_of(row));
    last_worker = worker;
    last_node = node;
  }
}

/// The strand, and its lane if it has messages of one only.
std::string Drawing::label_of(const Row& row) const {
  int lane = -1;
  for (const Step& step : strand_of(row.strand).steps) {
    if (schedule_.shape.lane_count() == 1 || step.lane < 0 || step.lane == lane) continue;
    if (lane >= 0) return fmt::format("strand {}", row.strand);
    lane = step.lane;
  }
  return lane < 0 ? fmt::format("strand {}", row.strand)
                  : fmt::format("strand {}, lane {}", row.strand, lane);
}

void Drawing::draw_strand(const Row& row) {
  add("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#dddddd\"/>\n",
      x(0), row.y + kBoxHeight / 2, x(timeline_.end));
  int id = walk_.index.number(row.strand, 0);
  for (const Step& step : strand_of(row.strand).steps) draw_step(row, id++, step);
}

void Drawing::draw_step(const Row& row, int id, const Step& step) {
  const auto i = static_cast<std::size_t>(id);
  const double issue = timeline_.issue[i];
  // What a strand spends waiting for a flag is part of the wait.
  const double begin = step.kind == StepKind::wait ? timeline_.ready[i] : issue;
  const int next = id + 1 < walk_.index.number(row.strand + 1, 0) ? id + 1 : -1;
  double end = timeline_.completion[i];
  if (is_asynchronous(step.kind)) {
    end = next >= 0 ? timeline_.ready[static_cast<std::size_t>(next)]
                    : std::min(end, issue + model_.cost_of(step, 0).busy);
  }
  add("<g><title>{}: {}\n{} bytes, {:.4g} to {:.4g} us</title>", walk_.index.place[i].step,
      escaped(describe_step(schedule_, step)), model_.bytes_of(step), begin,
      timeline_.completion[i]);
  add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" class=\"{}\"/>", x(begin),
      row.y, std::max(x(end) - x(begin), 1.0), kBoxHeight, name_of(step.kind));
  if (has_bar(step)) {
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" class=\"{} bar\"/>",
        x(issue), row.y + kBoxHeight + 1 + bar_of_step_[i] * kBarHeight,
        std::max(x(timeline_.completion[i]) - x(issue), 1.0), kBarHeight - 1, name_of(step.kind));
  }
  add("</g>\n");
}

void Drawing::draw_arrows(const Row& row) {
  constexpr std::string_view kSignal = "announce";
  const verifier::Index& index = walk_.index;
  for (int id = index.number(row.strand, 0); id < index.number(row.strand + 1, 0); ++id) {
    const Step& step = index.step(id);
    const auto time_of = [&](int step_id) {
      return timeline_.completion[static_cast<std::size_t>(step_id)];
    };
    if (step.kind == StepKind::recv) {
      const int send = walk_.matches.partner[static_cast<std::size_t>(id)];
      draw_arrow(send, time_of(send), id, time_of(id),
                 fmt::format("lane{}", static_cast<std::size_t>(step.lane) % kLaneColours.size()));
    } else if (step.kind == StepKind::wait) {
      const int signal = index.awaited_signal(step);
      draw_arrow(signal, time_of(signal), id, time_of(id), kSignal);
    }
    for (const Span& source : schedule_.sources(step)) {
      if (!index.is_awaited(source)) continue;
      const int writer = index.awaited_writer[static_cast<std::size_t>(index.cell(source))];
      draw_arrow(writer, time_of(writer), id, timeline_.issue[static_cast<std::size_t>(id)],
                 kSignal);
    }
  }
}

void Drawing::draw_arrow(int from, double from_time, int to, double to_time,
                         std::string_view style) {
  const auto row_of = [&](int id) {
    const int strand = walk_.index.place[static_cast<std::size_t>(id)].strand;
    return row_of_strand_[static_cast<std::size_t>(strand)];
  };
  if (row_of(from) < 0 || row_of(to) < 0 || row_of(from) == row_of(to)) return;
  const double from_y = rows_[static_cast<std::size_t>(row_of(from))].y;
  const double to_y = rows_[static_cast<std::size_t>(row_of(to))].y;
  const bool down = to_y > from_y;
  add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"arrow {}\"/>\n",
      x(from_time), down ? from_y + kBoxHeight : from_y, x(to_time),
      down ? to_y : to_y + kBoxHeight, style);
}

}  // namespace

std::string to_svg(const Schedule& schedule, const Partition& partition,
                   std::size_t element_size_bytes) {
  HYCOLL_ASSERT(partition.chunk_count() == number_count(schedule),
                "the partition must have the schedule's chunks");
  return Drawing(schedule, partition, element_size_bytes, {}).draw();
}

std::string to_svg(const Schedule& schedule, const Partition& partition,
                   std::size_t element_size_bytes, const PricedSchedule& priced,
                   const WalkRecord& record) {
  HYCOLL_ASSERT(partition.chunk_count() == number_count(schedule),
                "the partition must have the schedule's chunks");
  Timeline timeline{
      .ready = {}, .issue = record.issued, .completion = record.completed, .end = 1e-3};
  const auto steps = priced.steps();
  for (std::size_t id = 0; id < steps.size(); ++id) {
    const bool is_first = id == 0 || steps[id - 1].strand != steps[id].strand;
    timeline.ready.push_back(is_first ? 0 : record.free[id - 1]);
    timeline.end = std::max(timeline.end, record.completed[id]);
  }
  return Drawing(schedule, partition, element_size_bytes, std::move(timeline)).draw();
}

}  // namespace hycoll
