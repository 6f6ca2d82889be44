// SPDX-License-Identifier: Apache-2.0
// The lists of detectors and wait policies, as parameters of tests.
#pragma once

#include <string>
#include <vector>

#include "tutti/termination/list.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::test {

inline std::vector<std::string> detector_names() {
  std::vector<std::string> names;
  for (const detector_info& each : detectors) names.emplace_back(each.name);
  return names;
}

// Those that also work between processes.
inline std::vector<std::string> protocol_names() {
  std::vector<std::string> names;
  for (const detector_info& each : detectors)
    if (each.is_protocol) names.emplace_back(each.name);
  return names;
}

// The wait policies that this machine has and with which waiters give their cores away.
inline std::vector<std::string> sharing_wait_names() {
  std::vector<std::string> names;
  for (const wait_info& each : wait_policies)
    if (each.available() && !each.burns_the_core) names.emplace_back(each.name);
  return names;
}

}  // namespace tutti::test
