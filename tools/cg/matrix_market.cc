#include "tools/cg/matrix_market.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/errors.h"

namespace hycoll::cg {
namespace {

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric };

struct Format {
  Field field;
  Symmetry symmetry;
};

struct Size {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;
};

/// An entry and the line that it comes from, for messages.
struct SourcedEntry {
  MatrixEntry entry;
  std::int64_t line;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpace, end);
  }
  return words;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const std::from_chars_result result =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Reads the lines of one input and knows where it is.
class Reader {
 public:
  Reader(std::istream& input, const std::string& name) : input_(input), name_(name) {}

  SymmetricMatrix read();

 private:
  [[noreturn]] void fail_at(std::int64_t line, const std::string& problem) const {
    throw Error(ErrorKind::invalid_argument, fmt::format("{}:{}: {}", name_, line, problem));
  }
  [[noreturn]] void fail(const std::string& problem) const { fail_at(line_number_, problem); }

  bool next_line();
  bool next_data_line();
  Format read_header();
  Field parse_field(std::string_view word) const;
  Symmetry parse_symmetry(std::string_view word) const;
  Size read_size();
  void check_size(const Size& size) const;
  std::int32_t read_index(std::string_view word, std::string_view what, std::int64_t limit) const;
  double read_value(std::string_view word) const;
  SourcedEntry read_entry(const Size& size);
  void check_places(const std::vector<SourcedEntry>& entries) const;
  void check_symmetry(const std::vector<SourcedEntry>& entries) const;
  void check_diagonal(const std::vector<SourcedEntry>& entries, std::int64_t row_count) const;

  std::istream& input_;
  const std::string& name_;
  Format format_{};
  std::string line_;
  std::int64_t line_number_ = 0;
};

bool Reader::next_line() {
  if (!std::getline(input_, line_)) return false;
  ++line_number_;
  return true;
}

/// The next line that is neither empty nor a comment.
bool Reader::next_data_line() {
  while (next_line()) {
    const std::size_t first = line_.find_first_not_of(" \t\r\v\f");
    if (first != std::string::npos && line_[first] != '%') return true;
  }
  return false;
}

Format Reader::read_header() {
  constexpr std::string_view kExpected =
      "expected \"%%MatrixMarket matrix coordinate real|integer|pattern symmetric|general\"";
  if (!next_line()) {
    line_number_ = 1;
    fail(fmt::format("the file is empty; {}", kExpected));
  }
  const std::vector<std::string_view> words = words_of(line_);
  if (words.empty() || lower_case(words[0]) != "%%matrixmarket") {
    fail(fmt::format("this is no Matrix Market file; {} in the first line", kExpected));
  }
  if (words.size() != 5 || lower_case(words[1]) != "matrix") {
    fail(fmt::format("header \"{}\" is incomplete or not that of a matrix; {}", line_, kExpected));
  }
  if (lower_case(words[2]) != "coordinate") {
    fail(
        fmt::format("format \"{}\" is not supported; write the matrix as \"coordinate\", one line "
                    "per nonzero",
                    words[2]));
  }
  return {parse_field(words[3]), parse_symmetry(words[4])};
}

Field Reader::parse_field(std::string_view word) const {
  const std::string field = lower_case(word);
  if (field == "real") return Field::real;
  if (field == "integer") return Field::integer;
  if (field == "pattern") return Field::pattern;
  fail(fmt::format("field \"{}\" is not supported; use real, integer or pattern", word));
}

Symmetry Reader::parse_symmetry(std::string_view word) const {
  const std::string symmetry = lower_case(word);
  if (symmetry == "symmetric") return Symmetry::symmetric;
  if (symmetry == "general") return Symmetry::general;
  fail(
      fmt::format("symmetry \"{}\" is refused: conjugate gradients need a symmetric positive "
                  "definite matrix; use a symmetric one",
                  word));
}

Size Reader::read_size() {
  if (!next_data_line()) {
    fail("the file ends before the size line; expected \"ROWS COLUMNS ENTRIES\"");
  }
  const std::vector<std::string_view> words = words_of(line_);
  Size size{};
  std::int64_t* const targets[] = {&size.rows, &size.columns, &size.entries};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = words.size() == 3 ? parse_number<std::int64_t>(words[i]) : std::nullopt;
    if (!number || *number < 0) {
      fail(
          fmt::format("size line \"{}\"; expected three numbers: \"ROWS COLUMNS ENTRIES\"", line_));
    }
    *targets[i] = *number;
  }
  check_size(size);
  return size;
}

void Reader::check_size(const Size& size) const {
  if (size.rows != size.columns) {
    fail(
        fmt::format("the matrix has {} rows and {} columns; conjugate gradients need a square "
                    "one",
                    size.rows, size.columns));
  }
  if (size.rows < 1 || size.rows > std::numeric_limits<std::int32_t>::max()) {
    fail(fmt::format("{} rows; expected 1 to 2147483647", size.rows));
  }
  // rows^2 fits: rows < 2^31.
  if (size.entries > size.rows * size.rows) {
    fail(fmt::format("{} entries do not fit into {} rows; correct the size line", size.entries,
                     size.rows));
  }
}

std::int32_t Reader::read_index(std::string_view word, std::string_view what,
                                std::int64_t limit) const {
  const std::optional<std::int64_t> index = parse_number<std::int64_t>(word);
  if (!index || *index < 1 || *index > limit) {
    fail(fmt::format("{} \"{}\"; expected 1 to {} (indices count from 1)", what, word, limit));
  }
  return static_cast<std::int32_t>(*index - 1);
}

