// SPDX-License-Identifier: Apache-2.0
// What goes on beside and between the episodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

enum class neighbour_kind { none, one, all };

struct scenario {
  std::string name;
  double skew_ns = 0;  // ranks are late by up to this, at random
  double late_ns = 0;  // the last rank is late by this, always
  neighbour_kind busy = neighbour_kind::none;
};

// Throws std::invalid_argument for a text that is none of free, skew_TIME, imbalance_TIME, neighbour_one,
// neighbour_all; TIME is a number with ns, us or ms.
scenario parse_scenario(std::string_view text);

// The CPUs with a busy process, of a run on these cores.
std::vector<int> busy_cpus(const scenario& s, const std::vector<int>& cores);

}  // namespace tutti::bench
