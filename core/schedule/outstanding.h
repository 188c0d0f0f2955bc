#ifndef HYCOLL_CORE_SCHEDULE_OUTSTANDING_H_
#define HYCOLL_CORE_SCHEDULE_OUTSTANDING_H_

#include <cstddef>
#include <vector>

namespace hycoll {

/// Neighbouring chunks of some memory, which a step reads or writes.
struct MemoryAccess {
  int memory;  ///< A number that buffers have in common which may be the same memory.
  int first_chunk;
  int chunk_count;
  bool writes;
};

/// The asynchronous steps of a strand that may be under way, and where they work. As few as most
/// strands have are looked through; many are found by the memory and chunk where they begin, unless
/// none of them works in that memory.
class OutstandingSteps {
 public:
  bool empty() const noexcept { return entries_.empty(); }

  /// Notes where a step works, which comes behind all those that are noted.
  void add(int step, const MemoryAccess& access);

  /// Adds the steps to `steps` of which some access touches the same chunks as this one, where one
  /// of both writes them: perhaps several times, in any order.
  void find_conflicts(const MemoryAccess& access, std::vector<int>& steps) const;

  /// Forgets a step that is under way no more, and where this is one of its accesses.
  void drop(int step, const MemoryAccess& access);

  /// Adds all steps to `steps`, in any order, and forgets them.
  void take_all(std::vector<int>& steps);

 private:
  struct Entry {
    MemoryAccess access;
    int step;
    int next;  ///< In the list of its place; none while there are few.
  };

  /// More are found by their places.
  static constexpr std::size_t kFew = 32;
  static constexpr int kNone = -1;

  bool is_indexed() const noexcept { return !heads_.empty(); }
  /// How many accesses there are to some memory.
  int& count_of(int memory);
  bool is_in_use(int memory) const noexcept;
  int& head_of(int memory, int chunk);
  int head_of(int memory, int chunk) const;
  std::size_t place_of(int memory, int chunk) const noexcept;
  void index_all();
  void link(std::size_t at);
  /// The link of its list that says where an entry is.
  int& link_to(std::size_t at);
  void remove(std::size_t at);

  std::vector<Entry> entries_;
  std::vector<int> heads_;   // by place, a power of two of them
  std::vector<int> counts_;  // by memory, as far as there have been accesses
  int longest_ = 0;          // chunks of an access
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_OUTSTANDING_H_
