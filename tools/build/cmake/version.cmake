# The variable `version`, as core/base/version.h says.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../../../core/base/version.h version_lines
     REGEX "^#define HYCOLL_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX MATCHALL "[0-9]+" version_numbers "${version_lines}")
list(JOIN version_numbers . version)
