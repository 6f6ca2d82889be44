// SPDX-License-Identifier: Apache-2.0
// The processes of this node, and whether they still live.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/platform/processes.hpp"

namespace tutti::mpi {

// Where a process runs: the same number on all processes that see each other's process ids.
std::uint64_t this_node();

class neighbours {
 public:
  neighbours() = default;
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  // Does nothing where the kernel has no descriptors of processes: then a deadline has to tell.
  void watch(std::uint32_t process, int pid);
  // A process that has ended, if there is one of which `may_end` does not know that it has left.
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
