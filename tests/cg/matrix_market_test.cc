// Matrix Market files: what is read, and that every kind of bad file is refused with its line and a
// remedy.
#include "tools/cg/matrix_market.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll::cg {
namespace matrix_market_test {

SymmetricMatrix read(const std::string& text) {
  std::istringstream input(text);
  return read_matrix_market(input, "test.mtx");
}

/// The message with which a text is refused; "" if it is read.
std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    return error.what();
  }
  return "";
}

const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

/// Places and values of a 3 x 3 matrix whose entries are all different.
const std::vector<MatrixEntry> kEntries = {{0, 0, 4.5},  {0, 1, -1.25}, {1, 0, -1.25}, {1, 1, 5.0},
                                           {1, 2, 2e-3}, {2, 1, 2e-3},  {2, 2, 6.0}};

TEST_CASE("a symmetric file lists one triangle, of which both are made") {
  SUBCASE("lower") {
    const SymmetricMatrix matrix =
        read(kSymmetric + "3 3 5\n1 1 4.5\n2 1 -1.25\n2 2 5\n3 2 2e-3\n3 3 6.0\n");
    CHECK(matrix.row_count == 3);
    CHECK(matrix.entries == kEntries);
  }
  SUBCASE("upper, in any order") {
    CHECK(read(kSymmetric + "3 3 5\n3 3 6\n1 2 -1.25\n2 3 2e-3\n2 2 5\n1 1 4.5\n").entries ==
          kEntries);
  }
}

TEST_CASE("a general file that is symmetric is read") {
  CHECK(read(kGeneral + "3 3 7\n1 1 4.5\n1 2 -1.25\n2 1 -1.25\n2 2 5\n3 2 2e-3\n3 3 6\n2 3 2e-3\n")
            .entries == kEntries);
  // The last digits of a product may differ between the triangles.
  CHECK(refusal(kGeneral + "2 2 4\n1 1 2\n2 2 2\n1 2 0.3\n2 1 0.30000000000000004\n") == "");
  // A zero may be listed on one side only.
  CHECK(refusal(kGeneral + "2 2 3\n1 1 2\n2 2 2\n1 2 0\n") == "");
}

TEST_CASE("comments, empty lines, carriage returns, signs and letter case do not matter") {
  CHECK(read("%%MATRIXMARKET Matrix COORDINATE Real Symmetric\r\n% comment\r\n\r\n  3 3 5 \r\n"
             "\t1 1 +4.5\r\n% another\n2 1 -1.25\n\n2 2 5\n3 2 +2E-3\n3 3 6.0")
            .entries == kEntries);
}

TEST_CASE("integer values are read as such, and pattern entries are 1") {
  CHECK(read("%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 7\n2 1 -2\n2 2 9\n")
            .entries == std::vector<MatrixEntry>{{0, 0, 7}, {0, 1, -2}, {1, 0, -2}, {1, 1, 9}});
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 2\n1 1\n").entries ==
        std::vector<MatrixEntry>{{0, 0, 1}, {1, 1, 1}});
}

struct BadFile {
  std::string text;
  std::string line;     // in the message, behind the file's name
  std::string problem;  // a part of the message
};

void check_refused(const std::vector<BadFile>& files) {
  for (const BadFile& file : files) {
    CAPTURE(file.text);
    const std::string message = refusal(file.text);
    CAPTURE(message);
    CHECK(message.find("test.mtx:" + file.line + ":") == 0);
    CHECK(message.find(file.problem) != std::string::npos);
  }
}

TEST_CASE("a bad header is refused") {
  check_refused({
      {"", "1", "empty"},
      {"1 1 1\n1 1 1\n", "1", "no Matrix Market file"},
      {"%%MatrixMarket matrix coordinate real\n", "1", "incomplete"},
      {"%%MatrixMarket vector coordinate real general\n", "1", "not that of a matrix"},
      {"%%MatrixMarket matrix array real symmetric\n", "1", "write the matrix as \"coordinate\""},
      {"%%MatrixMarket matrix coordinate complex symmetric\n", "1", "use real, integer or pattern"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "1", "skew-symmetric"},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "1", "hermitian"},
  });
}

