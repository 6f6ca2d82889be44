// SPDX-License-Identifier: Apache-2.0
// Children that end with the process that has made them, however it ends.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace tutti::cli {

// A child calls it behind fork(), with the number of the process that has made it: the kernel sends
// the child `with` when that process ends. If it has ended already, the child ends here.
inline void end_with_parent(pid_t parent, int with = SIGKILL) noexcept {
  prctl(PR_SET_PDEATHSIG, with);
  if (getppid() != parent) _exit(1);
}

}  // namespace tutti::cli
