// SPDX-License-Identifier: Apache-2.0
// The sum of a region for runtimes that have no reductions: each rank leaves its value on a line of
// its own, and the caller adds them up in the order of ranks.
#pragma once

#include <vector>

#include "bench/harness/runtime.hpp"

namespace tutti::bench {

class rank_sums {
 public:
  explicit rank_sums(rank_t ranks) : values_(ranks) {}

  // Runs body(rank), which returns a pair_of_doubles, by runtime.fork().
  template <class Crew, class Body>
  pair_of_doubles reduce(Crew& runtime, Body body) {
    place* const values = values_.data();
    runtime.fork([values, body](rank_t rank) { values[rank].value = body(rank); });
    pair_of_doubles sum;
    for (const place& each : values_) sum = sum + each.value;
    return sum;
  }

 private:
  struct alignas(cache_line) place {
    pair_of_doubles value;
  };
  std::vector<place> values_;
};

}  // namespace tutti::bench
