// SPDX-License-Identifier: Apache-2.0
// needs TBB::tbb of TBB, for region event
// oneTBB: parallel_for and parallel_reduce over one chunk a thread, which meet; a concurrent queue
// for each receiver; as a notification a unit for each receiver in a queue from which they take.
#include <tbb/blocked_range.h>
#include <tbb/concurrent_queue.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/rendezvous.hpp"
#include "bench/trials/queue_trial.hpp"

namespace tutti::bench {
namespace {

class tbb_arena final : public region_runtime {
 public:
  explicit tbb_arena(rank_t threads)
      : threads_(threads),
        allowed_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)),
        rendezvous_(threads) {}
  // The workers end, so that none looks for work beside what is measured next.
  ~tbb_arena() override {
    arena_.terminate();
    tbb::finalize(scheduler_, std::nothrow);
  }

  void open(const std::function<void(rank_t)>& body) override {
    arena_.execute([&] { fork(body); });
  }
  // Inside, execute() of the same arena is a plain call.
  void inside(const std::function<void()>& call) override { arena_.execute(call); }
  void regions(std::uint64_t count, checksums& sums) override {
    tutti_checksum* const all = &sums[0];
    arena_.execute([&] {
      for (std::uint64_t i = 0; i < count; ++i) {
        fork([all](rank_t rank) { tutti_checksum_enter(all + rank); });
      }
    });
  }
  void reducing_regions(std::uint64_t count, checksums& sums) override {
    tutti_checksum* const all = &sums[0];
    arena_.execute([&] {
      for (std::uint64_t i = 0; i < count; ++i) {
        const pair_of_doubles sum = fork_reduce([all](rank_t rank) {
          return pair_of_doubles{tutti_checksum_next(all + rank), all[rank].weight};
        });
        tutti_checksum_collect(all, sum.first, sum.last);
      }
    });
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    using elements = tbb::blocked_range<std::uint64_t>;
    arena_.execute([&] {
      for (std::uint64_t i = 0; i < count; ++i) {
        tbb::parallel_for(elements(0, loop.elements),
                          [loop](const elements& part) { loop.part(part.begin(), part.end()); });
      }
    });
  }

 private:
  using range = tbb::blocked_range<rank_t>;

  // A thread that waits in a chunk cannot take another one: each runs one, in its slot of the
  // arena.
  template <class Body>
  void fork(Body body) {
    tbb::parallel_for(
        range(0, threads_, 1),
        [this, body](const range& chunk) {
          for (rank_t i = chunk.begin(); i != chunk.end(); ++i) {
            body(rank_here());
            rendezvous_.meet();
          }
        },
        tbb::static_partitioner());
  }
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    return tbb::parallel_reduce(
        range(0, threads_, 1), pair_of_doubles{},
        [this, body](const range& chunk, pair_of_doubles sum) {
          for (rank_t i = chunk.begin(); i != chunk.end(); ++i) {
            sum = sum + body(rank_here());
            rendezvous_.meet();
          }
          return sum;
        },
        [](pair_of_doubles a, pair_of_doubles b) { return a + b; }, tbb::static_partitioner());
  }
  static rank_t rank_here() {
    return static_cast<rank_t>(tbb::this_task_arena::current_thread_index());
  }

  const rank_t threads_;
  tbb::task_scheduler_handle scheduler_{tbb::attach{}};
  tbb::global_control allowed_;
  tbb::task_arena arena_;
  rendezvous rendezvous_;
};

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

// A receiver that finds nothing spins, and then sleeps at the queue's eventcount.
class by_bounded_queue final : public notifier {
 public:
  explicit by_bounded_queue(rank_t receivers) : receivers_(receivers) {}
  void notify() override {
    for (rank_t r = 0; r < receivers_; ++r) queue_.push(r);
  }
  void wait(rank_t) override {
    rank_t unit = 0;
    queue_.pop(unit);
  }

 private:
  rank_t receivers_;
  tbb::concurrent_bounded_queue<rank_t> queue_;
};

}  // namespace

std::vector<contender> peer_tbb() {
  return {{.name = "parallel_for",
           .summary = "oneTBB: each thread executes one chunk; the chunks meet",
           .regions = make_regions<tbb_arena>,
           .trials = queue_trials<tbb_queues>},
          {.family = "tbb",
           .name = "bounded_queue",
           .summary = "oneTBB: concurrent_bounded_queue, a unit for each receiver",
           .events = make_notifier<by_bounded_queue>}};
}

}  // namespace tutti::bench
