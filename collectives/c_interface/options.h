#ifndef HYCOLL_COLLECTIVES_C_INTERFACE_OPTIONS_H_
#define HYCOLL_COLLECTIVES_C_INTERFACE_OPTIONS_H_

#include "collectives/api/hycoll.h"
#include "collectives/c_interface/hycoll.h"

namespace hycoll::c_interface {

/// Those of the environment, changed by what is set in `options`, which may be null. Throws
/// ArgumentError if its size is none that a header has had, and Error for a value that cannot be
/// read.
Options options_of(const hycoll_options* options);

}  // namespace hycoll::c_interface

#endif  // HYCOLL_COLLECTIVES_C_INTERFACE_OPTIONS_H_
