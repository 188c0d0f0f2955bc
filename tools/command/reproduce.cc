// hycoll reproduce: results of papers, simulated.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/reproducing/paper_results.h"
#include "tools/command/reproducing/reproduction.h"
#include "tools/command/reproducing/reproduction_report.h"

namespace hycoll::command {
namespace {

constexpr const char* kReproduceSummary = "Reproduce results of papers by simulation";
constexpr const char* kReproduceExplanation =
    "Simulates the calls of a paper's figure on the described machine of that paper, as hycoll "
    "simulate does, and puts the numbers that the paper's text has beside those found. Without a "
    "name it lists the results, the papers' numbers, and what is not reproduced, with the reason.\n"
    "  hycoll reproduce\n"
    "  hycoll reproduce ring-figure-3 --svg ring.svg\n"
    "  hycoll reproduce all --html report.html\n"
    "The machines are docs/platforms; each of their numbers has its source there, and none is "
    "fitted to a result. docs/reproduction.md has all results, and says why some differ. For the "
    "broadcast slides the messages and bytes of all processes are counted, too.";

std::vector<PaperResult> chosen_results(const std::vector<std::string>& names) {
  const std::vector<PaperResult> all = paper_results();
  if (names == std::vector<std::string>{"all"}) return all;
  std::vector<PaperResult> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &PaperResult::name);
    if (found == all.end()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("RESULT '{}' does not exist. Give one that hycoll reproduce lists, "
                              "or all",
                              name));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

class Reproduce final : public Subcommand {
 public:
  explicit Reproduce(CommandLine& line)
      : Subcommand(line.add_subcommand("reproduce", kReproduceSummary)) {
    line_.add_explanation(kReproduceExplanation);
    line_.add_option("results", names_, "Names of results, or all (default: list them)")
        .type_name("RESULT");
    output_.add_file(line_, "--svg", svg_path_, "Draw time over size of one result");
    output_.add_file(line_, "--html", html_path_, "Write a page of the results");
    output_.add_to(line_);
  }

  ExitStatus run() override {
    output_.check();
    if (names_.empty()) {
      check_no_pictures();
      fmt::print(output_.human(), "{}", results_text());
      output_.write(results_report());
      return kSuccess;
    }
    const std::vector<PaperResult> results = chosen_results(names_);
    check_one_picture(results.size());
    const std::vector<Reproduction> reproductions = reproduce_all(results);
    for (const Reproduction& reproduction : reproductions) {
      fmt::print(output_.human(), "{}\n", reproduction_text(reproduction));
    }
    if (!svg_path_.empty()) {
      write_file("--svg", svg_path_, reproduction_picture(reproductions.front()));
    }
    if (!html_path_.empty()) write_file("--html", html_path_, reproductions_page(reproductions));
    output_.write(reproductions_report(reproductions));
    return kSuccess;
  }

 private:
  void check_no_pictures() const {
    if (svg_path_.empty() && html_path_.empty()) return;
    throw Error(ErrorKind::invalid_argument,
                "--svg and --html show results, and none is named. Name one, or all");
  }

  void check_one_picture(std::size_t count) const {
    if (svg_path_.empty() || count == 1) return;
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--svg draws one result, and {} are named. Name one, or give --html", count));
  }

  static std::vector<Reproduction> reproduce_all(const std::vector<PaperResult>& results) {
    std::size_t calls = 0;
    for (const PaperResult& result : results) calls += call_count(result);
    ProgressBar progress(calls);
    std::vector<Reproduction> reproductions;
    for (const PaperResult& result : results) {
      reproductions.push_back(reproduce(result, [&](const Curve& curve) {
        progress.set_label(fmt::format("{}: {}", result.name, curve.name));
        progress.advance(1);
      }));
      // What the other process has drawn, it has not counted here.
      progress.advance(call_count(result));
    }
    return reproductions;
  }

  std::vector<std::string> names_;
  std::string svg_path_;
  std::string html_path_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Subcommand> add_reproduce(CommandLine& line) {
  return std::make_unique<Reproduce>(line);
}

}  // namespace hycoll::command
