// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every barrier takes one round in each sweep, in a new random order, so that all of them meet the same
// moods of the machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barrier/plan.hpp"
#include "floors/floors.hpp"
#include "harness/worker.hpp"

namespace tutti::bench {

// One line of the results.
struct measurement {
  const provider* who = nullptr;
  rank_t threads = 0;
  const placement* where = nullptr;
  const scenario* when = nullptr;
  metric what = metric::loop;
  std::vector<double> samples;   // ns
  std::vector<double> ratios;    // of a round's median to the floor of the same round
  std::vector<double> excesses;  // a round's median minus the floor of the same round
  std::vector<double> floors;
  std::size_t rounds = 0;
  std::size_t flagged = 0;  // rounds in which the machine changed: not in ratios and excesses
};

// What could not be measured, and why.
struct not_measured {
  const provider* who = nullptr;
  rank_t threads = 0;
  std::string reason;
};

using progress = std::function<void(const std::string& what, double fraction)>;

class suite {
 public:
  explicit suite(const barrier_plan& plan);
  ~suite();

  // Checks that each is a barrier, calibrates, measures.
  void run(const progress& report);

  const std::vector<measurement>& results() const { return results_; }
  const std::vector<not_measured>& failures() const { return failures_; }
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
  void measure(cell& c);
  void record(cell& c, const round_outcome& outcome);
  bool sits_out(const cell& c, double elapsed_s) const;
  void fail(const provider& who, rank_t threads, const std::string& reason);
  void report_empty_results();

  const barrier_plan& plan_;
  placement default_cores_;
  floor_suite floors_;
  neighbours neighbours_;
  std::map<std::pair<rank_t, const placement*>, std::unique_ptr<thread_team>> teams_;
  std::map<const provider*, std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<cell>> cells_;
  std::vector<measurement> results_;
  std::vector<not_measured> failures_;
  std::size_t sweeps_ = 0;
};

// Distinct CPUs of a placement; all allowed cores for an unpinned one.
std::vector<int> cores_of(const placement& where);

}  // namespace tutti::bench
