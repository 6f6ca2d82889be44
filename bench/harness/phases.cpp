// SPDX-License-Identifier: Apache-2.0
// Rank 0 looks at the clock, decides about phases, and is the one who comes late: its own time is
// the latency.
#include "bench/harness/phases.hpp"

#include <algorithm>

#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

// How long each phase is at least.
constexpr double calm_ns = 60e6;
constexpr double other_ns = 120e6;
constexpr double watched_ns = 250e6;
// How many long waits a phase has: the most, fewer if they would last longer than this, and at
// least what a rolling median needs.
constexpr double most_waits = 50;
constexpr double waits_ns = 500e6;
constexpr double least_waits = rolling_window + 4;
constexpr std::size_t most_samples = 40000;  // in a phase

double lasting(double ns, const round_request& request) {
  const double wait = request.late.ns;
  if (wait <= 0) return ns;
  return std::max(ns, wait * std::clamp(waits_ns / wait, least_waits, most_waits));
}

}  // namespace

double length_of_phases_ns(const round_request& request) {
  return lasting(calm_ns, request) + lasting(other_ns, request) + lasting(watched_ns, request);
}

std::optional<double> time_to_calm(const std::vector<phase_sample>& samples, std::uint64_t change,
                                   double calm) {
  std::vector<double> window;
  for (std::size_t i = 0; i + rolling_window <= samples.size(); ++i) {
    if (samples[i].begin < change) continue;
    window.clear();
    for (std::size_t j = i; j < i + rolling_window; ++j) window.push_back(samples[j].cost_ns);
    if (median_of(window) > calm_factor * calm) continue;
    return to_ns(samples[i].begin - change);
  }
  return std::nullopt;
}

round_phases::round_phases(const round_request& request, timed_barrier& barrier, neighbours& busy)
    : request_(request), barrier_(barrier), busy_(busy) {
  if (request.kind != pattern::phases) return;
  before_.reserve(most_samples);
  after_.reserve(most_samples);
}

bool round_phases::has_long_waits(phase p) const {
  if (request_.phases == phase_kind::long_waits) return p == phase::other;
  return request_.phases == phase_kind::short_waits && p != phase::other;
}

void round_phases::run(rank_t rank) {
  if (rank == 0) {
    lead();
  } else {
    follow(rank);
  }
}

// Returns what an episode cost rank 0, without the time that it was late by.
double round_phases::chunk_of(phase p, rank_t rank) {
  if (!has_long_waits(p)) {
    const std::uint64_t begin = ordered_ticks();
    barrier_.episodes(rank, request_.chunk);
    return to_ns(ordered_ticks() - begin) / static_cast<double>(request_.chunk);
  }
  if (rank == 0) spin_for_ns(request_.late.ns);
  const std::uint64_t begin = ordered_ticks();
  barrier_.arrive_and_wait(rank);
  return std::max(to_ns(ordered_ticks() - begin) - timer_cost_ns(), 1.0);
}

void round_phases::change_to(phase next) {
  if (request_.phases == phase_kind::neighbours) {
    if (next == phase::other) busy_.start();
    if (next == phase::calm_again) busy_.stop();
  }
  if (next == phase::calm_again) change_ = ticks();
}

void round_phases::lead() {
  phase now = phase::calm;
  std::uint64_t until = ticks() + from_ns(lasting(calm_ns, request_));
  for (std::size_t turn = 0; now != phase::over; turn = 1 - turn) {
    phase next = now;
    if (ticks() >= until) {
      next = static_cast<phase>(static_cast<int>(now) + 1);
      until = ticks() + from_ns(lasting(next == phase::other ? other_ns : watched_ns, request_));
    }
    auto& samples = now == phase::calm ? before_ : after_;
    next_[turn] = next;
    const std::uint64_t begin = ticks();
    const double cost = chunk_of(now, 0);
    if (now != phase::other && samples.size() < most_samples) samples.push_back({begin, cost});
    if (next != now) change_to(next);
    now = next;
  }
  end_ = ticks();
}

void round_phases::follow(rank_t rank) {
  phase now = phase::calm;
  for (std::size_t turn = 0; now != phase::over; turn = 1 - turn) {
    chunk_of(now, rank);
    now = next_[turn];
  }
}

void round_phases::finish(round_outcome& outcome) const {
  std::vector<double> calm;
  for (std::size_t i = before_.size() / 2; i < before_.size(); ++i) {
    calm.push_back(before_[i].cost_ns);
  }
  // A neighbour that does not run when it is told to end gets its CPU once more.
  const std::uint64_t change = std::max(change_, busy_.stopped_at());
  const double calm_cost = median_of(std::move(calm));
  const auto recovered = time_to_calm(after_, change, calm_cost);
  outcome.samples = {calm_cost};
  outcome.mean = calm_cost;
  outcome.episodes = std::max<std::uint64_t>(before_.size() + after_.size(), 1);
  outcome.duration_ns = length_of_phases_ns(request_);
  outcome.watched_ns = change < end_ ? to_ns(end_ - change) : 0;
  if (recovered) outcome.recover_ns = *recovered;
}

}  // namespace tutti::bench
