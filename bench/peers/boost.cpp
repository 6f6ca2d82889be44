// SPDX-License-Identifier: Apache-2.0
// needs Boost::thread of Boost COMPONENTS thread, for barrier
// Boost: boost::barrier of Boost.Thread; a single-producer queue of Boost.Lockfree for each pair of
// participants.
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/thread/barrier.hpp>

#include "bench/contenders/contender.hpp"
#include "bench/trials/queue_trial.hpp"

namespace tutti::bench {
namespace {

class boost_barrier {
 public:
  explicit boost_barrier(rank_t n) : barrier_(n) {}
  void arrive_and_wait() { barrier_.wait(); }

 private:
  boost::barrier barrier_;
};

template <class T>
class boost_queues {
 public:
  static constexpr const char* provider = "boost";
  static constexpr const char* name = "lockfree_spsc";
  explicit boost_queues(rank_t n) : n_(n), turns_(n) {
    for (std::size_t i = 0; i < std::size_t{n} * n; ++i)
      queues_.push_back(std::make_unique<boost::lockfree::spsc_queue<T>>(16 * 1024 / sizeof(T)));
  }
  bool push(rank_t from, rank_t to, const T& value) { return queues_[from * n_ + to]->push(value); }
  bool pop(rank_t me, T& value) {
    rank_t& turn = turns_[me].value;
    for (rank_t tried = 0; tried < n_; ++tried) {
      if (queues_[turn * n_ + me]->pop(value)) return true;
      turn = turn + 1 == n_ ? 0 : turn + 1;
    }
    return false;
  }

 private:
  std::size_t n_;
  array<padded<rank_t>> turns_;
  std::vector<std::unique_ptr<boost::lockfree::spsc_queue<T>>> queues_;
};

}  // namespace

std::vector<contender> peer_boost() {
  return {{.name = "boost::barrier",
           .summary = "Boost.Thread: mutex and condition variable",
           .barrier = make_timed<boost_barrier>,
           .trials = queue_trials<boost_queues>}};
}

}  // namespace tutti::bench
