// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every setting, interleaved, as often as asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "streamcluster/program/plan.hpp"

namespace tutti::streamcluster {

struct measurement {
  const setting* where;
  std::vector<double> seconds;
  statistics counts;  // of the last run
};

struct sweep {
  clustering found;
  std::vector<measurement> measurements;
};

// `progress` is told what is done and which part of the plan is behind. Throws std::runtime_error if two runs do not
// give the same bits.
sweep run_plan(const plan& p, const std::function<void(const std::string&, double)>& progress);

// For people, and one JSON object a line.
std::string table(const plan& p, const sweep& s);
std::string json_lines(const plan& p, const sweep& s);

}  // namespace tutti::streamcluster
