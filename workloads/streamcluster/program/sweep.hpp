// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every setting, interleaved, as often as requested.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/streamcluster/program/plan.hpp"

namespace tutti::streamcluster {

struct measurement {
  const setting* where;
  std::vector<double> seconds;
  // The counts of the last run.
  statistics counts;
};

struct sweep {
  clustering found;
  std::vector<measurement> measurements;
};

// `progress` gets what was done last and the share of the plan that is done. Throws
// std::runtime_error if two runs do not give the same bits.
sweep run_plan(const plan& p, const std::function<void(const std::string&, double)>& progress);

// The results as a table for people, and as JSON lines, one object per line.
std::string table(const plan& p, const sweep& s);
std::string json_lines(const plan& p, const sweep& s);

}  // namespace tutti::streamcluster