double Reader::read_value(std::string_view word) const {
  if (format_.field == Field::integer) {
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(word);
    if (!value) {
      fail(
          fmt::format("value \"{}\" is no integer; correct it or declare the field as real", word));
    }
    return static_cast<double>(*value);
  }
  const std::optional<double> value = parse_number<double>(word);
  if (!value || !std::isfinite(*value)) {
    fail(fmt::format("value \"{}\" is no finite number; expected one like -1.5e3", word));
  }
  return *value;
}

SourcedEntry Reader::read_entry(const Size& size) {
  const std::vector<std::string_view> words = words_of(line_);
  const std::size_t expected = format_.field == Field::pattern ? 2 : 3;
  if (words.size() != expected) {
    fail(fmt::format("\"{}\" has {} words; expected {}", line_, words.size(),
                     expected == 2 ? "\"ROW COLUMN\"" : "\"ROW COLUMN VALUE\""));
  }
  MatrixEntry entry;
  entry.row = read_index(words[0], "row", size.rows);
  entry.column = read_index(words[1], "column", size.columns);
  entry.value = format_.field == Field::pattern ? 1.0 : read_value(words[2]);
  return {entry, line_number_};
}

/// Requires sorted entries, as all checks below.
void Reader::check_places(const std::vector<SourcedEntry>& entries) const {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const MatrixEntry& first = entries[i - 1].entry;
    const MatrixEntry& second = entries[i].entry;
    if (first.row != second.row || first.column != second.column) continue;
    fail_at(std::max(entries[i - 1].line, entries[i].line),
            fmt::format("entry ({}, {}) is already given in line {}{}; keep one of them",
                        second.row + 1, second.column + 1,
                        std::min(entries[i - 1].line, entries[i].line),
                        format_.symmetry == Symmetry::symmetric
                            ? " (a symmetric file lists one triangle only)"
                            : ""));
  }
}

void Reader::check_symmetry(const std::vector<SourcedEntry>& entries) const {
  const auto before = [](const SourcedEntry& sourced, const MatrixEntry& place) {
    return sourced.entry.row != place.row ? sourced.entry.row < place.row
                                          : sourced.entry.column < place.column;
  };
  for (const auto& [entry, line] : entries) {
    const MatrixEntry place{entry.column, entry.row, 0.0};
    const auto mirror = std::lower_bound(entries.begin(), entries.end(), place, before);
    const bool exists = mirror != entries.end() && mirror->entry.row == place.row &&
                        mirror->entry.column == place.column;
    const double mirrored = exists ? mirror->entry.value : 0.0;
    const double larger = std::max(std::abs(entry.value), std::abs(mirrored));
    if (std::abs(entry.value - mirrored) <= 1e-12 * larger) continue;
    fail_at(line, fmt::format("the matrix is not symmetric: entry ({}, {}) is {}, entry ({}, {}) "
                              "is {}; conjugate gradients need a symmetric positive definite "
                              "matrix, choose another one",
                              entry.row + 1, entry.column + 1, entry.value, entry.column + 1,
                              entry.row + 1, mirrored));
  }
}

void Reader::check_diagonal(const std::vector<SourcedEntry>& entries,
                            std::int64_t row_count) const {
  constexpr std::string_view kRemedy =
      "a positive definite matrix, which conjugate gradients need, has a positive diagonal; choose "
      "another one";
  std::int64_t next_row = 0;
  for (const auto& [entry, line] : entries) {
    if (entry.row != entry.column) continue;
    if (entry.row != next_row) break;
    if (!(entry.value > 0.0)) {
      fail_at(line, fmt::format("diagonal entry ({}, {}) is {}; {}", entry.row + 1,
                                entry.column + 1, entry.value, kRemedy));
    }
    ++next_row;
  }
  if (next_row < row_count) {
    fail(fmt::format("no line gives the diagonal entry ({}, {}); {}", next_row + 1, next_row + 1,
                     kRemedy));
  }
}

SymmetricMatrix Reader::read() {
  format_ = read_header();
  const Size size = read_size();
  std::vector<SourcedEntry> entries;
  for (std::int64_t read = 0; read < size.entries; ++read) {
    if (!next_data_line()) {
      fail(fmt::format("the file ends after {} of {} entries; complete it or correct the size line",
                       read, size.entries));
    }
    entries.push_back(read_entry(size));
    const auto [entry, line] = entries.back();
    if (format_.symmetry == Symmetry::symmetric && entry.row != entry.column) {
      entries.push_back({{entry.column, entry.row, entry.value}, line});
    }
  }
  if (next_data_line()) {
    fail(fmt::format("more than the {} entries of the size line; correct it or remove this line",
                     size.entries));
  }
  std::sort(entries.begin(), entries.end(), [](const SourcedEntry& a, const SourcedEntry& b) {
    return a.entry.row != b.entry.row ? a.entry.row < b.entry.row : a.entry.column < b.entry.column;
  });
  check_places(entries);
  if (format_.symmetry == Symmetry::general) check_symmetry(entries);
  check_diagonal(entries, size.rows);

  SymmetricMatrix matrix;
  matrix.row_count = static_cast<std::int32_t>(size.rows);
  matrix.entries.reserve(entries.size());
  for (const SourcedEntry& sourced : entries) matrix.entries.push_back(sourced.entry);
  return matrix;
}

}  // namespace

SymmetricMatrix read_matrix_market(std::istream& input, const std::string& name) {
  return Reader(input, name).read();
}

SymmetricMatrix read_matrix_market_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("matrix file \"{}\" cannot be opened; give the path of a readable "
                            "Matrix Market file (.mtx, unpacked)",
                            path));
  }
  return read_matrix_market(file, path);
}

}  // namespace hycoll::cg
