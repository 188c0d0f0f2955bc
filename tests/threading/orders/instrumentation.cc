// What -fsanitize=thread calls, and what the linker diverts (--wrap) to here: the accesses of a
// program under test. Outside of executions everything is just done.

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>

#include "tests/threading/orders/execution.h"

namespace hycoll::orders {
namespace {

using Kind = Operation::Kind;

void note_access(const void* address, std::size_t size_bytes, bool is_write,
                 const void* instruction) {
  Execution* const execution = current();
  if (execution == nullptr) return;
  const Aside aside;
  execution->plain_access(address, size_bytes, is_write, instruction);
}

/// Whoever gets memory from an allocator knows what those have done who had it before.
void* allocated(void* memory, std::size_t size_bytes) {
  if (Execution* const execution = current()) {
    const Aside aside;
    execution->forget(memory, size_bytes);
  }
  return memory;
}

template <class Word>
Word load(const volatile Word* address, int order, const void* instruction) {
  Execution* const execution = current();
  if (execution == nullptr) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  const Aside aside;
  Operation operation =
      execution->operation(Kind::load, "load", static_cast<Order>(order), instruction);
  operation.location = &execution->location(const_cast<const Word*>(address), sizeof(Word));
  return static_cast<Word>(execution->perform(operation));
}

template <class Word>
void store(volatile Word* address, Word value, int order, const void* instruction) {
  Execution* const execution = current();
  if (execution == nullptr) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  const Aside aside;
  Operation operation =
      execution->operation(Kind::store, "store", static_cast<Order>(order), instruction);
  operation.location = &execution->location(const_cast<const Word*>(address), sizeof(Word));
  operation.value = value;
  execution->perform(operation);
}

/// `modify`: what is written over a value.
template <class Word, class Modify>
Word modify(volatile Word* address, int order, const char* name, const void* instruction,
            Modify modify) {
  Execution* const execution = current();
  if (execution == nullptr) {
    Word old = __atomic_load_n(address, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(address, &old, modify(old), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return old;
  }
  const Aside aside;
  Operation operation =
      execution->operation(Kind::rmw, name, static_cast<Order>(order), instruction);
  operation.location = &execution->location(const_cast<const Word*>(address), sizeof(Word));
  operation.modify = [modify](std::uint64_t old) {
    return std::optional<std::uint64_t>(modify(static_cast<Word>(old)));
  };
  return static_cast<Word>(execution->perform(operation));
}

template <class Word>
int compare_exchange(volatile Word* address, Word* expected, Word desired, int order,
                     int failure_order, const void* instruction) {
  Execution* const execution = current();
  if (execution == nullptr) {
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  const Aside aside;
  Operation operation =
      execution->operation(Kind::rmw, "compare_exchange", static_cast<Order>(order), instruction);
  operation.location = &execution->location(const_cast<const Word*>(address), sizeof(Word));
  operation.failure_order = static_cast<Order>(failure_order);
  operation.modify = [expected = *expected, desired](std::uint64_t old) {
    return old == expected ? std::optional<std::uint64_t>(desired) : std::nullopt;
  };
  const auto old = static_cast<Word>(execution->perform(operation));
  if (old == *expected) return 1;
  *expected = old;
  return 0;
}

void fence(int order, const void* instruction) {
  Execution* const execution = current();
  if (execution == nullptr) return;
  const Aside aside;
  Operation operation =
      execution->operation(Kind::fence, "fence", static_cast<Order>(order), instruction);
  execution->perform(operation);
}

/// A mutex of the C library's is its first word: 0 or 1.
std::uint32_t* word_of(pthread_mutex_t* mutex) { return reinterpret_cast<std::uint32_t*>(mutex); }

/// Sleeping in the kernel takes no time, and ends only when somebody wakes.
long futex(std::uint32_t* word, int action, std::uint32_t value, const void* instruction) {
  Execution& execution = *current();
  const Aside aside;
  const bool waits = action == FUTEX_WAIT;
  Operation operation =
      execution.operation(waits ? Kind::futex_wait : Kind::futex_wake,
                          waits ? "futex wait" : "futex wake", Order::relaxed, instruction);
  operation.location = &execution.location(word, sizeof(*word));
  operation.value = value;
  execution.perform(operation);
  return 0;
}

}  // namespace
}  // namespace hycoll::orders

// NOLINTBEGIN: names that the compiler and the linker give.
#define HYCOLL_HERE __builtin_return_address(0)

#define HYCOLL_ACCESSES(NAME, SIZE)                                 \
  void __tsan_read##NAME(void* address) {                           \
    hycoll::orders::note_access(address, SIZE, false, HYCOLL_HERE); \
  }                                                                 \
  void __tsan_write##NAME(void* address) {                          \
    hycoll::orders::note_access(address, SIZE, true, HYCOLL_HERE);  \
  }                                                                 \
  void __tsan_unaligned_read##NAME(void* address) {                 \
    hycoll::orders::note_access(address, SIZE, false, HYCOLL_HERE); \
  }                                                                 \
  void __tsan_unaligned_write##NAME(void* address) {                \
    hycoll::orders::note_access(address, SIZE, true, HYCOLL_HERE);  \
  }

