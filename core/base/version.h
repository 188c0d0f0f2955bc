#ifndef HYCOLL_CORE_BASE_VERSION_H_
#define HYCOLL_CORE_BASE_VERSION_H_

/// The version of these headers, for programs that compile with several: numbers to compare in #if,
/// e.g. HYCOLL_VERSION >= HYCOLL_VERSION_NUMBER(0, 2, 0).
///
/// Example: what a program was compiled with.
///
///     check(HYCOLL_VERSION >= HYCOLL_VERSION_NUMBER(0, 1, 0));
#define HYCOLL_VERSION_MAJOR 0
#define HYCOLL_VERSION_MINOR 1
#define HYCOLL_VERSION_PATCH 0

#define HYCOLL_VERSION_NUMBER(major, minor, patch) (10000 * (major) + 100 * (minor) + (patch))
#define HYCOLL_VERSION \
  HYCOLL_VERSION_NUMBER(HYCOLL_VERSION_MAJOR, HYCOLL_VERSION_MINOR, HYCOLL_VERSION_PATCH)

#endif  // HYCOLL_CORE_BASE_VERSION_H_
