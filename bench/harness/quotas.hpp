// SPDX-License-Identifier: Apache-2.0
// The quotas of a run's scenarios: a group for each, entered for a round.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/cpu_quota.hpp"
#include "bench/harness/scenario.hpp"

namespace tutti::bench {

// A scenario that this machine does not let anybody have.
struct impossible_scenario {
  const scenario* when = nullptr;
  std::string reason;
};

class quotas {
 public:
  // Makes the group of each scenario that has one.
  explicit quotas(const std::vector<scenario>& scenarios);

  const std::vector<impossible_scenario>& impossible() const { return impossible_; }
  bool is_possible(const scenario& s) const;

  // cgroup.procs of where neighbours belong; empty without a quota.
  std::string outside(const scenario& s) const;

  // Inside from construction to destruction: this process, or another one with its family if it has
  // one to bring.
  class visit {
   public:
    visit(const quotas& all, const scenario& s, pid_t process, cpu_quota::members who);
    ~visit();
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    const cpu_quota* group_ = nullptr;
    pid_t process_;
    cpu_quota::members who_;
  };

 private:
  const cpu_quota* group_of(const scenario& s) const;

  std::map<double, std::unique_ptr<cpu_quota>> groups_;
  std::vector<impossible_scenario> impossible_;
};

}  // namespace tutti::bench
