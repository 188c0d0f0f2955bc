// What libraries do for a program: mutexes, and a thread that it starts.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/threading/orders/execution.h"

namespace hycoll::orders {
namespace {

/// Of the thread that a program starts: 1 when it has started, or has ended; 2 when that is known.
std::uint32_t has_started = 0;
std::uint32_t has_ended = 0;

}  // namespace

Operation Execution::library_operation(Operation::Kind kind, const char* name, Order order,
                                       const void* instruction) {
  return {.kind = kind,
          .name = name,
          .place = &told_place(instruction),
          .site_hash = reinterpret_cast<std::uintptr_t>(instruction),
          .order = order};
}

void Execution::wait_for(std::uint32_t* word, std::uint64_t before, std::uint64_t after,
                         const char* name, const void* instruction) {
  Operation operation = library_operation(Operation::Kind::rmw, name, Order::acquire, instruction);
  operation.location = &location(word, sizeof(*word));
  operation.waits = true;
  operation.modify = [=](std::uint64_t old) {
    return old == before ? std::optional(after) : std::nullopt;
  };
  perform(operation);
}

void Execution::set(std::uint32_t* word, std::uint64_t value, const char* name,
                    const void* instruction) {
  Operation operation =
      library_operation(Operation::Kind::store, name, Order::release, instruction);
  operation.location = &location(word, sizeof(*word));
  operation.value = value;
  perform(operation);
}

void Execution::lock(std::uint32_t* mutex, const void* instruction) {
  wait_for(mutex, 0, 1, "lock", instruction);
}

bool Execution::try_lock(std::uint32_t* mutex, const void* instruction) {
  Operation operation =
      library_operation(Operation::Kind::rmw, "try_lock", Order::acquire, instruction);
  operation.location = &location(mutex, sizeof(*mutex));
  operation.modify = [](std::uint64_t old) {
    return old == 0 ? std::optional<std::uint64_t>(1) : std::nullopt;
  };
  return perform(operation) == 0;
}

void Execution::unlock(std::uint32_t* mutex, const void* instruction) {
  set(mutex, 0, "unlock", instruction);
}

void Execution::start_thread(std::unique_ptr<ThreadBody> thread, const void* instruction) {
  if (started_ != nullptr) throw std::logic_error("a program starts two threads");
  started_ = std::move(thread);
  set(&has_started, 1, "start a thread", instruction);
}

void Execution::run_started_thread(const void* instruction) {
  {
    const Aside aside;
    wait_for(&has_started, 1, 2, "begin", instruction);
  }
  started_->run();
  const Aside aside;
  set(&has_ended, 1, "end", instruction);
}

void Execution::join_thread(const void* instruction) {
  wait_for(&has_ended, 1, 2, "join", instruction);
}

}  // namespace hycoll::orders
