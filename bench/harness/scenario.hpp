// SPDX-License-Identifier: Apache-2.0
// What goes on beside and between the episodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/course.hpp"
#include "bench/harness/neighbour.hpp"

namespace tutti::bench {

enum class neighbour_kind { none, one, all, light, heavy };

// What comes to an end in a run of phases, so that it shows how long the calm takes to return.
enum class phase_kind { none, neighbours, long_waits, short_waits };

struct scenario {
  std::string name;
  // Ranks are late by up to this, at random.
  double skew_ns = 0;
  // One rank is late by this in every episode.
  course late;
  // The late rank is another one in each episode.
  bool rotating = false;
  // Every rank works for a random time between these two. It does not work if both are 0.
  double least_work_ns = 0;
  double most_work_ns = 0;
  // The serial code of the caller before each region.
  course gap;
  neighbour_kind busy = neighbour_kind::none;
  // The number of neighbours on each CPU that has any.
  unsigned each = 1;
  // Each neighbour is in a session of its own.
  bool own_session = false;
  // The quota of a cgroup around the run, in CPUs; 0: none.
  double quota_cpus = 0;
  phase_kind phases = phase_kind::none;

  // Something takes the processors for milliseconds: rounds end by time, and count as one sample.
  bool disturbed() const { return busy != neighbour_kind::none || quota_cpus > 0; }
  // A rank is late, or works, before each episode.
  bool delayed() const { return late.ns > 0 || most_work_ns > 0; }
  // Where the time from the last arrival to the last return is measured, arrivals always differ.
  double skew_of_delayed_ns() const { return delayed() || skew_ns > 0 ? skew_ns : 500; }
};

// What a text for parse_scenario() may be, in a sentence.
std::string_view scenario_grammar();

// Parts joined by '+', each kind once:
//   free
//   skew_TIME | imbalance_TIME[_uniform|_alternating][_rotating] | work_TIME_TIME
//   gap_TIME[_uniform|_alternating]
//   neighbour_one[_xN] | neighbour_all[_xN] | background_light[_xN] | background_heavy[_xN]
//   quota_CPUS
// or, alone, recover_neighbour_one[_xN], recover_neighbour_all[_xN], recover_background_heavy[_xN],
// recover_imbalance_TIME (long waits end), recover_to_imbalance_TIME (short ones do).
// TIME is a number with ns, us or ms. Throws std::invalid_argument for anything else.
scenario parse_scenario(std::string_view text);

// A time such as 500ns, 10us or 1ms in ns, at most a second. Throws std::invalid_argument.
double parse_time_ns(std::string_view text);

// "1ms", "500ns": the time as scenarios name it.
std::string time_text(double ns);

// With the session of the neighbours, if there are any.
std::string words_of(const scenario& s);

// The processes beside a run on these cores.
neighbour_plan neighbours_of(const scenario& s, const std::vector<int>& cores);

// How long a round beside them should be, so that what they do averages out; 0: nothing special.
double disturbed_round_ns(const scenario& s);

}  // namespace tutti::bench