#define HYCOLL_MODIFICATION(BITS, NAME, EXPRESSION)                                          \
  std::uint##BITS##_t __tsan_atomic##BITS##_##NAME(volatile std::uint##BITS##_t* address,    \
                                                   std::uint##BITS##_t operand, int order) { \
    return hycoll::orders::modify(address, order, #NAME, HYCOLL_HERE,                        \
                                  [operand]([[maybe_unused]] std::uint##BITS##_t old) {      \
                                    return static_cast<std::uint##BITS##_t>(EXPRESSION);     \
                                  });                                                        \
  }

#define HYCOLL_ATOMICS(BITS)                                                                  \
  std::uint##BITS##_t __tsan_atomic##BITS##_load(const volatile std::uint##BITS##_t* address, \
                                                 int order) {                                 \
    return hycoll::orders::load(address, order, HYCOLL_HERE);                                 \
  }                                                                                           \
  void __tsan_atomic##BITS##_store(volatile std::uint##BITS##_t* address,                     \
                                   std::uint##BITS##_t value, int order) {                    \
    hycoll::orders::store(address, value, order, HYCOLL_HERE);                                \
  }                                                                                           \
  HYCOLL_MODIFICATION(BITS, exchange, operand)                                                \
  HYCOLL_MODIFICATION(BITS, fetch_add, old + operand)                                         \
  HYCOLL_MODIFICATION(BITS, fetch_sub, old - operand)                                         \
  HYCOLL_MODIFICATION(BITS, fetch_and, old& operand)                                          \
  HYCOLL_MODIFICATION(BITS, fetch_or, old | operand)                                          \
  HYCOLL_MODIFICATION(BITS, fetch_xor, old ^ operand)                                         \
  int __tsan_atomic##BITS##_compare_exchange_strong(                                          \
      volatile std::uint##BITS##_t* address, std::uint##BITS##_t* expected,                   \
      std::uint##BITS##_t desired, int order, int failure_order) {                            \
    return hycoll::orders::compare_exchange(address, expected, desired, order, failure_order, \
                                            HYCOLL_HERE);                                     \
  }                                                                                           \
  int __tsan_atomic##BITS##_compare_exchange_weak(                                            \
      volatile std::uint##BITS##_t* address, std::uint##BITS##_t* expected,                   \
      std::uint##BITS##_t desired, int order, int failure_order) {                            \
    return hycoll::orders::compare_exchange(address, expected, desired, order, failure_order, \
                                            HYCOLL_HERE);                                     \
  }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void* caller) {
  if (hycoll::orders::Execution* const execution = hycoll::orders::current()) {
    const hycoll::orders::Aside aside;
    execution->enter_function(caller);
  }
}
void __tsan_func_exit() {
  if (hycoll::orders::Execution* const execution = hycoll::orders::current()) {
    const hycoll::orders::Aside aside;
    execution->leave_function();
  }
}

