// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every barrier takes one round in each sweep.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/barrier/plan.hpp"
#include "bench/floors/floors.hpp"
#include "bench/harness/quotas.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/sweeps.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {

// One line of the results.
struct measurement : series_record {
  const provider* who = nullptr;
  rank_t threads = 0;
  const placement* where = nullptr;
  const scenario* when = nullptr;
  metric what = metric::loop;
  std::vector<double> cpus_used;  // of cpu_time: processors that the round kept busy
  std::size_t unrecovered = 0;    // of recover: rounds in which the calm did not come back
};

// What could not be measured, and why.
struct not_measured {
  const provider* who = nullptr;
  rank_t threads = 0;
  const scenario* when = nullptr;
  std::string reason;
};

class suite {
 public:
  explicit suite(const barrier_plan& plan);
  ~suite();

  // Checks that each is a barrier, calibrates, measures.
  void run(const progress& report);

  const std::vector<measurement>& results() const { return results_; }
  const std::vector<not_measured>& failures() const { return failures_; }
  const std::vector<impossible_scenario>& impossible() const { return quotas_.impossible(); }
  const floor_suite& floors() const { return floors_; }
  std::size_t sweeps() const { return sweeps_; }
  // How far the clocks of two CPUs may be apart after correction, ns.
  double clock_bound_ns() const;

 private:
  struct cell;
  void make_cells();
  void add_cell(const provider& who, rank_t threads, const placement& where, const scenario& when,
                pattern kind, const std::vector<metric>& metrics);
  bool prepare(cell& c);
  void calibrate(cell& c);
  round_outcome run_round_of(cell& c);
  void plan_round(cell& c);
  void measure(cell& c);
  void record(cell& c, const round_outcome& outcome);
  void fail(const provider& who, rank_t threads, const scenario& when, const std::string& reason);
  void report_empty_results();

  const barrier_plan& plan_;
  floor_suite floors_;
  neighbours neighbours_;
  quotas quotas_;
  std::map<std::pair<rank_t, const placement*>, std::unique_ptr<thread_team>> teams_;
  std::map<const provider*, std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<series>> cells_;
  std::vector<measurement> results_;
  std::vector<not_measured> failures_;
  std::size_t sweeps_ = 0;
};

}  // namespace tutti::bench
