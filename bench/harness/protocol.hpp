// SPDX-License-Identifier: Apache-2.0
// Rounds as JSON, for the peers that live in a process of their own.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "bench/harness/round.hpp"
#include "cli/json.hpp"

namespace tutti::bench {

constexpr std::array<std::string_view, 4> json_names(pattern) {
  return {"loop", "delayed", "phases", "after_gap"};
}
constexpr std::array<std::string_view, 3> json_names(operation) {
  return {"barrier", "region", "collective"};
}
constexpr std::array<std::string_view, 3> json_names(course_kind) {
  return {"constant", "uniform", "alternating"};
}
constexpr std::array<std::string_view, 4> json_names(phase_kind) {
  return {"none", "neighbours", "long_waits", "short_waits"};
}

template <class Struct, class Visit>
requires std::same_as<std::remove_const_t<Struct>, course>
void visit_fields(Struct& of, Visit visit) {
  visit("ns", of.ns);
  visit("kind", of.kind);
}

template <class Struct, class Visit>
requires std::same_as<std::remove_const_t<Struct>, episode_kind>
void visit_fields(Struct& of, Visit visit) {
  visit("what", of.what);
  visit("width", of.width);
  visit("elements", of.elements);
}

template <class Struct, class Visit>
requires std::same_as<std::remove_const_t<Struct>, neighbour_plan>
void visit_fields(Struct& of, Visit visit) {
  visit("cpus", of.cpus);
  visit("each", of.each);
  visit("light", of.light);
  visit("own_session", of.own_session);
  visit("outside", of.outside);
}

template <class Struct, class Visit>
requires std::same_as<std::remove_const_t<Struct>, round_request>
void visit_fields(Struct& of, Visit visit) {
  visit("what", of.what);
  visit("kind", of.kind);
  visit("threads", of.threads);
  visit("ranks", of.ranks);
  visit("cpus", of.cpus);
  visit("episodes", of.episodes);
  visit("warm_up", of.warm_up);
  visit("batches", of.batches);
  visit("least_ns", of.least_ns);
  visit("chunk", of.chunk);
  visit("own_cores", of.own_cores);
  visit("with_floor", of.with_floor);
  visit("skew_ns", of.skew_ns);
  visit("late", of.late);
  visit("rotating", of.rotating);
  visit("gap", of.gap);
  visit("least_work_ns", of.least_work_ns);
  visit("most_work_ns", of.most_work_ns);
  visit("phases", of.phases);
  visit("seed", of.seed);
  visit("neighbours", of.neighbours);
  visit("offsets", of.offsets);
}

template <class Struct, class Visit>
requires std::same_as<std::remove_const_t<Struct>, round_outcome>
void visit_fields(Struct& of, Visit visit) {
  visit("samples", of.samples);
  visit("mean", of.mean);
  visit("episodes", of.episodes);
  visit("duration_ns", of.duration_ns);
  visit("start_spread_ns", of.start_spread_ns);
  visit("waiter_cpu_ns", of.waiter_cpu_ns);
  visit("cpus_used", of.cpus_used);
  visit("episode_ns", of.episode_ns);
  visit("recover_ns", of.recover_ns);
  visit("watched_ns", of.watched_ns);
  visit("floor_before", of.floor_before);
  visit("floor_after", of.floor_after);
  visit("neighbours_ran", of.neighbours_ran);
  visit("fault", of.fault);
}

}  // namespace tutti::bench
