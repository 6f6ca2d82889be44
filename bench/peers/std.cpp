// SPDX-License-Identifier: Apache-2.0
// The C++ standard library: std::barrier, by itself and with an array of partial sums; queues under
// a mutex for messages; and waiting for an atomic.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/trials/barrier_trial.hpp"
#include "bench/trials/queue_trial.hpp"

namespace tutti::bench {
namespace {

// The library's own way to wait for an atomic.
class atomic_wait final : public counting_notifier<std::uint32_t> {
 public:
  explicit atomic_wait(rank_t receivers) : counting_notifier(receivers) {}
  void notify() override {
    // release: publishes what is notified; pairs with the receivers' wait.
    count_.fetch_add(1, release);
    has_one_receiver() ? count_.notify_one() : count_.notify_all();
  }
  void wait(rank_t receiver) override {
    std::uint32_t& seen = seen_by(receiver);
    // acquire: pairs with notify().
    count_.wait(seen, acquire);
    // acquire: as above.
    seen = count_.load(acquire);
  }

 private:
  alignas(cache_line) std::atomic<std::uint32_t> count_{0};
};

// A queue for each receiver under a lock.
template <class T>
class locked_queues {
 public:
  static constexpr const char* provider = "std";
  static constexpr const char* name = "mutex_condvar";
  explicit locked_queues(rank_t n) : queues_(n) {}

  bool push(rank_t /*from*/, rank_t to, const T& value) {
    queue& q = queues_[to];
    {
      const std::lock_guard lock(q.mutex);
      q.items.push_back(value);
    }
    q.filled.notify_one();
    return true;
  }
  bool pop(rank_t me, T& value) {
    queue& q = queues_[me];
    const std::lock_guard lock(q.mutex);
    return take(q, value);
  }
  void wait_and_pop(rank_t me, T& value) {
    queue& q = queues_[me];
    std::unique_lock lock(q.mutex);
    q.filled.wait(lock, [&] { return !q.items.empty(); });
    take(q, value);
  }

 private:
  struct alignas(cache_line) queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<T> items;
  };
  static bool take(queue& q, T& value) {
    if (q.items.empty()) return false;
    value = q.items.front();
    q.items.pop_front();
    return true;
  }
  array<queue> queues_;
};

trial locked_hop(rank_t n) {
  using queues_of = locked_queues<std::uint64_t>;
  auto queues = std::make_shared<queues_of>(n);
  return {"hop",
          queues_of::provider,
          queues_of::name,
          "hop",
          n,
          [n, queues](team& threads, const placement& where, std::uint64_t count) {
            return time_team(threads, where, [&](rank_t rank) {
              const rank_t next = (rank + 1) % n;
              if (rank == 0) queues->push(rank, next, 1);
              // Beyond the last hop the token goes once round, to end everybody's loop.
              for (std::uint64_t hops = 0;;) {
                queues->wait_and_pop(rank, hops);
                if (hops + 1 < count + n) queues->push(rank, next, hops + 1);
                if (hops >= count) return;
              }
            });
          }};
}

std::vector<trial> trials(rank_t n) {
  auto all = barrier_trials<std::barrier<>>(n, "std");
  all.push_back(locked_hop(n));
  for (auto& t : queue_trials<locked_queues>(n)) all.push_back(std::move(t));
  return all;
}

}  // namespace

std::vector<contender> peer_std() {
  return {{.name = "std::barrier",
           .summary = "C++ library: 16 polls, then sleeps",
           .barrier = make_timed<std::barrier<>>,
           .collectives = make_partial_sums<std::barrier<>>,
           .trials = trials},
          {.family = "std",
           .name = "atomic::wait",
           .summary = "C++ library: 16 polls, then sleeps",
           .events = make_notifier<atomic_wait>}};
}

}  // namespace tutti::bench
