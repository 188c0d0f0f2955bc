#include "tests/threading/orders/execution.h"

#include <cxxabi.h>
#include <sys/single_threaded.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/threading/orders/names.h"

// The linker's: where the program's objects of static storage duration lie.
extern "C" {
extern std::byte __data_start;
extern std::byte _end;
}

namespace hycoll::orders {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
/// Far more than any of these programs makes.
constexpr std::size_t kMostSteps = 20'000;
/// Nothing lies there: a null pointer, or one with an offset.
constexpr std::uintptr_t kFirstPageBytes = 4096;
/// Who has read one value so often at one place, and written nothing since, reads it there again
/// and again: some loops end after a number of looks. What it could read instead, it could have
/// read before.
constexpr int kLooks = 2;
/// Who does not end after so many more spins: it waits there for another value.
constexpr int kRepeatedLooks = 100;

constinit Execution* executing = nullptr;
constinit Execution* starting = nullptr;  // whose next thread begins
constinit Execution* checking = nullptr;

/// Used again from execution to execution. What lies on the stack of a thread that does not end is
/// forgotten.
using Stack = std::array<std::byte, kStackBytes>;
alignas(64) std::array<Stack, kMaximumThreads> stacks;

/// Exceptions that are being handled belong to the stack that handles them.
void exchange_exceptions(std::array<void*, 2>& leaving, const std::array<void*, 2>& coming) {
  void* const globals = abi::__cxa_get_globals();
  std::memcpy(leaving.data(), globals, sizeof(leaving));
  std::memcpy(globals, coming.data(), sizeof(coming));
}

std::string name_of(Order order) {
  constexpr std::array kNames = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return kNames[static_cast<std::size_t>(order)];
}

}  // namespace

Execution* current() noexcept { return executing; }
Execution* Execution::checked() noexcept { return checking; }
Aside::Aside() noexcept : execution_(std::exchange(executing, nullptr)) {}
Aside::~Aside() { executing = execution_; }

Execution::Execution(const Setup& setup, const Options& options, Choices& choices,
                     Knowledge& knowledge, bool is_traced)
    : options_(options),
      choices_(choices),
      knowledge_(knowledge),
      is_traced_(is_traced),
      program_(setup()),
      threads_(program_.threads.size()) {
  memory_.emplace(threads_.size());
  // Otherwise the C++ library counts without atomic operations.
  __libc_single_threaded = 0;
}

Execution::~Execution() {
  executing = nullptr;
  // Of what lies there no setup may know: the C++ library's counts of who waits for an atomic
  // object.
  memory_->restore_objects(reinterpret_cast<std::uintptr_t>(&__data_start),
                           reinterpret_cast<std::uintptr_t>(&_end));
}

void Knowledge::note(std::size_t thread, const Operation& operation, bool is_ordered) {
  const auto add = [&](unsigned& threads) {
    has_grown |= (threads >> thread & 1) == 0;
    threads |= 1u << thread;
  };
  // Before it is known whether the operation will write: that may depend on who comes first.
  const bool may_write =
      operation.kind == Operation::Kind::store || operation.kind == Operation::Kind::rmw;
  if (may_write) add(writers[operation.location->address]);
  if (is_ordered) add(ordering_threads);
}

// --- Coroutines ---

void Execution::run_thread() {
  Execution& own = *starting;
  executing = &own;
  own.program_.threads[own.running_]();
  executing = nullptr;
  own.running().state = State::finished;
  _longjmp(own.scheduler_, 1);
}

void Execution::resume(std::size_t thread) {
  running_ = thread;
  Thread& resumed = threads_[thread];
  exchange_exceptions(own_exceptions_, resumed.exceptions);
  if (_setjmp(scheduler_) == 0) {
    if (resumed.has_started) _longjmp(resumed.context, 1);
    resumed.has_started = true;
    starting = this;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks[thread].data();
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = nullptr;
    makecontext(&context, &Execution::run_thread, 0);
    setcontext(&context);
  }
  exchange_exceptions(threads_[running_].exceptions, own_exceptions_);
}

void Execution::suspend() {
  if (_setjmp(running().context) == 0) _longjmp(scheduler_, 1);
}

// --- What threads do ---

Location& Execution::location(const void* address, std::size_t size_bytes) {
  return memory_->location(reinterpret_cast<std::uintptr_t>(address), size_bytes);
}

Site Execution::site(const void* instruction) {
  Site site{.instruction = instruction};
  const auto& callers = running().callers;
  if (function_of(instruction).empty() && !callers.empty()) site.caller = callers.back();
  return site;
}

