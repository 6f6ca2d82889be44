// SPDX-License-Identifier: Apache-2.0
// An array of partial sums around the C++ library's std::barrier.
#include <barrier>

#include "bench/reduce/partial_sums.hpp"
#include "bench/reduce/peers.hpp"

namespace tutti::bench {
namespace {

class library_barrier {
 public:
  explicit library_barrier(rank_t threads) : barrier_(static_cast<std::ptrdiff_t>(threads)) {}
  void wait() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

}  // namespace

std::unique_ptr<meeting_crew> make_std_barrier_sums(const crew_size& size) {
  return std::make_unique<partial_sums<library_barrier>>(size.threads);
}

}  // namespace tutti::bench
