// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every crew takes one round of every kind of episode in each sweep.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/crew/plan.hpp"
#include "bench/floors/floors.hpp"
#include "bench/harness/quotas.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {

// One line of the results.
struct crew_measurement : series_record {
  const crew_provider* who = nullptr;
  episode_kind kind;
  crew_shape shape;
  const placement* where = nullptr;
  const scenario* when = nullptr;
  crew_metric what = crew_metric::loop;

  bool same_situation(const crew_measurement& other) const;
  bool crowded() const { return shape.threads > cores_of(*where).size(); }
};

// What could not be measured, and why.
struct crew_failure {
  const crew_provider* who = nullptr;
  episode_kind kind;
  crew_shape shape;
  const scenario* when = nullptr;
  std::string reason;
};

class crew_suite {
 public:
  explicit crew_suite(const crew_plan& plan);
  ~crew_suite();

  // Checks that each does what it says, calibrates, measures.
  void run(const progress& report);

  const std::vector<crew_measurement>& results() const { return results_; }
  const std::vector<crew_failure>& failures() const { return failures_; }
  const std::vector<impossible_scenario>& impossible() const { return quotas_.impossible(); }
  const floor_suite& floors() const { return floors_; }
  std::size_t sweeps() const { return sweeps_; }

 private:
  struct cell;
  void add_cells(const crew_provider& who, const crew_shape& shape);
  void add_cell(crew_measurement what);
  bool prepare(cell& c);
  void plan_round(cell& c);
  void measure(cell& c);
  crew_outcome run_round_of(const cell& c);
  std::string check_of(const cell& c);
  worker& remote(const cell& c);
  double line_beside(const cell& c);
  std::optional<double> floor_of(const cell& c, double before, double after) const;
  void fail(const cell& c, const std::string& reason);

  const crew_plan& plan_;
  floor_suite floors_;
  thread_team two_{2};  // for the floors beside the rounds
  neighbours neighbours_;
  quotas quotas_;
  std::map<std::pair<const crew_provider*, rank_t>, std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<series>> cells_;
  std::vector<crew_measurement> results_;
  std::vector<crew_failure> failures_;
  std::size_t sweeps_ = 0;
};

}  // namespace tutti::bench