const std::string& Execution::place(const void* instruction) const {
  const std::string* name = &function_of(instruction);
  const auto& callers = threads_[running_].callers;
  for (auto c = callers.rbegin(); name->empty() && c != callers.rend(); ++c)
    name = &function_of(*c);
  return *name;
}

const std::string& Execution::told_place(const void* instruction) const {
  static const std::string kNowhere;
  return is_traced_ ? place(instruction) : kNowhere;
}

Order Execution::order_at(const Site& site, Order order, const char* name) {
  if (order == Order::consume) order = Order::acquire;  // as all compilers do
  if (is_choice_of_the_library(site.instruction)) return order;
  if (order != Order::relaxed && knowledge_.sites.emplace(site, order).second) {
    knowledge_.names[site] = place(site.instruction) + ": " + name + ", " + name_of(order);
  }
  const bool is_weakened = options_.weakening && options_.weakening->site == site;
  return is_weakened ? options_.weakening->order : order;
}

Operation Execution::operation(Operation::Kind kind, const char* name, Order order,
                               const void* instruction) {
  std::size_t hash = reinterpret_cast<std::uintptr_t>(instruction);
  for (const void* caller : running().callers)
    hash = hash * 0x100000001b3u ^ reinterpret_cast<std::uintptr_t>(caller);
  return {.kind = kind,
          .name = name,
          .place = &told_place(instruction),
          .site_hash = hash,
          .order = order_at(site(instruction), order, name)};
}

bool Execution::is_ordered(const Operation& operation) {
  return operation.order == Order::seq_cst || operation.kind == Operation::Kind::futex_wait ||
         operation.kind == Operation::Kind::futex_wake;
}

bool Execution::is_immediate(const Operation& operation) const {
  if (!options_.is_reduced || is_ordered(operation)) return false;
  return operation.kind == Operation::Kind::store || operation.kind == Operation::Kind::fence;
}

std::uint64_t Execution::perform(Operation& operation) {
  if (++steps_ > kMostSteps) fail("the program does not end");
  knowledge_.note(running_, operation, is_ordered(operation));
  const std::optional<int> repeated = repeated_look(operation);
  if (repeated || is_immediate(operation)) {
    execute(running_, operation, repeated.value_or(0));
    if (!failure_.empty()) suspend();
    return operation.result;
  }
  Thread& own = running();
  own.operation = &operation;
  own.state = State::waiting;
  suspend();
  return operation.result;
}

std::optional<int> Execution::repeated_look(const Operation& operation) {
  if (!options_.is_reduced || operation.kind != Operation::Kind::load) return std::nullopt;
  const auto seen = running().seen.find({operation.site_hash, operation.location->address});
  if (seen == running().seen.end() || seen->second.count < kLooks ||
      seen->second.count >= kLooks + kRepeatedLooks) {
    return std::nullopt;
  }
  const int message = seen->second.message;
  const auto messages = memory_->readable(running_, *operation.location, operation.order);
  return std::ranges::find(messages, message) == messages.end() ? std::nullopt
                                                                : std::optional(message);
}

void Execution::plain_access(const void* address, std::size_t size_bytes, bool is_write,
                             const void* instruction) {
  const auto* const begin = static_cast<const std::byte*>(address);
  if (reinterpret_cast<std::uintptr_t>(address) < kFirstPageBytes)
    fail("null pointer in " + place(instruction));
  const Stack& stack = stacks[running_];
  if (begin >= stack.data() && begin < stack.data() + stack.size()) return;
  const std::string race = memory_->access(
      running_, reinterpret_cast<std::uintptr_t>(address), size_bytes,
      is_write ? Memory::Access::plain_write : Memory::Access::plain_read, told_place(instruction));
  if (!race.empty()) fail(race);
  // An atomic object begins anew.
  if (is_write) memory_->forget_objects(reinterpret_cast<std::uintptr_t>(address), size_bytes);
}

void Execution::require(bool holds, const char* what) {
  if (!holds) fail(what);
}

void Execution::fail(const std::string& what) {
  failure_ = what;
  if (checking != this) suspend();
}

void Execution::begin_attempt() {
  Thread& own = running();
  own.is_attempting = true;
  own.reads.clear();
  own.seen.clear();
}

void Execution::end_attempt() {
  Thread& own = running();
  own.is_attempting = false;
  own.seen.clear();
}

void Execution::fail_attempt() {
  running().state = State::failed_attempt;
  suspend();
}

// --- The scheduler ---

