// A generator as any other; what it depends on is wrong.
#include "collectives/algorithms/building_blocks/algorithm.h"
