// SPDX-License-Identifier: Apache-2.0
// Runs the notifications of all contenders interleaved and keeps what was measured.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/floors/floors.hpp"
#include "bench/harness/neighbour.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::bench {

struct event_plan {
  // Contenders with `events`.
  std::vector<contender> contenders;
  // The peers that this system does not have.
  std::vector<missing_peer> missing;
  std::vector<rank_t> receivers;
  // Each scenario has the gap before a notification.
  std::vector<scenario> scenarios;
  // Which combinations of these are measured.
  bool (*is_wanted)(const contender&, rank_t receivers, const scenario&) = nullptr;
  placement where;
  run_length length;
};

// The results of one contender with so many receivers in one scenario.
struct event_result {
  const contender* who = nullptr;
  rank_t receivers = 1;
  const scenario* when = nullptr;
  // Every receiver of every notification.
  series_record each;
  // The first receiver of each notification, the last one, and the standard deviation over its
  // receivers.
  series_record first;
  series_record last;
  series_record sigma;
  std::string not_measured;

  rank_t threads() const { return receivers + 1; }
};

// A combination of the plan that cannot be measured on these cores.
struct left_out_event {
  const contender* who = nullptr;
  rank_t receivers = 1;
  const scenario* when = nullptr;
  std::string reason;
};

class event_suite {
 public:
  explicit event_suite(event_plan plan);
  void run(const progress& report);

  const event_plan& plan() const { return plan_; }
  const std::list<event_result>& results() const { return results_; }
  const std::vector<left_out_event>& left_out() const { return left_out_; }
  const floor_suite& floors() const { return floors_; }
  std::size_t sweeps() const { return sweeps_; }
  // What reading the clock adds to each sample, and is taken off.
  double clock_ns() const { return clock_ns_; }
  // The floor of a result: a line transfer, or a rotation if threads share cores.
  std::vector<double> floor_of(const event_result& r) const;
  bool is_crowded(rank_t threads) const { return threads > cores(); }
  rank_t cores() const { return static_cast<rank_t>(cores_of(plan_.where).size()); }

 private:
  class event_series;

  event_plan plan_;
  floor_suite floors_;
  neighbours neighbours_;
  std::map<rank_t, std::unique_ptr<thread_team>> teams_;
  std::list<event_result> results_;
  std::vector<left_out_event> left_out_;
  std::size_t sweeps_ = 0;
  double clock_ns_;
};

}  // namespace tutti::bench
