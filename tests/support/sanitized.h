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

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_SANITIZED_H_
