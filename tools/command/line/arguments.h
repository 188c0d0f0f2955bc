#ifndef HYCOLL_TOOLS_COMMAND_LINE_ARGUMENTS_H_
#define HYCOLL_TOOLS_COMMAND_LINE_ARGUMENTS_H_

#include <cstddef>
#include <string>

#include "core/base/types.h"
#include "core/schedule/shape.h"
#include "tools/command/line/command_line.h"

namespace hycoll::command {

/// What several subcommands accept. Schedules of larger shapes would take more memory than most
/// machines have.
inline constexpr int kMaximumNodes = 4096;
inline constexpr int kMaximumMembers = 1024;
inline constexpr int kMaximumLanes = 1024;
inline constexpr int kMaximumSegments = 1024;

/// Accepts whole numbers from `minimum` to `maximum`; otherwise the message names the value, what
/// is expected and the remedy.
Check between(int minimum, int maximum);

/// The type or operator of that name. Errors: invalid_argument, which names the argument, the value
/// and all names.
DataType data_type_argument(const std::string& argument, const std::string& name);
Operator operator_argument(const std::string& argument, const std::string& name);

/// "direct" or "staged". Errors: the same.
Visibility visibility_argument(const std::string& argument, const std::string& name);

/// Throws Error (invalid_argument) unless the operator is defined for the type.
void check_operator(Operator op, DataType type);

/// Throws Error (invalid_argument) unless --root is one of the members.
void check_root(int root, int member_count);

/// Throws Error (invalid_argument) unless `size_bytes` is a whole number of elements.
void check_size_fits(std::size_t size_bytes, const std::string& argument, DataType type);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_ARGUMENTS_H_
