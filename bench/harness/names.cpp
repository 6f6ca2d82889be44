// SPDX-License-Identifier: Apache-2.0
// Lists of names that a user gives, against those that are known.
#include "bench/harness/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tutti/platform/names.hpp"
#include "tutti/registry.hpp"
#include "tutti/termination/list.hpp"

namespace tutti::bench {
namespace {

bool is_available(const std::string& wait) {
  const wait_info* policy = tutti::detail::find_by_name(wait_policies, wait);
  return policy != nullptr && policy->available();
}

}  // namespace

std::vector<std::string> choose_names(const std::vector<std::string>& names,
                                      const std::vector<std::string>& known,
                                      std::string_view what) {
  std::vector<std::string> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    if (name == "all") {
      chosen.insert(chosen.end(), known.begin(), known.end());
      continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw std::invalid_argument(fmt::format("there is no {} '{}': use all, none, or some of {}",
                                              what, name, fmt::join(known, ", ")));
    }
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  return chosen;
}

std::vector<std::string> choose_waits(const std::vector<std::string>& names) {
  const bool every = std::find(names.begin(), names.end(), "all") != names.end();
  std::vector<std::string> chosen = choose_names(names, wait_names(), "wait policy");
  for (const auto& wait : chosen) {
    if (every || is_available(wait)) continue;
    throw std::invalid_argument(
        fmt::format("the wait policy {} needs a CPU that this machine does not have", wait));
  }
  std::erase_if(chosen, [](const std::string& wait) { return !is_available(wait); });
  return chosen;
}

bool is_named(const std::string& name, const std::string& family, const std::string& own_name) {
  return name == "all" || name == family || name == family + ":" + own_name;
}

std::string summary_of(const std::string& algorithm, std::string_view otherwise) {
  const algorithm_info* known = tutti::detail::find_by_name(algorithms, algorithm);
  return std::string(known != nullptr ? known->summary : otherwise);
}

std::vector<std::string> wait_names() {
  std::vector<std::string> names;
  for (const auto& info : wait_policies) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> detector_names() {
  std::vector<std::string> names{"default"};
  for (const auto& info : detectors) names.emplace_back(info.name);
  return names;
}

}  // namespace tutti::bench
