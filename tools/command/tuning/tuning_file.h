#ifndef HYCOLL_TOOLS_COMMAND_TUNING_TUNING_FILE_H_
#define HYCOLL_TOOLS_COMMAND_TUNING_TUNING_FILE_H_

#include <string>
#include <vector>

#include "tools/command/line/json.h"
#include "tools/command/tuning/tuning_run.h"

namespace hycoll::command {

/// A cell of a tuning file: what TuningTable reads, and the figures that it was chosen by.
Json cell_of(const TuningResult& result);

/// Whether a cell is of such calls.
bool is_of_shape(const Json& cell, const TunedShape& shape);

/// The cells of a tuning file. `argument` is how the user knows the path. Throws Error
/// (invalid_argument) as TuningTable::read(), or if the file cannot be read.
std::vector<Json> read_cells(const std::string& argument, const std::string& path);

/// Adds cells, which take the places of those of the same calls.
void put_cells(std::vector<Json>& cells, const std::vector<Json>& later);

/// The file's text: one cell a line, ordered by call, so that two files can be compared by diff.
std::string tuning_file_text(const Json& about, std::vector<Json> cells);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TUNING_TUNING_FILE_H_
