// SPDX-License-Identifier: Apache-2.0
// Other processes beside the run, as a machine shared with other programs has them: busy all the
// time, or now and then.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::bench {

// A light neighbour's slice is 1 to 3 ms, its sleep 100 to 300: 1 % of a CPU.
constexpr std::uint64_t least_slice_us = 1000, most_slice_us = 3000;
constexpr std::uint64_t sleeps_a_slice = 100;

struct neighbour_plan {
  // The CPUs that have neighbours.
  std::vector<int> cpus;
  // The number of processes on each of these CPUs.
  unsigned each = 1;
  // A light process takes a slice of 1 to 3 ms now and then, about 1 % of the CPU; another is
  // always busy.
  bool light = false;
  // Each process has a session of its own (setsid): with autogroups, a scheduling group.
  bool own_session = false;
  // A busy process gives its CPU up by itself if stop() does not come for so long.
  double longest_burst_ns = 60e9;
  // The file cgroup.procs of the group that they belong to, or empty: the parent's group.
  std::string outside;
};

// One child process for each neighbour that is asked for; asleep except between start() and stop().
// Bounded: a child ends with its parent, at its alarm, and stops spinning by itself when stop()
// does not come.
class neighbours {
 public:
  neighbours();
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  // Makes sure that there is a living child for each of these and chooses them for start(). Throws
  // std::system_error.
  void select(const neighbour_plan& plan);
  void start();
  void stop();
  // The latest time at which a chosen neighbour gave up its CPU after stop(), in ticks; 0: one has
  // not yet.
  std::uint64_t stopped_at() const;
  // Ends all children; select() makes new ones.
  void dismiss();
  // Whether the chosen neighbours got processor time since start(): each of the busy ones, and
  // until stop(); any of the light ones.
  bool ran() const;
  // Processes of all neighbours that there are now.
  std::vector<pid_t> processes() const;

 private:
  // What parent and child both see.
  struct shared;
  struct child {
    int cpu;
    // Its number among those on its CPU.
    unsigned index;
    bool light;
    bool own_session;
    double longest_burst_ns;
    pid_t pid;
    shared* page;
    bool chosen;
    std::uint64_t work_at_start;
    // Between start() and stop().
    bool started;
    // It gave up by itself before stop() came.
    bool ended_early;
  };
  child& child_for(const neighbour_plan& plan, int cpu, unsigned index);

  std::vector<child> children_;
};

}  // namespace tutti::bench
