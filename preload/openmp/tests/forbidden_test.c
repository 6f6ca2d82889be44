// SPDX-License-Identifier: Apache-2.0
// Regions in a process that may not choose its CPUs, as in some sandboxes.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/openmp/tests/check.h"

static int forbid_to_choose_cpus(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int ranks_of(int threads) {
  int ranks = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ranks)
  ranks += omp_get_thread_num() + 1;
  return ranks;
}

int main(void) {
  if (!forbid_to_choose_cpus()) {
    puts("skipped: the kernel has no seccomp filters");
    return 0;
  }
  // More threads than CPUs are bound, and fewer are not.
  for (int threads = 1; threads <= 12; ++threads)
    CHECK(ranks_of(threads) == threads * (threads + 1) / 2);
  CHECK(ranks_of(2) == 3);
  return 0;
}
