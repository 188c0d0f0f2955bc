#include "collectives/plans/plan_cache.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/collective_traits.h"

namespace hycoll {
namespace {

std::size_t memory_of(const SlicedPrograms& sliced) noexcept {
  std::size_t bytes = sliced.programs.capacity() * sizeof(std::vector<Program>);
  for (const std::vector<Program>& programs : sliced.programs) bytes += memory_bytes(programs);
  return bytes;
}

/// The call has not begun: the member may try again, as after any std::bad_alloc.
class NoMemoryForPlan final : public std::bad_alloc {
 public:
  const char* what() const noexcept override {
    return "there is no memory for a call's plan; choose another algorithm or fewer lanes";
  }
};

}  // namespace

void Plan::count_memory(const std::shared_ptr<PlanAccount>& account) {
  std::size_t bytes =
      sizeof(Plan) + block_counts.capacity() * sizeof(std::size_t) + memory_bytes(programs);
  if (crossing) {
    bytes += memory_of(crossing->staged);
    if (crossing->direct) bytes += memory_of(*crossing->direct);
  }
  memory_.set(account, bytes);
}

PlanCache::PlanCache(Options options)
    : options_(std::move(options)),
      inside_(options_.near.empty() ? nullptr
                                    : std::make_unique<const InsideCosts>(
                                          options_.nodes, options_.near, options_.transfer_times)),
      selection_{.nodes = options_.nodes,
                 .requested_lanes = options_.requested_lanes,
                 .requested_algorithm = options_.requested_algorithm,
                 .aggregators = options_.aggregators,
                 .sockets = options_.sockets,
                 .visibility =
                     options_.peers == Peers::processes ? Visibility::staged : Visibility::direct,
                 .nearness = options_.nearness,
                 .streaming_threshold_bytes = options_.streaming_threshold_bytes,
                 .inside = inside_.get(),
                 .exchange_limit_bytes = options_.exchange_limit_bytes,
                 .prices = options_.prices,
                 .tuning = options_.tuning.get()},
      account_(std::make_shared<PlanAccount>(options_.limit_bytes)) {
  check_requested_algorithm(options_.requested_algorithm);
  int node_count = 0;
  for (const auto& [node, count] : options_.nodes) {
    member_count_ += count * node.members;
    node_count += count;
  }
  may_reach_ =
      options_.peers == Peers::processes && node_count == 1 && options_.processes.is_one_each();
}

std::size_t PlanCache::size_bytes_of(const PlanQuery& query) const {
  if (query.has_unequal_pairs) {
    // Alike on all members, who know only their own blocks.
    constexpr std::size_t kTypicalBlockBytes = 4096;
    return kTypicalBlockBytes * static_cast<std::size_t>(member_count_);
  }
  std::size_t elements = query.extent.count;
  if (has_blocks(query.collective)) {
    const auto& blocks = query.extent.block_counts;
    elements = blocks.empty() ? elements * static_cast<std::size_t>(member_count_)
                              : std::accumulate(blocks.begin(), blocks.end(), std::size_t{0});
  }
  return elements * query.element_bytes;
}

SelectedPlan PlanCache::select(const PlanQuery& query) const {
  SelectionQuery selection = selection_;
  return key_of(query, size_bytes_of(query), selection).selected;
}

PlanKey PlanCache::key_of(const PlanQuery& query, std::size_t size_bytes,
                          SelectionQuery& selection) const {
  selection.collective = query.collective;
  selection.size_bytes = size_bytes;
  selection.order = query.order;
  selection.native = query.native;
  selection.has_unequal_pairs = query.has_unequal_pairs;
  selection.root = query.root;
  PlanKey key{.collective = query.collective,
              .root = query.root,
              .selected = hycoll::select(selection),
              .reaching = {},
              .has_unequal_pairs = query.has_unequal_pairs};
  if (may_reach_ && may_reach_buffers(query, size_bytes)) {
    selection.visibility = Visibility::direct;
    key.reaching = hycoll::select(selection);
    selection.visibility = selection_.visibility;
  }
  return key;
}

bool PlanCache::may_reach_buffers(const PlanQuery& query, std::size_t size_bytes) const noexcept {
  const SingleCopies& copies = options_.single_copies;
  // How long the vector is the members find out when they meet.
  if (query.has_unequal_pairs) return copies.may_copy(query.collective);
  return options_.shares_heaps || copies.of(query.collective, size_bytes) != KernelCopies::never;
}

std::shared_ptr<const PlanClass> PlanCache::find_class(const PlanKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    add_to_plan_statistics({.found = 1});
    return found->second->plans;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::size_t known = entries_.size();
  try {
    const Entry& entry = make_entry(key);
    const bool is_new = entries_.size() > known;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    add_to_plan_statistics(
        {.made = is_new ? 1u : 0u, .found = is_new ? 0u : 1u, .seconds = time.count()});
    return entry.plans;
  } catch (const std::bad_alloc&) {
    throw NoMemoryForPlan();
  }
}

/// What throws leaves nothing behind.
const PlanCache::Entry& PlanCache::make_entry(const PlanKey& key) {
  std::optional<AbridgedPart> own;
  const PlanParts asked_for(options_, key, account_->limit_bytes());
  CommonNeeds common = asked_for.common_needs(own);
  const PlanKey own_key = asked_for.own_key();
  const auto [first, last] = by_own_key_.equal_range(own_key);
  const auto same = std::find_if(first, last, [&](const ByOwnKey::value_type& alike) {
    return alike.second->plans->common() == common;
  });
  if (same != last) return share_entry(key, same->second);
  const PlanParts parts(options_, own_key, account_->limit_bytes());
  return add_entry(key,
                   std::make_shared<const PlanClass>(parts, std::move(common), std::move(own)));
}

const PlanCache::Entry& PlanCache::add_entry(const PlanKey& key,
                                             std::shared_ptr<const PlanClass> plans) {
  Entries added;
  added.push_back(
      {.plans = std::move(plans), .memory = std::make_unique<PlanAccount::Entry>(), .keys = {key}});
  const auto of_own_key = by_own_key_.emplace(added.front().plans->key(), added.begin());
  try {
    by_key_.emplace(key, added.begin());
  } catch (...) {
    by_own_key_.erase(of_own_key);
    throw;
  }
  entries_.splice(entries_.begin(), added);
  count(entries_.front());
  return entries_.front();
}

const PlanCache::Entry& PlanCache::share_entry(const PlanKey& key, Entries::iterator entry) {
  entry->keys.push_back(key);
  try {
    by_key_.emplace(key, entry);
  } catch (...) {
    entry->keys.pop_back();
    throw;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  count(*entry);
  return *entry;
}

void PlanCache::count(const Entry& entry) {
  // In a node of a table, too.
  constexpr std::size_t kKeyBytes = 2 * sizeof(PlanKey) + 4 * sizeof(void*);
  entry.memory->set(account_, entry.plans->size_bytes() + entry.keys.size() * kKeyBytes);
}

PlanCache::ByOwnKey::iterator PlanCache::find_entry(const PlanClass& plans) {
  const auto [first, last] = by_own_key_.equal_range(plans.key());
  const auto found = std::find_if(first, last, [&](const ByOwnKey::value_type& alike) {
    return alike.second->plans.get() == &plans;
  });
  return found == last ? by_own_key_.end() : found;
}

void PlanCache::recount(const PlanClass& plans) {
  const std::lock_guard lock(mutex_);
  const auto found = find_entry(plans);
  if (found != by_own_key_.end()) count(*found->second);
}

void PlanCache::relieve(const PlanClass& in_use) {
  if (!account_->is_exceeded()) return;
  const std::lock_guard lock(mutex_);
  // Not for every new class again.
  const std::size_t enough_bytes = account_->limit_bytes() / 16 * 15;
  PlanStatistics given_up;
  while (account_->held_bytes() > enough_bytes && entries_.size() > 1) {
    const auto last = std::prev(entries_.end());
    if (last->plans.get() == &in_use || last->plans->take_use()) {
      // Whoever has a plan of it uses it without asking here.
      entries_.splice(entries_.begin(), entries_, last);
      continue;
    }
    for (const PlanKey& key : last->keys) by_key_.erase(key);
    by_own_key_.erase(find_entry(*last->plans));
    entries_.erase(last);
    ++given_up.evicted;
  }
  if (given_up.evicted == 0) return;
  add_to_plan_statistics(given_up);
  evictions_.fetch_add(1, std::memory_order_relaxed);
}

PlanPointer PlanCache::find(const PlanQuery& query) {
  const std::size_t size_bytes = size_bytes_of(query);
  SelectionQuery selection = selection_;
  const std::shared_ptr<const PlanClass> plans = find_class(key_of(query, size_bytes, selection));
  auto plan = std::make_unique<Plan>();
  BindingMemory memory;
  plans->bind(query, size_bytes, {}, memory, *plan);
  recount(*plans);
  plan->count_memory(account_);
  relieve(*plans);
  return PlanPointer(plan.release());
}

RecentPlans::~RecentPlans() { add_to_plan_statistics({.found = found_}); }

const Plan& RecentPlans::find_other(const PlanQuery& query) {
  Slot& slot = slots_[PlanCache::hash(query) % kSlots];
  slot.last_use = ++uses_;
  if (slot.plan != nullptr && slot.plan->serves(query)) {
    count_found();
    if (classes_[slot.class_index].plans.get() == slot.plans) slot.plans->note_use();
    last_ = slot.plan.get();
    return *last_;
  }
  const std::size_t size_bytes = cache_.size_bytes_of(query);
  slot.class_index = find_class(cache_.key_of(query, size_bytes, selection_));
  const PlanClass& plans = *classes_[slot.class_index].plans;
  // What throws leaves no plan behind.
  last_ = nullptr;
  PlanPointer held = std::exchange(slot.plan, {});
  if (held != nullptr && held.get_if_alone() == nullptr) exchange_for_free(held, slot);
  Plan* plan = held.get_if_alone();
  if (plan == nullptr) {
    plan = new Plan;
    held = PlanPointer(plan);
  }
  const std::size_t class_bytes = plans.size_bytes();
  plans.bind(query, size_bytes, workers_, memory_, *plan);
  if (plans.size_bytes() != class_bytes) cache_.recount(plans);
  plan->count_memory(cache_.account());
  slot.plan = std::move(held);
  slot.plans = &plans;
  last_ = plan;
  if (cache_.account()->is_exceeded()) relieve(slot, plans);
  return *last_;
}

void RecentPlans::exchange_for_free(PlanPointer& held, const Slot& slot) {
  const auto home = static_cast<std::size_t>(&slot - slots_.data());
  for (std::size_t probe = 1; probe <= kProbes; ++probe) {
    Slot& other = slots_[(home + probe) % kSlots];
    if (other.plan.get_if_alone() == nullptr) continue;
    std::swap(other.plan, held);
    return;
  }
}

std::size_t RecentPlans::find_class(const PlanKey& key) {
  const std::uint64_t evictions = cache_.evictions();
  if (evictions != evictions_seen_) {
    evictions_seen_ = evictions;
    classes_ = {};
  }
  const std::size_t index = place_of(key);
  KnownClass& known = classes_[index];
  if (known.plans != nullptr && known.key == key) {
    count_found();
    known.plans->note_use();
  } else {
    known = {.key = key, .plans = cache_.find_class(key)};
  }
  return index;
}

std::size_t RecentPlans::place_of(const PlanKey& key) const noexcept {
  const std::size_t home = std::hash<PlanKey>{}(key);
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t place = (home + probe) % kClasses;
    const KnownClass& known = classes_[place];
    // Classes leave all at once only: behind a place that is free there is none.
    if (known.plans == nullptr || known.key == key) return place;
  }
  return home % kClasses;
}

void RecentPlans::relieve(const Slot& in_use, const PlanClass& plans) {
  PlanStatistics given_up;
  while (cache_.account()->is_exceeded()) {
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.plan == nullptr || &slot == &in_use) continue;
      if (oldest == nullptr || slot.last_use < oldest->last_use) oldest = &slot;
    }
    if (oldest == nullptr) break;
    oldest->plan = {};
    ++given_up.evicted;
  }
  if (given_up.evicted > 0) {
    add_to_plan_statistics(given_up);
    has_evicted_ = true;
  }
  if (cache_.account()->is_exceeded()) cache_.relieve(plans);
}

void RecentPlans::count_found() noexcept {
  constexpr std::uint64_t kTogether = 1024;
  if (++found_ < kTogether) return;
  add_to_plan_statistics({.found = std::exchange(found_, 0)});
}

}  // namespace hycoll
