// SPDX-License-Identifier: Apache-2.0
// What rank 0 notes of episodes that follow serial code: their latency, and the processor time of
// the others.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "bench/harness/round.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {

class gap_clock {
 public:
  explicit gap_clock(const round_request& request);
  // The serial code, then the episode.
  template <class Episode>
  void episode(Episode run) {
    if (episodes_ == request_.settling) start();
    spin_for_ns(at(request_.gap, episodes_, random_));
    const std::uint64_t begin = ordered_ticks();
    run();
    end_ = ordered_ticks();
    if (timed()) latencies_.push_back(to_ns(end_ - begin) - timer_cost_ns());
    ++episodes_;
  }
  std::uint64_t episodes() const { return episodes_; }
  // Whether the settling episodes are over.
  bool timed() const { return episodes_ >= request_.settling; }
  bool time_is_up() const {
    return episodes_ > request_.settling && ticks() >= begin_ + from_ns(request_.least_ns);
  }
  // After the last one, on the thread that ran them.
  void stop();
  round_outcome outcome() const;

 private:
  void start();

  const round_request& request_;
  std::mt19937_64 random_;
  std::vector<double> latencies_;
  std::uint64_t episodes_ = 0;
  // The ticks at which the timed episodes began and the last one ended.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  // The processor time of the others then, in ns.
  double others_begin_ = 0;
  double others_end_ = 0;
};

}  // namespace tutti::bench