std::vector<int> Execution::choices_of(std::size_t thread) const {
  const Thread& its = threads_[thread];
  const Operation& operation = *its.operation;
  // Others' ordered operations have come before this one, which has been postponed for that.
  const bool is_reordered = is_ordered(operation) && ordered_count_ != its.ordered_then;
  switch (operation.kind) {
    case Operation::Kind::store:
    case Operation::Kind::fence:
    case Operation::Kind::futex_wake:
      if (its.is_postponed && !is_reordered) return {};
      return {0};
    case Operation::Kind::load:
    case Operation::Kind::rmw:
    case Operation::Kind::futex_wait:
      break;
  }
  std::vector<int> messages = operation.kind == Operation::Kind::futex_wait
                                  ? memory_->readable_by_kernel(thread, *operation.location)
                                  : memory_->readable(thread, *operation.location, operation.order);
  const auto seen = its.seen.find({operation.site_hash, operation.location->address});
  std::erase_if(messages, [&](int message) {
    if (its.is_postponed && !is_reordered && std::cmp_less(message, its.messages_then)) return true;
    const std::uint64_t value =
        operation.location->messages[static_cast<std::size_t>(message)].value;
    if (seen != its.seen.end() && seen->second.count >= kLooks && seen->second.value == value)
      return true;
    if (operation.kind != Operation::Kind::rmw) return false;
    return operation.modify(value).has_value() ? !memory_->may_follow(*operation.location, message)
                                               : operation.waits;
  });
  return messages;
}

bool Execution::is_locked_out(const Operation& operation) const {
  return operation.waits &&
         std::ranges::none_of(operation.location->modification_order, [&](int message) {
           const auto m = static_cast<std::size_t>(message);
           return operation.modify(operation.location->messages[m].value).has_value() &&
                  memory_->may_follow(*operation.location, message);
         });
}

bool Execution::others_may_matter(std::size_t thread) const {
  const Operation& operation = *threads_[thread].operation;
  unsigned mask = knowledge_.is_assumed   ? ~0u
                  : is_ordered(operation) ? knowledge_.ordering_threads
                                          : 0;
  if (operation.location != nullptr) {
    const auto writers = knowledge_.writers.find(operation.location->address);
    if (writers != knowledge_.writers.end()) mask |= writers->second;
  }
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const State state = threads_[t].state;
    if (t != thread && state != State::finished && state != State::failed_attempt &&
        (mask >> t & 1) != 0) {
      return true;
    }
  }
  return false;
}

bool Execution::is_stale(std::size_t thread) const {
  return std::ranges::any_of(threads_[thread].reads, [thread](const Read& read) {
    const auto& order = read.location->modification_order;
    const std::size_t position = read.location->positions[static_cast<std::size_t>(read.message)];
    return std::any_of(order.begin() + static_cast<std::ptrdiff_t>(position) + 1, order.end(),
                       [&](int later) {
                         return read.location->messages[static_cast<std::size_t>(later)].thread !=
                                static_cast<int>(thread);
                       });
  });
}

bool Execution::is_hopeless(std::size_t thread) const {
  const Thread& its = threads_[thread];
  // What it should have read instead is another execution.
  if (its.state == State::failed_attempt) return is_stale(thread);
  return its.state == State::waiting && its.is_postponed && choices_of(thread).empty() &&
         !is_locked_out(*its.operation) && !others_may_matter(thread);
}

Execution::End Execution::run() {
  for (std::size_t t = 0; t < threads_.size() && failure_.empty(); ++t) resume(t);
  while (failure_.empty()) {
    std::vector<std::size_t> candidates;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (is_hopeless(t)) return End::abandoned;
      if (threads_[t].state == State::waiting && !choices_of(t).empty()) candidates.push_back(t);
    }
    if (candidates.empty()) return end_without_candidates();
    const std::size_t thread =
        options_.is_reduced ? candidates.front() : candidates[choices_.choose(candidates.size())];
    Thread& its = threads_[thread];
    const std::vector<int> messages = choices_of(thread);
    const bool may_postpone =
        options_.is_reduced && candidates.size() > 1 && others_may_matter(thread);
    const std::size_t choice = choices_.choose(messages.size() + (may_postpone ? 1 : 0));
    if (choice == messages.size()) {
      its.is_postponed = true;
      its.ordered_then = ordered_count_;
      if (its.operation->location != nullptr)
        its.messages_then = its.operation->location->messages.size();
      continue;
    }
    its.is_postponed = false;
    its.state = State::ready;
    execute(thread, *its.operation, messages[choice]);
    if (failure_.empty() && its.state == State::ready) resume(thread);
  }
  return End::failed;
}

