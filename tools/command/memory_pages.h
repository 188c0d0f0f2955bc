#ifndef HYCOLL_TOOLS_COMMAND_MEMORY_PAGES_H_
#define HYCOLL_TOOLS_COMMAND_MEMORY_PAGES_H_

#include <string>
#include <vector>

#include "numa/placement/pages.h"
#include "tools/command/line/json.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {

/// The pages of one kind of hycoll's memory, of all processes of a machine.
struct KindOfMemory {
  std::string name;
  PageCounts pages;
};

struct MemoryPages {
  std::vector<KindOfMemory> kinds;
  int processes;        ///< Of the machine.
  std::string why_not;  ///< Why nothing can be told of pages; "" if it can.
};

/// Makes two all-to-alls on a communicator of its own in the layout `processes`, one of ordinary
/// memory and one of blocks of the shared heap, and counts where staging, heap and the leaders'
/// exchange buffers lie then. Collective over the session; rank 0 gets what its machine has, the
/// others nothing. Four or more processes of a machine are two emulated nodes, unless the
/// environment says otherwise: a single node has nothing to exchange.
MemoryPages used_memory_pages(const MpiSession& session);

/// For people: a table, with a line break at its end.
std::string memory_pages_text(const MemoryPages& memory);

Json to_json(const MemoryPages& memory);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEMORY_PAGES_H_
