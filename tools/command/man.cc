// hycoll man: the pages of the manual.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/errors.h"
#include "core/base/version.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/measuring/machine_context.h"

namespace hycoll::command {
namespace {

constexpr const char* kManSummary = "Write the pages of the manual, which are what --help says";
constexpr const char* kManExplanation =
    "Writes a page for the command and one for each subcommand. tools/install does so in "
    "PREFIX/share/man/man1.\n"
    "  mkdir -p ~/.local/share/man/man1 && hycoll man ~/.local/share/man/man1\n"
    "  man hycoll-plan";

class Man final : public Subcommand {
 public:
  explicit Man(CommandLine& line)
      : Subcommand(line.add_subcommand("man", kManSummary)), command_(line) {
    line_.add_explanation(kManExplanation);
    line_.add_option("directory", directory_, "The folder for the pages, which exists")
        .type_name("DIRECTORY")
        .required();
  }

  ExitStatus run() override {
    if (!std::filesystem::is_directory(directory_)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("DIRECTORY '{}' is no folder. Make it first, or name one that exists",
                              directory_));
    }
    const std::string source = fmt::format("hycoll {}.{}.{}", HYCOLL_VERSION_MAJOR,
                                           HYCOLL_VERSION_MINOR, HYCOLL_VERSION_PATCH);
    for (const ManualPage& page : command_.manual(source, today())) {
      const std::string path = (std::filesystem::path(directory_) / page.file_name).string();
      std::ofstream file(path);
      if (!(file << page.text << std::flush)) {
        throw Error(ErrorKind::environment,
                    fmt::format("'{}' cannot be written. Name a folder for DIRECTORY in which "
                                "files can be made",
                                path));
      }
    }
    return kSuccess;
  }

 private:
  CommandLine& command_;
  std::string directory_;
};

}  // namespace

std::unique_ptr<Subcommand> add_man(CommandLine& line) { return std::make_unique<Man>(line); }

}  // namespace hycoll::command