HYCOLL_ACCESSES(1, 1)
HYCOLL_ACCESSES(2, 2)
HYCOLL_ACCESSES(4, 4)
HYCOLL_ACCESSES(8, 8)
HYCOLL_ACCESSES(16, 16)
void __tsan_read_range(void* address, std::size_t size_bytes) {
  hycoll::orders::note_access(address, size_bytes, false, HYCOLL_HERE);
}
void __tsan_write_range(void* address, std::size_t size_bytes) {
  hycoll::orders::note_access(address, size_bytes, true, HYCOLL_HERE);
}
void __tsan_vptr_update(void** address, void*) {
  hycoll::orders::note_access(address, sizeof(*address), true, HYCOLL_HERE);
}

HYCOLL_ATOMICS(8)
HYCOLL_ATOMICS(16)
HYCOLL_ATOMICS(32)
HYCOLL_ATOMICS(64)
void __tsan_atomic_thread_fence(int order) { hycoll::orders::fence(order, HYCOLL_HERE); }
void __tsan_atomic_signal_fence(int) {}

void* __real_memcpy(void* to, const void* from, std::size_t size_bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t size_bytes) {
  hycoll::orders::note_access(from, size_bytes, false, HYCOLL_HERE);
  hycoll::orders::note_access(to, size_bytes, true, HYCOLL_HERE);
  return __real_memcpy(to, from, size_bytes);
}

void* __real__Znwm(std::size_t size_bytes);
void* __wrap__Znwm(std::size_t size_bytes) {
  return hycoll::orders::allocated(__real__Znwm(size_bytes), size_bytes);
}
void* __real___cxa_allocate_exception(std::size_t size_bytes) noexcept;
void* __wrap___cxa_allocate_exception(std::size_t size_bytes) noexcept {
  return hycoll::orders::allocated(__real___cxa_allocate_exception(size_bytes), size_bytes);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (long& value : values) value = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex && hycoll::orders::current() != nullptr) {
    return hycoll::orders::futex(reinterpret_cast<std::uint32_t*>(values[0]),
                                 static_cast<int>(values[1]) & FUTEX_CMD_MASK,
                                 static_cast<std::uint32_t>(values[2]), HYCOLL_HERE);
  }
  return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) return __real_pthread_mutex_lock(mutex);
  const hycoll::orders::Aside aside;
  execution->lock(hycoll::orders::word_of(mutex), HYCOLL_HERE);
  return 0;
}
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) return __real_pthread_mutex_trylock(mutex);
  const hycoll::orders::Aside aside;
  return execution->try_lock(hycoll::orders::word_of(mutex), HYCOLL_HERE) ? 0 : EBUSY;
}
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) return __real_pthread_mutex_unlock(mutex);
  const hycoll::orders::Aside aside;
  execution->unlock(hycoll::orders::word_of(mutex), HYCOLL_HERE);
  return 0;
}

// std::thread's _M_start_thread(unique_ptr<_State>, void (*)()), and its join().
using State = std::unique_ptr<hycoll::orders::ThreadBody>;
void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* thread, State* state, void (*depends)());
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* thread, State* state, void (*depends)()) {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) {
    return __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
        thread, state, depends);
  }
  const hycoll::orders::Aside aside;
  // What is to be joined has a number.
  *reinterpret_cast<std::thread::native_handle_type*>(thread) = 1;
  execution->start_thread(std::move(*state), HYCOLL_HERE);
}
void __real__ZNSt6thread4joinEv(std::thread* thread);
void __wrap__ZNSt6thread4joinEv(std::thread* thread) {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) return __real__ZNSt6thread4joinEv(thread);
  const hycoll::orders::Aside aside;
  execution->join_thread(HYCOLL_HERE);
  *reinterpret_cast<std::thread::native_handle_type*>(thread) = 0;
}

// std::chrono::steady_clock::now(), whose result is a number of nanoseconds.
std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv() noexcept;
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() noexcept {
  hycoll::orders::Execution* const execution = hycoll::orders::current();
  if (execution == nullptr) return __real__ZNSt6chrono3_V212steady_clock3nowEv();
  const hycoll::orders::Aside aside;
  return execution->time().count();
}

int __real_nanosleep(const timespec* time, timespec* left);
int __wrap_nanosleep(const timespec* time, timespec* left) {
  return hycoll::orders::current() == nullptr ? __real_nanosleep(time, left) : 0;
}

}  // extern "C"
// NOLINTEND
