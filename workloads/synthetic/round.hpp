// SPDX-License-Identifier: Apache-2.0
// One round of the benchmark: regions back to back on a contender's threads (bench/contenders). The
// master verifies them and reads the clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/runtime.hpp"
#include "cli/json_fields.hpp"
#include "workloads/synthetic/workload.hpp"

namespace tutti::synthetic {

struct round_request {
  rank_t threads = 2;
  // The CPU of each thread; empty: unpinned.
  std::vector<int> cpus;
  std::size_t length = 0;
  // The walk of each rank in each region, in the words of walk_shape.
  std::uint64_t set_bytes = 0, lines = 0;
  bool at_random = false;
  std::uint64_t seed = 1;
  std::uint64_t regions = 100;
  std::uint64_t warm_up = 10;
  // Each batch gives a sample.
  std::uint64_t batches = 1;
  // Whether to verify after each region, or only after the round. Without work, reading every
  // rank's result would cost more than the region.
  bool verify_each = false;
};

struct round_outcome {
  // Nanoseconds per region, one sample per batch.
  std::vector<double> samples;
  // With a walk, the median over each batch of what a region took beyond the longest rank's walk.
  std::vector<double> overheads;
  // The duration of all batches.
  double duration_ns = 0;
  // Empty: all results were right.
  std::string fault;
};

// Throws std::runtime_error if a thread cannot be placed.
round_outcome run_round(const round_request& request, bench::region_runtime& runtime,
                        workload& work);

TUTTI_JSON_FIELDS(round_request, threads, cpus, length, set_bytes, lines, at_random, seed, regions,
                  warm_up, batches, verify_each)

TUTTI_JSON_FIELDS(round_outcome, samples, overheads, duration_ns, fault)

// Makes the work of a request, or returns the last one if it is the same, so that its pages are
// placed once.
class workload_store {
 public:
  workload& of(const round_request& request);

 private:
  round_request made_for_;
  std::unique_ptr<workload> last_;
};

}  // namespace tutti::synthetic
