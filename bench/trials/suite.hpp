// SPDX-License-Identifier: Apache-2.0
// Runs trials interleaved and keeps what was measured.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/placement.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/sweeps.hpp"
#include "bench/harness/team.hpp"
#include "bench/trials/trial.hpp"

namespace tutti::bench {

struct trial_plan {
  std::vector<trial> trials;
  placement where;
  run_length length;
};

class trial_suite {
 public:
  struct result {
    trial what;
    series_record record;
    std::string not_measured;  // why not; empty: it was
  };

  explicit trial_suite(trial_plan plan) : plan_(std::move(plan)) {}
  void run(const progress& report);

  const std::list<result>& results() const { return results_; }
  const placement& where() const { return plan_.where; }
  std::uint64_t seed() const { return plan_.length.seed; }
  std::size_t sweeps() const { return sweeps_; }
  // One-way transfer of a line between the first two CPUs, a sample each sweep; empty with one CPU.
  const std::vector<double>& floor() const { return floor_; }

 private:
  team& team_of(const trial& what);

  trial_plan plan_;
  std::list<result> results_;
  std::vector<double> floor_;
  std::map<std::pair<rank_t, bool>, std::unique_ptr<team>> teams_;
  std::size_t sweeps_ = 0;
};

}  // namespace tutti::bench
