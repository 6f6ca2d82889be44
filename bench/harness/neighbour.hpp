// SPDX-License-Identifier: Apache-2.0
// Busy processes beside the run, as a machine shared with other programs has them.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tutti::bench {

// One child process for each CPU that is asked for; asleep except between start() and stop(). Bounded: a child
// ends with its parent, at its alarm, and stops spinning by itself when stop() does not come.
class neighbours {
 public:
  neighbours();
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  // Makes sure that there is a living child for each of these CPUs and chooses them for start().
  void select(const std::vector<int>& cpus);
  void start();
  void stop();
  // Ends all children; select() makes new ones.
  void dismiss();
  // Whether each chosen neighbour got processor time since start().
  bool all_ran() const;

 private:
  struct shared;  // what parent and child both see
  struct child {
    int cpu;
    pid_t pid;
    shared* page;
    bool chosen;
    std::uint64_t work_at_start;
  };
  child& child_on(int cpu);

  std::vector<child> children_;
};

}  // namespace tutti::bench
