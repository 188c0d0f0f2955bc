// Looks like the form in place, which containers have, and would change nothing.
#include <hycoll/hycoll.h>

void share(hycoll::Communicator& communicator, int value) { communicator.COLLECTIVE(value); }
