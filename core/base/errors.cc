#include "core/base/errors.h"

#include <cstdio>
#include <cstdlib>

namespace hycoll {

void assertion_failed(const char* condition, const char* file, int line, const char* explanation) {
  std::fprintf(stderr, "hycoll: broken invariant at %s:%d: %s (%s). Please report this.\n", file,
               line, explanation, condition);
  std::abort();
}

}  // namespace hycoll
