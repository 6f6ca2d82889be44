// SPDX-License-Identifier: Apache-2.0
// A fork-join interface, so that libpll can run on tutti's team and on the threads that its users
// write today.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "workloads/phylo/kernels.hpp"

namespace tutti::phylo::compare {

class runtime {
 public:
  using work = std::function<derivatives(unsigned rank)>;

  virtual ~runtime() = default;
  virtual unsigned size() const = 0;
  // Calls f once as each rank, rank 0 being the caller. Returns the sum of the results, added in a
  // fixed order.
  virtual derivatives run(const work& f) = 0;
};

// "tutti": a team. "pthread": threads between two waits at a pthread_barrier, with sums added by
// the caller. Throws std::invalid_argument for other names.
std::unique_ptr<runtime> make_runtime(std::string_view name, unsigned threads);

}  // namespace tutti::phylo::compare