TEST_CASE("a bad size line is refused") {
  check_refused({
      {kSymmetric, "1", "ends before the size line"},
      {kSymmetric + "% only\n% comments\n", "3", "ends before the size line"},
      {kSymmetric + "3 3\n", "2", "expected three numbers"},
      {kSymmetric + "3 3 1 1\n", "2", "expected three numbers"},
      {kSymmetric + "3 x 1\n", "2", "expected three numbers"},
      {kSymmetric + "3 3 -1\n", "2", "expected three numbers"},
      {kSymmetric + "3.0 3 1\n", "2", "expected three numbers"},
      {kGeneral + "% c\n3 4 1\n1 1 1\n", "3", "3 rows and 4 columns"},
      {kSymmetric + "0 0 0\n", "2", "expected 1 to 2147483647"},
      {kSymmetric + "2147483648 2147483648 1\n", "2", "expected 1 to 2147483647"},
      {kSymmetric + "99999999999999999999 1 1\n", "2", "expected three numbers"},
      {kSymmetric + "2 2 5\n", "2", "do not fit"},
  });
}

TEST_CASE("a bad entry is refused") {
  const std::string size = kSymmetric + "% c\n2 2 3\n1 1 4\n";  // the next line is the fifth
  check_refused({
      {size + "2 2\n2 1 1\n", "5", "expected \"ROW COLUMN VALUE\""},
      {size + "2 2 1 0\n2 1 1\n", "5", "has 4 words"},
      {size + "0 2 1\n2 1 1\n", "5", "row \"0\"; expected 1 to 2"},
      {size + "2 3 1\n2 1 1\n", "5", "column \"3\"; expected 1 to 2"},
      {size + "-1 2 1\n2 1 1\n", "5", "row \"-1\""},
      {size + "2 2x 1\n2 1 1\n", "5", "column \"2x\""},
      {size + "2 2 one\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 nan\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 inf\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 1e999\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 1.5D3\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 +-1\n2 1 1\n", "5", "no finite number"},
      {size + "2 2 1\n", "5", "ends after 2 of 3 entries"},
      {size + "2 2 1\n2 1 1\n\n1 2 1\n", "8", "more than the 3 entries"},
      {"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1.5\n", "3", "no integer"},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1 1\n", "3",
       "expected \"ROW COLUMN\""},
  });
}

TEST_CASE("a place that is given twice is refused, naming both lines") {
  check_refused({
      {kSymmetric + "2 2 4\n1 1 4\n2 1 1\n2 2 4\n2 1 3\n", "6", "already given in line 4"},
      {kSymmetric + "2 2 4\n1 1 4\n2 1 1\n1 2 1\n2 2 4\n", "5", "lists one triangle only"},
      {kGeneral + "2 2 3\n1 1 4\n2 2 4\n1 1 3\n", "5", "already given in line 3"},
  });
}

TEST_CASE("a matrix that conjugate gradients cannot solve is refused") {
  check_refused({
      {kGeneral + "2 2 4\n1 1 4\n1 2 1\n2 1 1.5\n2 2 4\n", "4", "not symmetric"},
      {kGeneral + "2 2 3\n1 1 4\n2 2 4\n2 1 1.5\n", "5", "entry (1, 2) is 0"},
      {kSymmetric + "2 2 2\n1 1 4\n2 2 0\n", "4", "diagonal entry (2, 2) is 0"},
      {kSymmetric + "2 2 2\n1 1 -4\n2 2 1\n", "3", "diagonal entry (1, 1) is -4"},
      {kSymmetric + "3 3 2\n1 1 4\n3 3 1\n", "4", "no line gives the diagonal entry (2, 2)"},
      {kSymmetric + "2 2 2\n1 1 4\n2 1 1\n", "4", "no line gives the diagonal entry (2, 2)"},
  });
}

TEST_CASE("a file that cannot be opened is named") {
  CHECK_THROWS_WITH_AS(read_matrix_market_file("no/such/file.mtx"),
                       doctest::Contains("no/such/file.mtx"), Error);
}

TEST_CASE("a directory is no matrix") { CHECK_THROWS_AS(read_matrix_market_file("."), Error); }

}  // namespace matrix_market_test
}  // namespace hycoll::cg
