#ifndef HYCOLL_TESTS_SUPPORT_SANITIZED_H_
#define HYCOLL_TESTS_SUPPORT_SANITIZED_H_

namespace hycoll::tests {

/// Whether a sanitizer looks on. It looks at the code, and everything takes ten times as long:
/// sweeps over shapes that pass through the same code are shorter then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// Which runs of a sweep to make: all of them, or every fifth where a sanitizer looks on. Sweeps
/// whose runs differ in several things ask once for each run, so that each thing occurs with most
/// others.
class Sample {
 public:
  bool takes_next() { return !kIsSanitized || ++asked_ % 5 == 0; }

 private:
  unsigned asked_ = 0;
};

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_SANITIZED_H_
