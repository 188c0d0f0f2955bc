#include "tools/command/line/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace hycoll::command {
namespace {

/// CLI11's own help, of which the parts of a page are made.
struct HelpParts : CLI::Formatter {
  using Formatter::make_option_desc;
  using Formatter::make_option_name;
  using Formatter::make_option_opts;
  using Formatter::make_option_usage;
};

/// Text that roff prints as it is.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  // At the start of a line these would begin a request.
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

/// "hycoll-bench-limit" for the command "hycoll bench limit".
std::string page_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : page_name(*parent) + "-") + command.get_name();
}

std::string words_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : words_of(*parent) + " ") + command.get_name();
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command, bool positional) {
  return command.get_options([positional](const CLI::Option* one) {
    return !one->get_group().empty() && one->get_positional() == positional;
  });
}

/// Lines of prose, each a paragraph; those that are indented keep their breaks.
std::string paragraphs(const std::string& text) {
  std::string result;
  bool is_prose = true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_example = line.starts_with("  ");
    if (is_example && is_prose) result += ".PP\n.nf\n.RS\n";
    if (!is_example && !is_prose) result += ".RE\n.fi\n";
    if (!is_example && !result.empty()) result += ".PP\n";
    is_prose = !is_example;
    result += roff(is_example ? line.substr(2) : line) + "\n";
  }
  return result + (is_prose ? "" : ".RE\n.fi\n");
}

std::string option_list(const char* heading, const std::vector<const CLI::Option*>& options,
                        bool positional) {
  if (options.empty()) return "";
  const HelpParts help;
  std::string result = fmt::format(".SH {}\n", heading);
  for (const CLI::Option* option : options) {
    std::string names = help.make_option_name(option, positional);
    // What CLI11 says of a flag that clears.
    if (names.ends_with("{false}")) names.erase(names.find("{false}"));
    std::replace(names.begin(), names.end(), ',', ' ');
    result += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(names),
                          roff(help.make_option_opts(option)), roff(help.make_option_desc(option)));
  }
  return result;
}

std::string synopsis(const CLI::App& command) {
  std::string result = fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [OPTIONS]", roff(words_of(command)));
  for (const CLI::Option* option : shown_options(command, true)) {
    result += ' ' + roff(HelpParts().make_option_usage(option));
  }
  if (!shown_subcommands(command).empty()) {
    result += command.get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
  }
  return result + '\n';
}

std::string subcommand_list(const CLI::App& command) {
  const auto subcommands = shown_subcommands(command);
  if (subcommands.empty()) return "";
  std::string result = ".SH SUBCOMMANDS\n";
  for (const CLI::App* one : subcommands) {
    result += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fB{}\\fR(1)\n", roff(one->get_name()),
                          roff(one->get_description()), roff(page_name(*one)));
  }
  return result;
}

/// The first line of the description, as it stands behind the name.
std::string summary(const CLI::App& command) {
  std::string line = command.get_description();
  line = line.substr(0, line.find('\n'));
  const std::string name = command.get_name() + ": ";
  if (line.starts_with(name)) line.erase(0, name.size());
  if (line.ends_with('.')) line.pop_back();
  return line;
}

/// What the help says after the options; of the command as a whole, after the summary.
std::string explanation(const CLI::App& command) {
  if (command.get_parent() != nullptr) return command.get_footer();
  const std::string text = command.get_description();
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(end + 1);
}

std::string page_text(const CLI::App& command, const std::string& source, const std::string& date) {
  std::string capitals = page_name(command);
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = fmt::format(
      ".TH {} 1 \"{}\" \"{}\" \"User Commands\"\n.ad l\n.SH NAME\n{} \\- {}\n", roff(capitals),
      date, roff(source), roff(page_name(command)), roff(summary(command)));
  text += synopsis(command);
  const std::string more = explanation(command);
  if (!more.empty()) text += ".SH DESCRIPTION\n" + paragraphs(more);
  text += option_list("ARGUMENTS", shown_options(command, true), true);
  text += option_list("OPTIONS", shown_options(command, false), false);
  text += subcommand_list(command);
  if (command.get_parent() != nullptr) {
    text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(page_name(*command.get_parent())));
  }
  return text;
}

}  // namespace

std::vector<ManualPage> manual_pages(const CLI::App& command, const std::string& source,
                                     const std::string& date) {
  std::vector<ManualPage> pages = {{page_name(command) + ".1", page_text(command, source, date)}};
  for (const CLI::App* subcommand : shown_subcommands(command)) {
    for (ManualPage& page : manual_pages(*subcommand, source, date)) {
      pages.push_back(std::move(page));
    }
  }
  return pages;
}

}  // namespace hycoll::command
