#ifndef HYCOLL_TESTS_SUPPORT_FORBIDDEN_COPIES_H_
#define HYCOLL_TESTS_SUPPORT_FORBIDDEN_COPIES_H_

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace hycoll::tests {

/// From now on the kernel refuses this process the call, as in many containers.
inline void forbid_process_vm_readv() {
  std::array<sock_filter, 4> program{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_process_vm_readv},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_FORBIDDEN_COPIES_H_
