// SPDX-License-Identifier: Apache-2.0
// The processes of this node, and whether they are still alive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/platform/processes.hpp"

namespace tutti::mpi {

// Identifies where a process runs: all processes that see each other's process ids get the same
// number.
std::uint64_t this_node();

class neighbours {
 public:
  neighbours() = default;
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  // Does nothing if the kernel has no descriptors of processes; then only a deadline reveals a
  // death.
  void watch(std::uint32_t process, int pid);
  // A process that has ended, unless `may_end` knows that it has left. Returns nothing if there is
  // none.
  template <class MayEnd>
  std::optional<std::uint32_t> dead(MayEnd may_end) const {
    for (const watched& one : all_)
      if (!may_end(one.process) && platform::has_ended(one.descriptor)) return one.process;
    return std::nullopt;
  }
  int pid_of(std::uint32_t process) const;

 private:
  struct watched {
    std::uint32_t process;
    int pid;
    int descriptor;
  };
  std::vector<watched> all_;
};

}  // namespace tutti::mpi
