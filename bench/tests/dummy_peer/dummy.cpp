// SPDX-License-Identifier: Apache-2.0
// A peer that is added as docs/HACKING.md says: one file, which says what it can do.
#include <barrier>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/contenders/pool.hpp"
#include "bench/trials/barrier_trial.hpp"

namespace tutti::bench {
namespace {

class dummy_barrier {
 public:
  explicit dummy_barrier(rank_t n) : barrier_(static_cast<std::ptrdiff_t>(n)) {}
  void arrive_and_wait() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

class dummy_signals {
 public:
  explicit dummy_signals(rank_t threads) : begin_(threads), end_(threads) {}
  void open() { begin_.arrive_and_wait(); }
  void await_open() { begin_.arrive_and_wait(); }
  void done() { end_.arrive_and_wait(); }
  void close() { end_.arrive_and_wait(); }

 private:
  dummy_barrier begin_, end_;
};

}  // namespace

std::vector<contender> peer_dummy() {
  return {{.family = "dummy",
           .name = "everything",
           .summary = "a barrier, a pool, sums, episodes",
           .barrier = make_timed<dummy_barrier>,
           .regions = make_pool<dummy_signals>,
           .collectives = make_partial_sums<dummy_barrier>,
           .trials = [](rank_t n) { return barrier_trials<dummy_barrier>(n, "dummy"); }}};
}

}  // namespace tutti::bench
