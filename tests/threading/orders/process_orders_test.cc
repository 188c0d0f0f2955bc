// What threads of a process share besides runs: plans, attachments that have been looked up lately,
// and the words that the kernel marks when the process ends.

#include <linux/futex.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "collectives/plans/plan.h"
#include "preload/session/recent_attachments.h"
#include "tests/threading/orders/check_orders.h"
#include "threading/memory/robust_list.h"

namespace hycoll {
namespace process_orders_test {

using orders::check_orders;
using orders::Program;
using orders::require;

TEST_CASE("plans: who holds one alone may change it, and the last one deletes it") {
  static std::array<std::optional<PlanPointer>, 2> holders;
  const auto setup = [] {
    new (&holders) std::array<std::optional<PlanPointer>, 2>;
    Plan* const plan = new Plan;
    for (auto& holder : holders) holder.emplace(plan);
    return Program{{[] {
                      require((*holders[0])->query.element_bytes == 1, "nobody has changed it");
                      holders[0].reset();
                    },
                    [] {
                      if (Plan* const own = holders[1]->get_if_alone())
                        own->query.element_bytes = 2;
                      holders[1].reset();
                    }}};
  };
  // Only freed memory comes after the last decrement, which the model does not follow.
  check_orders(setup,
               {"PlanPointer::get_if_alone: load, acquire",
                "PlanPointer::release: fetch_sub, acq_rel, its release"},
               {"PlanPointer::release: fetch_sub, acq_rel, its acquire"});
}

struct Attached {
  int communicator;
};

TEST_CASE("attachments looked up lately: the whole of one, or none") {
  static preload::RecentAttachments<int, Attached> recent;
  static std::array<Attached, 2> attachments;
  // Both have the same place among those remembered.
  constexpr int kFirst = 1;
  constexpr int kSecond = 22;
  const auto setup = [] {
    new (&recent) preload::RecentAttachments<int, Attached>;
    const auto look_up = [] {
      for (const int communicator : {kFirst, kSecond}) {
        const Attached* const found = recent.find(communicator);
        require(found == nullptr || found->communicator == communicator, "it is the right one");
      }
    };
    const auto remember = [] {
      attachments[0].communicator = kFirst;
      recent.remember(kFirst, &attachments[0]);
      attachments[1].communicator = kSecond;
      recent.remember(kSecond, &attachments[1]);
    };
    return Program{{remember, look_up}};
  };
  const std::string name =
      "preload::RecentAttachments<int, hycoll::process_orders_test::Attached>::";
  std::vector<std::string> needed;
  for (const char* const order : {"find: load, acquire", "write: store, release"}) {
    for (const char* const which : {"", " (2)", " (3)"}) needed.push_back(name + order + which);
  }
  check_orders(setup, needed);
}

/// A word that the kernel marks, as ProcessWatch has them.
struct Entry {
  robust_list link;
  std::atomic<std::uint32_t> word;
};
constexpr std::uint32_t kThread = 7;

/// What the kernel does when the thread ends: how many words it finds.
int walk(RobustList& list) {
  int found = 0;
  const robust_list* const head = &list.head().list;
  const auto follow = [](const robust_list* link) {
    // The kernel's loads depend on one another; an acquiring load stands for that.
    return std::atomic_ref(const_cast<robust_list*>(link)->next).load(std::memory_order_acquire);
  };
  for (const robust_list* link = follow(head); link != head; link = follow(link)) {
    require(link != nullptr, "the list leads back to its head");
    const auto& entry = *reinterpret_cast<const Entry*>(link);
    if (entry.word.load(std::memory_order_relaxed) == kThread) ++found;
  }
  return found;
}

TEST_CASE("words that the kernel marks: it finds a list at any time, and all words that stay") {
  static std::optional<RobustList> list;
  static std::array<Entry, 3> entries;
  const auto setup = [] {
    list.emplace(static_cast<long>(offsetof(Entry, word)));
    for (Entry& entry : entries) new (&entry) Entry{};
    const auto add = [](Entry& entry) {
      entry.word.store(kThread, std::memory_order_relaxed);
      list->push_front(entry.link);
    };
    add(entries[0]);
    const auto change = [add] {
      add(entries[1]);
      add(entries[2]);
      list->remove(entries[1].link);
      entries[1].word.store(0, std::memory_order_relaxed);
    };
    const auto end = [] { require(walk(*list) >= 1, "the first one stays in it"); };
    return Program{{change, end}};
  };
  check_orders(setup,
               {"RobustList::lead: store, release", "process_orders_test::walk: load, acquire"});
}

}  // namespace process_orders_test
}  // namespace hycoll
