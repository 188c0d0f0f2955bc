#ifndef HYCOLL_CORE_BASE_LIFETIME_H_
#define HYCOLL_CORE_BASE_LIFETIME_H_

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

// Static and thread-local objects that are there as long as anything may be called. Programs call
// MPI, and end it, in functions that run at a process's end: those of atexit(), destructors of
// static objects, tools. C++ destroys the main thread's thread-local objects and many static ones
// before these run, so this project has none with a destructor: decision 83. Tests look for such
// ones in all objects of the preloaded libraries (tools/build/exit_destructors.bzl).

namespace hycoll {

/// A static object that is never destroyed:
///
///   static Immortal<std::map<int, int>> codes;
///   static const Immortal table([] { return make_table(); });
///
/// What it owns at the process's end the system takes back. Used as T is; made as any static object
/// is: by the first thread that gets there, once more if that throws.
template <class T>
class Immortal {
 public:
  Immortal() { ::new (static_cast<void*>(memory_)) T; }

  /// Of what make() returns, which need not be movable.
  template <class Make>
  requires std::is_invocable_v<const Make&>
  explicit Immortal(const Make& make) { ::new (static_cast<void*>(memory_)) T(make()); }

  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T& operator*() noexcept { return *object(); }
  const T& operator*() const noexcept { return *object(); }
  T* operator->() noexcept { return object(); }
  const T* operator->() const noexcept { return object(); }

 private:
  T* object() noexcept { return std::launder(reinterpret_cast<T*>(memory_)); }
  const T* object() const noexcept { return std::launder(reinterpret_cast<const T*>(memory_)); }

  alignas(T) std::byte memory_[sizeof(T)];
};

template <class Make>
explicit Immortal(const Make& make) -> Immortal<std::invoke_result_t<const Make&>>;

namespace internal {

template <class T>
struct OfThread {
  static inline constinit thread_local T* own = nullptr;

  /// Threads that end before the process run this; the one that ends the process does not, unlike
  /// what C++ would do.
  static void end(void* object) {
    own = nullptr;
    delete static_cast<T*>(object);
  }

  static T& make() {
    static const pthread_key_t key = [] {
      pthread_key_t made{};
      if (pthread_key_create(&made, &end) != 0) throw std::bad_alloc();
      return made;
    }();
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
    own = made.release();
    return *own;
  }
};

}  // namespace internal

/// The calling thread's own T, which the thread's first call makes. It is destroyed when the thread
/// ends, but lasts to the process's end on the thread that ends that. Throws std::bad_alloc.
template <class T>
T& of_this_thread() {
  T* const own = internal::OfThread<T>::own;
  return own != nullptr ? *own : internal::OfThread<T>::make();
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_LIFETIME_H_
