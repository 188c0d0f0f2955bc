#include "tools/command/line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

namespace hycoll::command {

Option& Option::type_name(const char* name) {
  option_->type_name(name);
  return *this;
}

Option& Option::check(Check check) {
  option_->check(std::move(check));
  return *this;
}

Option& Option::check_positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::check_range(double minimum, double maximum) {
  option_->check(CLI::Range(minimum, maximum));
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : root_(std::make_unique<CLI::App>(description, name)), app_(root_.get()) {
  app_->fallthrough(false);
}

CommandLine::CommandLine(CLI::App* subcommand) : app_(subcommand) {}

CommandLine::~CommandLine() = default;

CommandLine& CommandLine::add_subcommand(const char* name, const char* summary) {
  subcommands_.emplace_back(new CommandLine(app_->add_subcommand(name, summary)));
  return *subcommands_.back();
}

void CommandLine::add_explanation(const char* text) { app_->footer(text); }

void CommandLine::hide() { app_->group(""); }

void CommandLine::require_subcommand() { app_->require_subcommand(1); }

void CommandLine::add_version(std::function<std::string()> text) {
  app_->set_version_flag("--version", std::move(text), "Print versions and exit");
}

Option CommandLine::add_option(const std::string& names, std::string& target,
                               const std::string& help) {
  return Option(app_->add_option(names, target, help));
}

Option CommandLine::add_option(const std::string& names, std::vector<std::string>& target,
                               const std::string& help) {
  return Option(app_->add_option(names, target, help));
}

Option CommandLine::add_option(const std::string& names, int& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}

Option CommandLine::add_option(const std::string& names, std::optional<int>& target,
                               const std::string& help) {
  return Option(app_->add_option(names, target, help));
}

Option CommandLine::add_option(const std::string& names, double& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}

Option CommandLine::add_option(const std::string& names,
                               std::function<void(const std::string&)> receive,
                               const std::string& help) {
  return Option(app_->add_option_function<std::string>(names, std::move(receive), help));
}

Option CommandLine::add_flag(const std::string& names, bool& target, const std::string& help) {
  return Option(app_->add_flag(names, target, help));
}

std::optional<int> CommandLine::parse(int argc, char** argv, bool speaks, int usage_error) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& help) {
    return speaks ? app_->exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (!speaks) return usage_error;
    // CLI11 would not say which word it did not know.
    if (app_->get_subcommands().empty() && argc > 1) {
      fmt::print(stderr, "{}: '{}' is no subcommand. Give one of {}\n", app_->get_name(), argv[1],
                 subcommand_names());
    } else {
      app_->exit(error);
    }
    return usage_error;
  }
  return std::nullopt;
}

std::vector<ManualPage> CommandLine::manual(const std::string& source,
                                            const std::string& date) const {
  return manual_pages(*app_, source, date);
}

bool CommandLine::chosen() const { return app_->parsed(); }

std::string CommandLine::subcommand_names() const {
  std::string names;
  for (const auto& subcommand : subcommands_) {
    names += (names.empty() ? "" : ", ") + subcommand->app_->get_name();
  }
  return names;
}

std::vector<std::string> split(const std::string& text, char separator) {
  return CLI::detail::split(text, separator);
}

}  // namespace hycoll::command
