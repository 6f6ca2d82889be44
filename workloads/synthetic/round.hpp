// SPDX-License-Identifier: Apache-2.0
// One round of the benchmark: regions back to back by somebody's threads (bench/crew), verified by the master, who also
// reads the clock.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crew/crew.hpp"
#include "synthetic/workload.hpp"

namespace tutti::synthetic {

struct round_request {
  rank_t threads = 2;
  std::vector<int> cpus;  // of each thread; empty: unpinned
  std::size_t length = 0;
  std::uint64_t seed = 1;
  std::uint64_t regions = 100;
  std::uint64_t warm_up = 10;
  std::uint64_t batches = 1;  // each gives a sample
  // After each region, or only after the round: without work, reading everybody's result would cost more than the region.
  bool verify_each = false;
};

struct round_outcome {
  std::vector<double> samples;  // ns a region, one for each batch
  double duration_ns = 0;       // of all batches
  std::string fault;            // empty: all results were right
};

// Throws std::runtime_error when a thread cannot be placed.
round_outcome run_round(const round_request& request, bench::region_crew& crew, workload& work);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_request, threads, cpus, length, seed, regions, warm_up,
                                   batches, verify_each)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_outcome, samples, duration_ns, fault)

// Makes the work of a request, or finds the last one if it is the same: its pages are placed once.
class workload_store {
 public:
  workload& of(const round_request& request);

 private:
  round_request made_for_;
  std::unique_ptr<workload> last_;
};

}  // namespace tutti::synthetic
