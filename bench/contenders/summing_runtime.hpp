// SPDX-License-Identifier: Apache-2.0
// The sum of a region for runtimes that have no reductions: each rank leaves its value on a line of
// its own, and the caller adds them up in the order of ranks.
#pragma once

#include <vector>

#include "bench/harness/runtime.hpp"

namespace tutti::bench {

// The base of a runtime whose fork(body) runs body(rank) for `ranks` ranks.
template <class Derived>
class summing_runtime : public region_runtime_base<Derived> {
 public:
  // Runs body(rank), which returns a pair_of_doubles.
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    place* const values = values_.data();
    static_cast<Derived&>(*this).fork(
        [values, body](rank_t rank) { values[rank].value = body(rank); });
    pair_of_doubles sum;
    for (const place& each : values_) sum = sum + each.value;
    return sum;
  }

 protected:
  explicit summing_runtime(rank_t ranks) : values_(ranks) {}

 private:
  struct alignas(cache_line) place {
    pair_of_doubles value;
  };
  std::vector<place> values_;
};

}  // namespace tutti::bench
