#include "tools/command/comparing/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/errors.h"
#include "core/base/markup.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

double number(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

std::string text(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return "";
  return json[key].is_string() ? json[key].get<std::string>() : json_text(json[key]);
}

/// The values of a key in the order in which they first occur.
std::vector<std::string> values_of(const std::vector<Json>& records, const char* key) {
  std::vector<std::string> values;
  for (const Json& record : records) {
    const std::string value = text(record, key);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string ratio_cell(double ratio) {
  if (!(ratio > 0)) return "-";
  const std::string text_of_ratio = ratio_text(ratio);
  if (text_of_ratio == ratio_text(1)) return text_of_ratio;
  return fmt::format("<span class=\"{}\">{}</span>", ratio > 1 ? "faster" : "slower",
                     text_of_ratio);
}

std::string share_cell(double share) { return share > 0 ? fmt::format("{:.2f}", share) : "-"; }

/// One block has no spread.
std::string spread_text(const Json& record) {
  if (number(record, "runs") == 1) return "1 block";
  return fmt::format("{}..{}", time_text(number(record, "lowest_median_us")),
                     time_text(number(record, "highest_median_us")));
}

/// The records of one collective and use of inputs in one state of the machine.
class StateSection {
 public:
  StateSection(const std::vector<Json>& records, const std::string& collective,
               const std::string& inputs, const std::string& state)
      : contenders_(values_of(records, "contender")) {
    for (const Json& record : records) {
      if (text(record, "collective") == collective && text(record, "inputs") == inputs &&
          text(record, "state") == state) {
        records_.push_back(record);
      }
    }
  }

  bool is_empty() const { return records_.empty(); }
  const std::vector<Json>& records() const { return records_; }

  std::string charts() const {
    const std::vector<ChartSeries> times = series(ChartKind::times);
    const std::vector<ChartSeries> ratios = series(ChartKind::ratios);
    return fmt::format(
        "<div class=\"row\">\n<div class=\"card\"><h3>Time of a call</h3>\n{}{}</div>\n"
        "<div class=\"card\"><h3>How many times faster than the MPI library</h3>\n{}{}</div>\n"
        "</div>\n",
        chart_legend(times), chart(ChartKind::times, "time of a call over bytes", times),
        chart_legend(ratios), chart(ChartKind::ratios, "ratio over bytes", ratios));
  }

  std::string table() const {
    std::vector<std::string> header = {"bytes"};
    for (const std::string& contender : contenders_) {
      header.push_back(escaped(contender) + " µs");
      if (!is_reference(contender)) header.push_back("ratio");
      if (has_limit(contender)) header.push_back("of limit");
    }
    std::vector<std::vector<std::string>> rows;
    for (const std::string& bytes : values_of(records_, "bytes")) rows.push_back(row(bytes));
    return fmt::format("<div class=\"card\">{}</div>\n", html_table(header, rows));
  }

 private:
  const Json* find(const std::string& contender, const std::string& bytes) const {
    for (const Json& record : records_) {
      if (text(record, "contender") == contender && text(record, "bytes") == bytes) return &record;
    }
    return nullptr;
  }

  bool is_reference(const std::string& contender) const {
    return std::any_of(records_.begin(), records_.end(), [&](const Json& record) {
      return text(record, "contender") == contender && record.value("reference", false);
    });
  }

  /// Whether any size of that contender was measured beside the limit.
  bool has_limit(const std::string& contender) const {
    return std::any_of(records_.begin(), records_.end(), [&](const Json& record) {
      return text(record, "contender") == contender && number(record, "of_limit") > 0;
    });
  }

  std::vector<std::string> row(const std::string& bytes) const {
    std::vector<std::string> cells = {parsed_size(bytes)};
    for (const std::string& contender : contenders_) {
      const bool reference = is_reference(contender);
      const Json* record = find(contender, bytes);
      if (record == nullptr) {
        cells.insert(cells.end(), (reference ? 1 : 2) + (has_limit(contender) ? 1 : 0), "-");
        continue;
      }
      const std::string time =
          record->value("verified", false)
              ? fmt::format("<span title=\"{}\">{}</span>", escaped(text(*record, "algorithm")),
                            time_text(number(*record, "median_us")))
              : "<span class=\"slower\">wrong result</span>";
      cells.push_back(
          fmt::format("{}<br><span class=\"muted small\">{}</span>", time, spread_text(*record)));
      if (!reference) cells.push_back(ratio_cell(number(*record, "ratio")));
      if (has_limit(contender)) cells.push_back(share_cell(number(*record, "of_limit")));
    }
    return cells;
  }

  static std::string parsed_size(const std::string& bytes) {
    return short_size(parse_size("bytes", bytes));
  }

  std::vector<ChartSeries> series(ChartKind kind) const {
    std::vector<ChartSeries> all;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      if (kind == ChartKind::ratios && is_reference(contenders_[i])) continue;
      ChartSeries one{
          .name = contenders_[i], .color = static_cast<int>(i) % kSeriesColors, .points = {}};
      for (const Json& record : records_) {
        if (text(record, "contender") == contenders_[i]) one.points.push_back(point(kind, record));
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  static ChartPoint point(ChartKind kind, const Json& record) {
    const double bytes = number(record, "bytes");
    const std::string what =
        fmt::format("{}, {}: {} µs", text(record, "contender"), parsed_size(text(record, "bytes")),
                    time_text(number(record, "median_us")));
    if (kind == ChartKind::times) {
      return {bytes, number(record, "median_us"), number(record, "lowest_median_us"),
              number(record, "highest_median_us"), what};
    }
    const double ratio = number(record, "ratio");
    return {bytes, ratio, ratio, ratio, fmt::format("{}, {}", what, ratio_text(ratio))};
  }

  std::vector<std::string> contenders_;
  std::vector<Json> records_;
};

/// Whether the ratio of a record rests on a single block, of its own or of the library's.
bool is_single(const Json& record) {
  return number(record, "runs") == 1 || number(record, "native_runs") == 1;
}

/// "allreduce of 4Ki bytes, threads, fresh inputs, near: 0.93".
std::string slower_figure(const Json& record) {
  return fmt::format("{} of {} bytes, {}, {} inputs, {}: {:.2f}", text(record, "collective"),
                     short_size(parse_size("bytes", text(record, "bytes"))),
                     text(record, "contender"), text(record, "inputs"), text(record, "state"),
                     number(record, "ratio"));
}

/// In how many figures hycoll is faster, where it is not, and how much of that proves nothing.
std::string verdict(const std::vector<Json>& records) {
  constexpr std::size_t kMostNamed = 6;
  std::vector<Json> figures;
  for (const Json& record : records) {
    if (!record.value("reference", false) && number(record, "ratio") > 0) figures.push_back(record);
  }
  if (figures.empty()) return "Nothing was measured beside an MPI library.";
  std::stable_sort(figures.begin(), figures.end(), [](const Json& a, const Json& b) {
    return number(a, "ratio") < number(b, "ratio");
  });
  const auto slower = static_cast<std::size_t>(
      std::count_if(figures.begin(), figures.end(),
                    [](const Json& figure) { return number(figure, "ratio") < 1; }));
  std::string said = fmt::format(
      "<b>hycoll is as fast as the fastest MPI library or faster in {} of {} figures.</b>",
      figures.size() - slower, figures.size());
  if (slower > 0) {
    const std::size_t named = std::min(slower, kMostNamed);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < named; ++i) names.push_back(escaped(slower_figure(figures[i])));
    said += fmt::format(
        " Slower: {}{}.", fmt::join(names, "; "),
        slower > named ? fmt::format("; and {} more, at the end", slower - named) : std::string());
  }
  const auto single = std::count_if(figures.begin(), figures.end(), is_single);
  if (single > 0) {
    said += fmt::format(" {} of the figures rest on a single block, which proves nothing.", single);
  }
  return said;
}

/// The mean ratios: collectives and contenders by uses of inputs and states.
std::string mean_table(const Json& context, const std::vector<Json>& records) {
  const auto means = context.value("mean_ratios", Json::array()).get<std::vector<Json>>();
  std::vector<std::string> header = {"collective, layout"};
  std::vector<std::vector<std::string>> rows;
  std::vector<std::pair<std::string, std::string>> columns;  // a use of inputs and a state
  for (const std::string& inputs : values_of(means, "inputs")) {
    for (const std::string& state : values_of(means, "state")) columns.emplace_back(inputs, state);
  }
  for (const auto& [inputs, state] : columns) {
    header.push_back(fmt::format("{} inputs, {}", escaped(inputs), escaped(state)));
  }
  const auto cell_of = [&](const std::string& collective, const std::string& contender,
                           const std::pair<std::string, std::string>& column) {
    const auto is_meant = [&](const Json& one) {
      return text(one, "collective") == collective && text(one, "contender") == contender &&
             text(one, "inputs") == column.first && text(one, "state") == column.second;
    };
    const auto mean = std::find_if(means.begin(), means.end(), is_meant);
    if (mean == means.end()) return std::string("-");
    const bool proves_nothing =
        std::all_of(records.begin(), records.end(),
                    [&](const Json& record) { return !is_meant(record) || is_single(record); });
    return ratio_cell(number(*mean, "ratio")) +
           (proves_nothing ? " <span class=\"muted small\">(1 block)</span>" : "");
  };
  for (const std::string& collective : values_of(means, "collective")) {
    for (const std::string& contender : values_of(means, "contender")) {
      std::vector<std::string> row = {escaped(fmt::format("{}, {}", collective, contender))};
      for (const auto& column : columns) row.push_back(cell_of(collective, contender, column));
      rows.push_back(std::move(row));
    }
  }
  return fmt::format(
      "<div class=\"card\"><h3>How many times faster than the fastest MPI library: geometric mean "
      "over the sizes</h3>{}</div>\n",
      html_table(header, rows));
}

/// What the words of the tables mean.
std::string word_list(const Json& context) {
  const std::vector<std::pair<const char*, const char*>> words = {
      {"threads", "one process, whose threads take part in the collective"},
      {"processes",
       "one process per core, all of which share memory; processes_heap: with their "
       "buffers in memory that they share, too"},
      {"per_node", "one process for each emulated node"},
      {"MPI library", "one rank per core, at MPI_THREAD_SINGLE"},
      {"fresh, reused inputs",
       "before each timed call the members write their inputs and read "
       "their outputs, as programs do; or they leave them alone"},
      {"near, far",
       "how long a cache line takes from core to core. Virtual machines change that "
       "while they run, so each block is sorted by it"},
      {"block", "calls that are timed together; the contestants take turns in blocks"},
      {"time", "the median of the blocks' medians; below it the lowest and the highest of them"},
      {"ratio", "the fastest library's time divided by hycoll's: above 1 hycoll is faster"},
      {"of limit",
       "the time of a plain kernel with the same reads and writes, divided by the "
       "time"}};
  std::string list;
  for (const auto& [word, meaning] : words) {
    list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(word), escaped(meaning));
  }
  return fmt::format(
      "<details class=\"card\"><summary>Words, and how this was measured</summary>\n<dl>{}</dl>"
      "<p class=\"small\">{}. {}</p></details>\n",
      list, escaped(text(context, "pace")), escaped(text(context, "changes_text")));
}

/// What the tables lack, and where hycoll is slower: as the terminal shows it.
std::string remarks_section(const Json& context) {
  return fmt::format(
      "<details class=\"card\"><summary>What is missing, and where hycoll is slower</summary>\n"
      "<pre>{}{}</pre></details>\n",
      escaped(text(context, "missing_text")), escaped(text(context, "slower_text")));
}

/// ", float sum, reproducible"; nothing for a barrier.
std::string reduction_text(const Json& context) {
  if (text(context, "op").empty()) return "";
  return fmt::format(", {} {}{}", escaped(text(context, "type")), escaped(text(context, "op")),
                     context.value("reproducible", false) ? ", reproducible" : "");
}

/// "1 to 3 blocks": how many a figure has, in whatever state of the machine.
std::string blocks_text(const std::vector<Json>& records) {
  const auto is_less = [](const Json& a, const Json& b) {
    return number(a, "runs") < number(b, "runs");
  };
  const auto [least, most] = std::minmax_element(records.begin(), records.end(), is_less);
  if (least == records.end()) return "no blocks";
  const double fewest = number(*least, "runs");
  const std::string range = fewest < number(*most, "runs") ? fmt::format("{} to ", fewest) : "";
  return fmt::format("{}{} block{}", range, number(*most, "runs"),
                     number(*most, "runs") == 1 ? "" : "s");
}

/// The tables of one collective and use of inputs, a section for each state.
std::string table_sections(const Json& context, const std::vector<Json>& records,
                           const std::string& collective, const std::string& inputs) {
  std::string html;
  for (const Json& state : context.at("states")) {
    const std::string name = text(state, "name");
    const StateSection section(records, collective, inputs, name);
    if (section.is_empty()) continue;
    html += fmt::format(
        "<h2>{}, {} inputs, state {}</h2>\n<p class=\"muted\">Core-to-core latency {:.0f} ns; {} "
        "of each figure</p>\n{}{}",
        escaped(collective), escaped(inputs), escaped(name), number(state, "latency_ns"),
        blocks_text(section.records()), section.charts(), section.table());
  }
  return html;
}

std::string compare_section(const Json& document) {
  const Json& context = document.at("context");
  const auto records = document.at("records").get<std::vector<Json>>();
  std::string html = fmt::format(
      "<h2>{} beside the MPI library</h2>\n<p>{}</p>\n<p class=\"muted\">{}; {}. {} "
      "workers{}; {} of each figure.</p>\n{}{}",
      escaped(text(context, "title")), verdict(records), escaped(text(context, "processor")),
      escaped(text(context, "mpi")), text(context, "workers"), reduction_text(context),
      blocks_text(records), mean_table(context, records), word_list(context));
  for (const std::string& inputs : values_of(records, "inputs")) {
    for (const std::string& collective : values_of(records, "collective")) {
      html += table_sections(context, records, collective, inputs);
    }
  }
  return html + remarks_section(context);
}

/// A bar as long as the value is large, with the number beside it.
std::string bar(double value, double largest, int color) {
  return fmt::format(
      "<div style=\"display:flex;align-items:center;gap:8px\"><div class=\"bar f{}\" "
      "style=\"width:{:.0f}px\"></div>{}</div>",
      color, largest > 0 ? 110 * value / largest : 0, time_text(value));
}

std::string cg_section(const Json& document) {
  const Json& context = document.at("context");
  double longest_iteration_us = 0;
  double longest_reduction_us = 0;
  for (const Json& record : document.at("records")) {
    longest_iteration_us =
        std::max(longest_iteration_us, number(record.at("iteration_us"), "median"));
    longest_reduction_us =
        std::max(longest_reduction_us, number(record.at("reduction_us"), "median"));
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& record : document.at("records")) {
    const std::string reductions = text(record, "reductions");
    const int color = reductions == "mpi" ? 0 : 1;
    rows.push_back({escaped(reductions), text(record, "iterations"),
                    fmt::format("{:.2e}", number(record, "relative_residual")),
                    bar(number(record.at("iteration_us"), "median"), longest_iteration_us, color),
                    bar(number(record.at("reduction_us"), "median"), longest_reduction_us, color),
                    fmt::format("{:.1f} %", 100 * number(record, "reduction_share")),
                    ratio_cell(number(record, "iteration_ratio")),
                    ratio_cell(number(record, "reduction_ratio")),
                    record.value("verified", false) ? "yes" : "<span class=\"slower\">no</span>"});
  }
  return fmt::format(
      "<h2>Conjugate gradients in MPI and OpenMP</h2>\n<p class=\"muted\">{}: {} rows, {} "
      "nonzeros; "
      "{} x {} (processes x threads); {}. The same solver with its dot products through hycoll and "
      "through the MPI library; all come to the same residual.</p>\n<div class=\"card\">{}</div>\n",
      escaped(text(context, "system")), text(context, "rows"), text(context, "nonzeros"),
      text(context, "processes"), text(context, "threads_per_process"),
      escaped(text(context, "mpi_library")),
      html_table({"reductions", "iterations", "residual", "iteration µs", "reduction µs",
                  "share of time", "iteration ratio", "reduction ratio", "agreed"},
                 rows));
}

std::string section_of(const Json& document) {
  const Json context = document.value("context", Json::object());
  if (text(context, "command") == "compare") return compare_section(document);
  if (text(context, "program") == "hycoll_cg") return cg_section(document);
  throw Error(ErrorKind::invalid_argument,
              "FILE: this is neither from hycoll compare nor from hycoll_cg. Give what they write "
              "with --json");
}

}  // namespace

std::string html_report(const std::vector<Json>& documents, const std::string& commit) {
  std::vector<std::string> heading;
  std::string sections;
  try {
    for (const Json& document : documents) {
      sections += section_of(document);
      if (!heading.empty()) continue;
      for (const char* const key : {"host", "machine", "date"}) {
        const std::string said = text(document.at("context"), key);
        if (!said.empty()) heading.push_back(said);
      }
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("FILE: the document lacks something ({}). Write it again with this "
                            "version's --json",
                            error.what()));
  }
  if (!commit.empty()) heading.push_back("commit " + commit);
  return html_page("hycoll on this machine",
                   fmt::format("<h1>hycoll on this machine</h1>\n<p class=\"muted\">{}</p>\n{}",
                               escaped(fmt::format("{}", fmt::join(heading, "; "))), sections));
}

}  // namespace hycoll::command
