#ifndef HYCOLL_TOOLS_COMMAND_LINE_TABLE_H_
#define HYCOLL_TOOLS_COMMAND_LINE_TABLE_H_

#include <string>
#include <vector>

namespace hycoll::command {

/// A table for the terminal: columns as wide as their content, the first flush left, the others
/// flush right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}

  /// Requires as many cells as the header has.
  void add_row(std::vector<std::string> cells);

  /// Lines that end in a line break, without trailing blanks.
  std::string to_text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A time in microseconds with three significant digits: "0.0714", "12.3", "4416".
std::string time_text(double time_us);

/// "2.31x"; "-" when it is not a positive number.
std::string ratio_text(double ratio);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_TABLE_H_
