// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/gap_clock.hpp"

#include <algorithm>

#include "bench/harness/statistics.hpp"

namespace tutti::bench {
namespace {

// The processor time of the other threads of this process.
double others_cpu_ns() { return process_cpu_ns() - thread_cpu_ns(); }

}  // namespace

gap_clock::gap_clock(const round_request& request) : request_(request), random_(request.seed) {
  if (request.gap.ns > 0) latencies_.reserve(request.episodes);
}

void gap_clock::start() {
  others_begin_ = others_cpu_ns();
  begin_ = ordered_ticks();
}

void gap_clock::stop() { others_end_ = others_cpu_ns(); }

round_outcome gap_clock::outcome() const {
  round_outcome outcome;
  outcome.episodes = latencies_.size();
  outcome.duration_ns = to_ns(end_ - begin_);
  outcome.samples = latencies_;
  // Beside neighbours the mean, not the median: an episode that loses a time slice must weigh by
  // its length.
  if (request_.least_ns > 0) outcome.samples = {summarize(latencies_).mean};
  const auto others = static_cast<double>(std::max<rank_t>(request_.threads - 1, 1));
  outcome.waiter_cpu_ns = (others_end_ - others_begin_) /
                          static_cast<double>(std::max<std::uint64_t>(outcome.episodes, 1)) /
                          others;
  return outcome;
}

}  // namespace tutti::bench
