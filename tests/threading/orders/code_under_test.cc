// hycoll's own sources, compiled so that the model sees what they do. All that shares a compilation
// in their libraries is here: what the linker finds first, it does not take from there.

#include "threading/execution/executor.cc"
#include "threading/execution/executor_failures.cc"
#include "threading/execution/executor_lines.cc"
#include "threading/execution/executor_messages.cc"
#include "threading/execution/executor_operands.cc"
#include "threading/execution/executor_remote.cc"
#include "threading/execution/executor_slow_turns.cc"
#include "threading/execution/executor_streams.cc"
#include "threading/memory/bell.cc"
#include "threading/memory/broadcast_fifo.cc"
#include "threading/memory/call_signature.cc"
#include "threading/memory/fifo_slots.cc"
#include "threading/memory/handoff.cc"
#include "threading/memory/lines.cc"
#include "threading/memory/message_ring.cc"
#include "threading/memory/node_memory.cc"
