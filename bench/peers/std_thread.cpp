// SPDX-License-Identifier: Apache-2.0
// A std::thread for each rank of each region, joined at its end.
#include <sched.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/summing_runtime.hpp"
#include "bench/harness/placement.hpp"

namespace tutti::bench {
namespace {

class new_threads final : public summing_runtime<new_threads> {
 public:
  explicit new_threads(rank_t threads) : summing_runtime(threads), threads_(threads) {}

  // A thread that put itself on its CPU would pay for the move in every region: all may use all
  // CPUs of the placement, and the kernel starts each on an idle one.
  void place(const std::vector<int>& cpus) override {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus.empty() ? allowed_cpus() : cpus) {
      CPU_SET(static_cast<unsigned>(cpu), &set);
    }
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
      throw std::system_error(errno, std::generic_category(), "a thread cannot be placed");
    }
  }

  template <class Body>
  void fork(Body body) {
    std::vector<std::thread> others;
    others.reserve(threads_ - 1);
    for (rank_t rank = 1; rank < threads_; ++rank) {
      others.emplace_back([&body, rank] { body(rank); });
    }
    body(0);
    for (auto& other : others) other.join();
  }

 private:
  const rank_t threads_;
};

}  // namespace

std::vector<contender> peer_std_thread() {
  return only_regions<new_threads>("std::thread", "new threads in each region, joined");
}

}  // namespace tutti::bench
