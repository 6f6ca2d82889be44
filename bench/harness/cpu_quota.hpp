// SPDX-License-Identifier: Apache-2.0
// A cgroup of the run's own with a quota of processor time, as containers have one: made for some
// rounds, gone afterwards, however the program ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tutti::bench {

// Where groups of the cpu controller can be made, out of /proc/self/mountinfo and
// /proc/self/cgroup.
struct cpu_controller {
  // Whether it is of version 2.
  bool unified = false;
  // The folder of this process's group.
  std::string folder;
};
std::optional<cpu_controller> find_cpu_controller(const std::string& mountinfo,
                                                  const std::string& cgroup);

class cpu_quota {
 public:
  // Makes the group. Throws std::runtime_error that says why there can be none.
  explicit cpu_quota(double cpus);
  // Takes everybody out and removes it.
  ~cpu_quota();
  cpu_quota(const cpu_quota&) = delete;
  cpu_quota& operator=(const cpu_quota&) = delete;

  // Puts a process with all its threads into the group, or back; with its family, those that it has
  // started too. Whoever enters has a whole quota: what others used up of this period before does
  // not count. Takes some milliseconds. Throw std::runtime_error.
  enum class members { process, family };
  void enter(pid_t process, members who) const;
  void leave(pid_t process, members who) const { move(process, who, outside_); }
  // cgroup.procs of the group that processes are put back into.
  const std::string& outside() const { return outside_; }
  const std::string& folder() const { return folder_; }

 private:
  void set() const;
  void move(pid_t process, members who, const std::string& target) const;

  bool unified_ = false;
  double cpus_;
  std::string folder_;
  std::string outside_;
  // A process that removes the group when this one has ended, in whatever way.
  pid_t guard_ = -1;
  // The pipe whose end tells it that.
  int guarded_ = -1;
};

}  // namespace tutti::bench
