// SPDX-License-Identifier: Apache-2.0
// For traces: records when each rank worked on its part of an instruction and when it waited in a
// barrier.
#pragma once

#include <cstdio>
#include <vector>

#include "vcode/machine/clock.hpp"

namespace tutti::vcode {

class timeline {
 public:
  enum class kind { phase, barrier };

  timeline(unsigned ranks, clock_function* clock)
      : lanes_(ranks), clock_(clock), start_ns_(clock()) {}

  // Microseconds since the run began.
  double now() const { return static_cast<double>(clock_() - start_ns_) / 1e3; }
  // Adds the time from `begin` until now. Each rank writes only its own lane.
  void add(unsigned rank, kind what, double begin) {
    lanes_[rank].spans.push_back({what, begin, now()});
  }
  // Prints one line for each interval: "rank 1: phase 12.3 45.6".
  void print(std::FILE* to) const;

 private:
  struct span {
    kind what;
    double begin;
    double end;
  };
  struct alignas(64) lane {
    std::vector<span> spans;
  };
  std::vector<lane> lanes_;
  clock_function* clock_;
  std::uint64_t start_ns_;
};

}  // namespace tutti::vcode
