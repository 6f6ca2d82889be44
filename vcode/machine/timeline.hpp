// SPDX-License-Identifier: Apache-2.0
// For traces: records when each rank worked on its part of an instruction and when it waited in a
// barrier.
#pragma once

#include <chrono>
#include <cstdio>
#include <vector>

namespace tutti::vcode {

class timeline {
 public:
  enum class kind { phase, barrier };

  explicit timeline(unsigned ranks) : lanes_(ranks), start_(clock::now()) {}

  // Microseconds since the run began.
  double now() const {
    return std::chrono::duration<double, std::micro>(clock::now() - start_).count();
  }
  // Adds the time from `begin` until now. Each rank writes only its own lane.
  void add(unsigned rank, kind what, double begin) {
    lanes_[rank].spans.push_back({what, begin, now()});
  }
  // Prints one line for each interval: "rank 1: phase 12.3 45.6".
  void print(std::FILE* to) const;

 private:
  using clock = std::chrono::steady_clock;
  struct span {
    kind what;
    double begin;
    double end;
  };
  struct alignas(64) lane {
    std::vector<span> spans;
  };
  std::vector<lane> lanes_;
  clock::time_point start_;
};

}  // namespace tutti::vcode
