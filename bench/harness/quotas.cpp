// SPDX-License-Identifier: Apache-2.0
// Groups by their quota.
#include "bench/harness/quotas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace tutti::bench {

quotas::quotas(const std::vector<scenario>& scenarios) {
  for (const scenario& s : scenarios) {
    if (s.quota_cpus <= 0 || group_of(s) != nullptr) continue;
    try {
      groups_[s.quota_cpus] = std::make_unique<cpu_quota>(s.quota_cpus);
    } catch (const std::runtime_error& e) {
      groups_.erase(s.quota_cpus);
      impossible_.push_back(
          {&s,
           fmt::format("a cgroup with a quota of processor time cannot be made ({})", e.what())});
    }
  }
}

const cpu_quota* quotas::group_of(const scenario& s) const {
  const auto found = groups_.find(s.quota_cpus);
  return found == groups_.end() ? nullptr : found->second.get();
}

bool quotas::is_possible(const scenario& s) const {
  return s.quota_cpus <= 0 || group_of(s) != nullptr;
}

std::string quotas::outside(const scenario& s) const {
  const cpu_quota* group = group_of(s);
  return group == nullptr ? "" : group->outside();
}

quotas::visit::visit(const quotas& all, const scenario& s, pid_t process, cpu_quota::members who)
    : group_(all.group_of(s)), process_(process), who_(who) {
  if (group_ != nullptr) group_->enter(process_, who_);
}

quotas::visit::~visit() {
  if (group_ == nullptr) return;
  try {
    group_->leave(process_, who_);
  } catch (const std::exception&) {
    // It has ended.
  }
}

}  // namespace tutti::bench
