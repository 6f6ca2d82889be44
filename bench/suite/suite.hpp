// SPDX-License-Identifier: Apache-2.0
// Runs a plan: in each sweep every contender takes one round of each kind of episode in each
// situation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/floors/floors.hpp"
#include "bench/harness/quotas.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/worker.hpp"
#include "bench/suite/plan.hpp"

namespace tutti::bench {

// What is measured, of whom, and where.
struct situation {
  const contender* who = nullptr;
  episode_kind kind;
  shape size;
  const placement* where = nullptr;
  const scenario* when = nullptr;

  bool crowded() const { return size.threads > cores_of(*where).size(); }
  bool same_but_for_who_and_kind(const situation& other) const;
};

// One line of the results.
struct measurement : series_record, situation {
  metric what = metric::loop;
  // cpu_time: the processors that each round kept busy.
  std::vector<double> cpus_used;
  // recover: the rounds in which the calm did not come back.
  std::size_t unrecovered = 0;
};

// What could not be measured, and why.
struct not_measured : situation {
  std::string reason;
};

class suite {
 public:
  explicit suite(const plan& p);
  ~suite();

  // Checks that each does what it says, calibrates, measures.
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
  void add_cells(const situation& what);
  void add_cell(const situation& what, pattern kind, const std::vector<metric>& metrics);
  bool prepare(cell& c);
  std::string check(cell& c);
  void calibrate(cell& c);
  round_outcome run_round_of(cell& c);
  round_outcome run_beside_floor(cell& c);
  void plan_round(cell& c);
  void measure(cell& c);
  void record(cell& c, const round_outcome& outcome);
  std::optional<double> floor_of(const cell& c, const round_outcome& outcome) const;
  double line_beside(const cell& c);
  worker& process_of(const cell& c);
  void fail(const situation& what, const std::string& reason);
  void report_empty_results();

  const plan& plan_;
  floor_suite floors_;
  // Measures the floors beside the rounds of runtimes.
  thread_team two_{2};
  neighbours neighbours_;
  quotas quotas_;
  std::map<std::pair<rank_t, const placement*>, std::unique_ptr<thread_team>> teams_;
  std::map<std::pair<const contender*, rank_t>, std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<series>> cells_;
  std::vector<measurement> results_;
  std::vector<not_measured> failures_;
  std::size_t sweeps_ = 0;
};

}  // namespace tutti::bench
