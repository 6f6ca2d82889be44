// SPDX-License-Identifier: Apache-2.0
// The machine's own limits, measured between the rounds of the same run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/neighbour.hpp"
#include "bench/harness/ping_pong.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/team.hpp"

namespace tutti::bench {

struct floor_quantity {
  std::string quantity;
  std::string summary;
  std::vector<int> cpus;  // where it was measured
  rank_t threads = 0;     // of yield_rotation: how many share these CPUs
  std::vector<double> samples;
};

// What must be measured: the cores of the run, and the oversubscribed teams.
struct floor_plan {
  std::vector<int> cores;                                      // one CPU of each core
  std::vector<std::pair<rank_t, std::vector<int>>> rotations;  // threads, and the CPU of each
  std::vector<std::pair<int, int>> pairs = {};  // of CPUs, which must be among those measured
};

// The plan for a run with these numbers of threads and these placements.
floor_plan plan_floors(const std::vector<rank_t>& threads,
                       const std::vector<placement>& placements);

// The one-way transfer of a cache line between two CPUs, ns; `two` has two threads.
double line_transfer(team& two, std::pair<int, int> cpus);

// The one-way transfers between these two CPUs, one of each sweep; where this pair was not
// measured, as without pinning, the median over the pairs that were.
std::vector<double> transfers_between(std::pair<int, int> cpus,
                                      const std::vector<floor_quantity>& measured);

class floor_suite {
 public:
  explicit floor_suite(floor_plan plan);

  // One sample (or a few) of each quantity; some milliseconds.
  void sweep();
  const std::vector<floor_quantity>& quantities() const { return quantities_; }

  // Samples so far of the one-way transfer between the first two CPUs of a placement; of a rotation
  // with these CPUs.
  std::vector<double> line_one_way(const placement& where) const;
  const std::vector<double>& yield_rotation(rank_t threads, const std::vector<int>& cpus) const;

  // The clock of each CPU of the plan against the first, measured at construction.
  clock_offset offset_of(int cpu) const;

 private:
  floor_quantity& quantity(const std::string& name, const std::string& summary,
                           const std::vector<int>& cpus, rank_t threads = 0);
  void measure_clocks();
  void sweep_pairs();
  void sweep_wakes();
  void sweep_calls();
  void sweep_switch();
  void sweep_rotations();

  floor_plan plan_;
  std::vector<std::pair<int, int>> pairs_;
  std::vector<floor_quantity> quantities_;
  std::map<int, clock_offset> offsets_;
  thread_team two_{2};
  std::map<rank_t, std::unique_ptr<thread_team>> crowds_;
  neighbours nobody_;
};

}  // namespace tutti::bench
