// A file as any other; what it depends on is wrong.
#include "core/schedule/builder.h"