Execution::End Execution::end_without_candidates() {
  std::string waiting;
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const Thread& its = threads_[t];
    if (its.state == State::finished) continue;
    if (its.state == State::waiting && its.is_postponed && !is_locked_out(*its.operation))
      return End::abandoned;
    waiting += (waiting.empty() ? "" : ", ") + std::to_string(t);
  }
  if (!waiting.empty()) {
    failure_ = "waits for ever: thread " + waiting;
    return End::failed;
  }
  if (program_.afterwards) {
    checking = this;
    program_.afterwards();
    checking = nullptr;
  }
  return failure_.empty() ? End::complete : End::failed;
}

void Execution::check_access(std::size_t thread, const Operation& operation, bool is_write) {
  const std::string race = memory_->access(
      thread, operation.location->address, operation.location->size_bytes,
      is_write ? Memory::Access::atomic_write : Memory::Access::atomic_read, *operation.place);
  if (!race.empty() && failure_.empty()) failure_ = race;
}

void Execution::note_read(Thread& thread, const Operation& operation, int message,
                          bool has_changed) {
  if (thread.is_attempting) thread.reads.push_back({operation.location, message});
  if (has_changed) return thread.seen.clear();
  const std::uint64_t value = operation.location->messages[static_cast<std::size_t>(message)].value;
  Seen& seen = thread.seen[{operation.site_hash, operation.location->address}];
  const bool is_the_same = seen.count > 0 && seen.value == value;
  seen = {.value = value, .message = message, .count = is_the_same ? seen.count + 1 : 1};
}

void Execution::execute_store(std::size_t thread, Operation& operation) {
  check_access(thread, operation, true);
  const auto positions = memory_->writable(thread, *operation.location, operation.order);
  const std::size_t choice = positions.size() > 1 ? choices_.choose(positions.size()) : 0;
  memory_->write(thread, *operation.location, positions[choice], operation.value, operation.order);
  threads_[thread].seen.clear();
}

void Execution::execute_read(std::size_t thread, Operation& operation, int message) {
  Location& location = *operation.location;
  operation.result = location.messages[static_cast<std::size_t>(message)].value;
  std::optional<std::uint64_t> written;
  if (operation.kind == Operation::Kind::rmw) written = operation.modify(operation.result);
  check_access(thread, operation, written.has_value());
  note_read(threads_[thread], operation, message, written && *written != operation.result);
  if (written) {
    memory_->read_and_write(thread, location, message, *written, operation.order);
  } else {
    const bool is_failed_exchange = operation.kind == Operation::Kind::rmw;
    memory_->read(thread, location, message,
                  is_failed_exchange ? operation.failure_order : operation.order);
  }
}

void Execution::execute(std::size_t thread, Operation& operation, int message) {
  if (is_ordered(operation)) ++ordered_count_;
  switch (operation.kind) {
    case Operation::Kind::store:
      execute_store(thread, operation);
      break;
    case Operation::Kind::load:
    case Operation::Kind::rmw:
      execute_read(thread, operation, message);
      break;
    case Operation::Kind::fence:
      memory_->fence(thread, operation.order);
      break;
    case Operation::Kind::futex_wait:
      memory_->fence(thread, Order::seq_cst);
      memory_->synchronise_with_kernel(thread);
      execute_read(thread, operation, message);
      if (operation.result == operation.value) threads_[thread].state = State::asleep_in_kernel;
      break;
    case Operation::Kind::futex_wake:
      memory_->fence(thread, Order::seq_cst);
      memory_->synchronise_with_kernel(thread);
      for (Thread& other : threads_) {
        if (other.state != State::asleep_in_kernel ||
            other.operation->location != operation.location) {
          continue;
        }
        // It goes on where it waits for the scheduler next: nothing that it reads is missed.
        other.state = State::waiting;
        other.operation->kind = Operation::Kind::fence;
        other.operation->order = Order::relaxed;
        other.operation->location = nullptr;
      }
      break;
  }
  if (is_traced_) tell(thread, operation);
}

void Execution::tell(std::size_t thread, const Operation& operation) {
  std::string line = "thread " + std::to_string(thread) + ": " + *operation.place + ": " +
                     operation.name + ", " + name_of(operation.order);
  if (operation.location != nullptr) {
    line += ", object " + std::to_string(operation.location->index) + ":";
    if (operation.kind != Operation::Kind::store)
      line += " reads " + std::to_string(operation.result);
    for (const int message : operation.location->modification_order) {
      line += (message == 0 ? " [" : " ") +
              std::to_string(operation.location->messages[static_cast<std::size_t>(message)].value);
    }
    line += "]";
  }
  trace_ += line + "\n";
}

}  // namespace hycoll::orders
