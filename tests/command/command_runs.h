#ifndef HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_
#define HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_

// Runs of the hycoll command, which HYCOLL_TEST_COMMAND names, and what they must have written.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/measuring/child.h"

namespace hycoll::command {

using Arguments = std::vector<std::string>;

/// What the functions below take. A list of strings by themselves costs the compiler many times
/// what a list of views does.
struct Words {
  Words(std::initializer_list<std::string_view> words);
  Words(const Arguments& words);

  Arguments strings;
};

ChildResult hycoll(const Words& arguments);

bool contains(std::string_view text, std::string_view part);

/// Bad arguments: status 2, nothing on the standard output, and every part in the message, once.
void check_refused(const Words& arguments, const Words& parts);

Json json_of(const Words& arguments);

void check_benchmark_record(const Json& record);

std::string text_of(const std::string& path);

}  // namespace hycoll::command

#endif  // HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_
