// SPDX-License-Identifier: Apache-2.0
// What `tutti bench idle` and `tutti bench message` time: one operation of one provider, over and
// over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/placement.hpp"
#include "bench/harness/team.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

struct trial {
  // idle, message or hop.
  std::string benchmark;
  // tutti, std, ...
  std::string provider;
  // The detector, or the kind of queue.
  std::string name;
  // idle: empty_episode, message_each; message: random_8_bytes, ...; hop: hop.
  std::string metric;
  rank_t threads = 2;
  // Does `count` operations by the team, pinned so; ns for all of them.
  std::function<double(team&, const placement&, std::uint64_t count)> run;
  // The participants are virtual ranks.
  bool fibers = false;
};

// Runs body(rank) on every thread of the team, from a common start; ns from the first to begin to
// the last to end.
double time_team(team& threads, const placement& where, const std::function<void(rank_t)>& body);

// `detectors`: names of tutti's. Throws std::invalid_argument for one that is none.
std::vector<trial> idle_trials(rank_t threads, const std::vector<std::string>& detectors);
std::vector<trial> message_trials(rank_t threads, const std::vector<std::string>& detectors);

}  // namespace tutti::bench
