// SPDX-License-Identifier: Apache-2.0
// Runs a plan: in each sweep every provider takes one round, in a new random order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/record.hpp"
#include "bench/harness/worker.hpp"
#include "workloads/synthetic/program/plan.hpp"
#include "workloads/synthetic/round.hpp"

namespace tutti::synthetic {

struct measurement : bench::series_record {
  const bench::contender* who = nullptr;
  rank_t threads = 0;
  // Its index in the plan. With a walk the samples are overheads.
  std::size_t situation = 0;
};

struct failure {
  const bench::contender* who = nullptr;
  rank_t threads = 0;
  std::string reason;
};

struct sweeps {
  // The results of each provider for each number of threads and each situation.
  std::vector<measurement> results;
  std::vector<failure> failures;
  std::size_t count = 0;
};

sweeps run_plan(const plan& p, const bench::progress& report);

}  // namespace tutti::synthetic
