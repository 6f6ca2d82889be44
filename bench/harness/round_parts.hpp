// SPDX-License-Identifier: Apache-2.0
// What rounds of regions and rounds inside a region share.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/placement.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {

// Keeps the first error of any rank.
class first_error {
 public:
  template <class Call>
  void guard(Call call) {
    try {
      call();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      if (text_.empty()) text_ = e.what();
    }
  }
  void throw_if_any() const {
    if (!text_.empty()) throw std::runtime_error(text_);
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

inline void pin(const std::vector<int>& cpus, rank_t rank) {
  pin_this_thread(cpus.empty() ? any_cpu : cpus[rank % cpus.size()]);
}

// The samples of batches, from the clock before the first and after each.
inline round_outcome outcome_of(const std::vector<std::uint64_t>& marks, std::uint64_t episodes) {
  round_outcome outcome;
  outcome.episodes = episodes;
  outcome.duration_ns = to_ns(marks.back() - marks.front());
  const auto each = static_cast<double>(episodes) / static_cast<double>(marks.size() - 1);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    outcome.samples.push_back(to_ns(marks[i] - marks[i - 1]) / each);
  }
  return outcome;
}

// What a rank writes in a step of a check, and what it finds wrong.
struct alignas(cache_line) published {
  std::uint64_t step = 0;
  std::string fault;
};

// With up to 12 ranks each is late once. It is late by more than the spread of the others'
// arrivals.
inline constexpr std::uint64_t check_steps = 12;
inline constexpr double late_ns = 20e3;

}  // namespace tutti::bench
