#!/usr/bin/env python3
"""Makes a program of the examples in the comments of headers: header_examples.py HEADER... > PROGRAM.cc

An example begins with a line "/// Example", and is what follows, indented by four spaces more than the rest. It calls
check(condition), which ends the job if the condition is false. A header without an example is an error.
"""
import re
import sys

PREAMBLE = """#include <hycoll.h>
#include <hycoll/heap.h>
#include <hycoll/heap_neighbours.h>
#include <hycoll/hycoll.h>
#include <hycoll/observer.h>
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#define check(condition) require(condition, #condition)

namespace {

void require(bool holds, const char* condition) {
  if (holds) return;
  std::fprintf(stderr, "an example is wrong: %s\\n", condition);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
"""


def examples_of(header):
    """Lists of lines."""
    found = []
    lines = open(header, encoding="utf-8").read().splitlines()
    for number, line in enumerate(lines):
        if not re.match(r" */// Example", line):
            continue
        code = []
        for following in lines[number + 1 :]:
            text = re.match(r" *///(?:$|     (.*))", following)
            if text is None:
                break
            code.append(text.group(1) or "")
        if not any(code):
            sys.exit("%s:%d: an example without code" % (header, number + 1))
        found.append(code)
    if not found:
        sys.exit("%s: there is no example" % header)
    return found


def main():
    print(PREAMBLE)
    names = []
    for header in sys.argv[1:]:
        for code in examples_of(header):
            names.append("example_%d" % (len(names) + 1))
            print("// %s" % header)
            print("void %s() {\n  %s\n}\n" % (names[-1], "\n  ".join(code).strip()))
    print("}  // namespace\n\nint main(int argc, char** argv) {")
    print("  int level = 0;\n  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);")
    for name in names:
        print("  %s();" % name)
    print("  MPI_Finalize();\n  return 0;\n}")


main()
