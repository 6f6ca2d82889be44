// SPDX-License-Identifier: Apache-2.0
// Queues that one would send small messages by otherwise: a mutex and a condition variable for each receiver, Boost's
// single-producer queues for each pair, oneTBB's concurrent queue for each receiver. None of them tells when all is
// delivered: the trial ends when as many messages have been taken as were sent, which each participant counts.
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "bench/idle/traffic.hpp"
#include "bench/idle/trial.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"

#if __has_include(<boost/lockfree/spsc_queue.hpp>)
#include <boost/lockfree/spsc_queue.hpp>
#endif
#if TUTTI_HAVE_TBB
#include <tbb/concurrent_queue.h>
#endif

namespace tutti::bench {
namespace {

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

#if __has_include(<boost/lockfree/spsc_queue.hpp>)
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
#endif

#if TUTTI_HAVE_TBB
template <class T>
class tbb_queues {
 public:
  static constexpr const char* provider = "tbb";
  static constexpr const char* name = "concurrent_queue";
  explicit tbb_queues(rank_t n) : queues_(n) {}
  bool push(rank_t /*from*/, rank_t to, const T& value) {
    // Unbounded: not so far ahead that memory is what is measured.
    if (queues_[to].value.unsafe_size() > 4096) return false;
    queues_[to].value.push(value);
    return true;
  }
  bool pop(rank_t me, T& value) { return queues_[me].value.try_pop(value); }

 private:
  array<padded<tbb::concurrent_queue<T>>> queues_;
};
#endif

template <class Queues, class T>
struct port {
  Queues& queues;
  rank_t rank;
  std::uint64_t mine = 0;  // taken
  array<padded<std::atomic<std::uint64_t>>>& taken;
  std::uint64_t all;
  unsigned in_vain = 0;

  bool try_send(rank_t to, const T& message) { return queues.push(rank, to, message); }
  void drain(std::uint64_t& sum) {
    T message{};
    const std::uint64_t before = mine;
    for (; queues.pop(rank, message); ++mine) sum += message.words[0];
    in_vain = mine == before ? in_vain + 1 : 0;
    if (in_vain > 16) native::yield();
  }
  void end(std::uint64_t& sum) {
    for (;;) {
      drain(sum);
      // relaxed: a count.
      taken[rank].value.store(mine, relaxed);
      std::uint64_t so_far = 0;
      for (auto& count : taken) so_far += count.value.load(relaxed);  // relaxed: likewise
      if (so_far == all) return;
      native::relax();
    }
  }
};

template <template <class> class Queues, std::size_t Bytes>
trial traffic(rank_t n) {
  using message = payload<Bytes>;
  using queues_of = Queues<message>;
  auto queues = std::make_shared<queues_of>(n);
  return {"message",
          queues_of::provider,
          queues_of::name,
          fmt::format("others_{}_bytes", Bytes),
          n,
          [n, queues](team& threads, const placement& where, std::uint64_t count) {
            std::vector<std::uint64_t> sent(n), got(n);
            array<padded<std::atomic<std::uint64_t>>> taken(n);
            const std::uint64_t each = count / n + 1;
            const double ns = time_team(threads, where, [&](rank_t rank) {
              port<queues_of, message> mine{*queues, rank, 0, taken, each * n};
              run_traffic<Bytes>(mine, rank, n, false, each, sent[rank], got[rank]);
            });
            check_sums(sent.data(), got.data(), n);
            return ns;
          }};
}

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

template <template <class> class Queues>
void add_sizes(rank_t n, std::vector<trial>& to) {
  to.push_back(traffic<Queues, 8>(n));
  to.push_back(traffic<Queues, 64>(n));
}

}  // namespace

std::vector<trial> queue_trials(rank_t n) {
  std::vector<trial> all;
  all.push_back(locked_hop(n));
  add_sizes<locked_queues>(n, all);
#if __has_include(<boost/lockfree/spsc_queue.hpp>)
  add_sizes<boost_queues>(n, all);
#endif
#if TUTTI_HAVE_TBB
  add_sizes<tbb_queues>(n, all);
#endif
  return all;
}

}  // namespace tutti::bench
