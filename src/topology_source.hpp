// SPDX-License-Identifier: Apache-2.0
// Where the topology comes from: hwloc (topology_hwloc.cpp), or in builds without it the files of
// the Linux kernel (topology_files.cpp).
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "tutti/platform/topology.hpp"

namespace tutti::platform {

// Writes everything except the model. What the source does not know keeps its value.
void read_topology(topology& found);

// The numbers that two ascending lists share.
inline std::vector<unsigned> both(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
  std::vector<unsigned> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace tutti::platform
