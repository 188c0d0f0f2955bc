// hycoll report: one HTML page about several measurements.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/comparing/html_report.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"

namespace hycoll::command {
namespace {

constexpr const char* kReportSummary = "Write one HTML page about several measurements";
constexpr const char* kReportExplanation =
    "Writes one self-contained HTML page about the files that hycoll compare --json and hycoll_cg "
    "--json wrote.";

Json read_document(const std::string& path) {
  try {
    return parse_json(read_file("FILE", path));
  } catch (const Json::parse_error& error) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("FILE '{}' is no JSON ({}). Give what hycoll compare --json or "
                            "hycoll_cg --json wrote",
                            path, error.what()));
  }
}

class ReportCommand final : public Subcommand {
 public:
  explicit ReportCommand(CommandLine& line)
      : Subcommand(line.add_subcommand("report", kReportSummary)) {
    line_.add_explanation(kReportExplanation);
    line_.add_option("files", paths_, "What hycoll compare --json and hycoll_cg --json wrote")
        .type_name("FILE")
        .required();
    line_.add_option("--html", html_path_, "The page; - is stdout").type_name("FILE").required();
    line_.add_option("--commit", commit_, "hycoll's commit, to stand in the page's heading")
        .type_name("COMMIT");
  }

  ExitStatus run() override {
    std::vector<Json> documents;
    for (const std::string& path : paths_) documents.push_back(read_document(path));
    write_file("--html", html_path_, html_report(documents, commit_));
    return kSuccess;
  }

 private:
  std::vector<std::string> paths_;
  std::string html_path_;
  std::string commit_;
};

}  // namespace

std::unique_ptr<Subcommand> add_report(CommandLine& line) {
  return std::make_unique<ReportCommand>(line);
}

}  // namespace hycoll::command
