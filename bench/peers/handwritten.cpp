// SPDX-License-Identifier: Apache-2.0
// What one would write by hand for regions that follow each other closely: a line for each worker,
// on which the job goes there and the arrival comes back, with the worker's two doubles beside it.
// It only spins, and gives its core to the scheduler after a while only where there are more
// threads than CPUs.
#include <sched.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/harness/placement.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {
namespace {

class fork_join_by_hand final : public region_runtime_base<fork_join_by_hand> {
 public:
  explicit fork_join_by_hand(rank_t threads)
      : polls_before_yielding_(threads > allowed_cpus().size() ? 0 : UINT32_MAX), lines_(threads) {
    for (rank_t rank = 1; rank < threads; ++rank)
      workers_.emplace_back([this, rank] { work(rank); });
  }
  ~fork_join_by_hand() override {
    tell(nullptr, 0);
    for (auto& worker : workers_) worker.join();
  }

  template <class Body>
  void fork(Body body) {
    tell([](const std::byte* given, rank_t rank, line&) { copy_of<Body>(given)(rank); }, body);
    body(0);
    await_all();
  }
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    tell([](const std::byte* given, rank_t rank,
            line& mine) { mine.sum = copy_of<Body>(given)(rank); },
         body);
    pair_of_doubles sum = body(0);
    await_all();
    for (std::size_t rank = 1; rank < lines_.size(); ++rank) sum = sum + lines_[rank].sum;
    return sum;
  }

 private:
  struct line;
  using call = void (*)(const std::byte* body, rank_t rank, line& mine);
  struct alignas(cache_line) line {
    std::atomic<std::uint32_t> turn{0};  // odd: a region is open
    call run = nullptr;                  // null: the end
    std::byte body[sizeof(void*)] = {};
    pair_of_doubles sum;
  };

  template <class Body>
  static Body copy_of(const std::byte* given) {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof(void*));
    alignas(Body) std::byte copy[sizeof(Body)];
    std::memcpy(copy, given, sizeof(Body));
    return *std::launder(reinterpret_cast<Body*>(copy));
  }

  template <class Body>
  void tell(call run, Body body) {
    ++turn_;
    for (std::size_t rank = 1; rank < lines_.size(); ++rank) {
      line& its = lines_[rank];
      its.run = run;
      std::memcpy(its.body, &body, sizeof body);
      // release: publishes the job; pairs with work().
      its.turn.store(turn_, release);
    }
  }
  void await_all() {
    ++turn_;
    for (std::size_t rank = 1; rank < lines_.size(); ++rank) await(lines_[rank], turn_);
  }
  void await(const line& from, std::uint32_t turn) const {
    std::uint32_t polls = 0;
    // acquire: pairs with whoever stores the turn.
    while (from.turn.load(acquire) != turn) {
      if (polls++ < polls_before_yielding_)
        platform::pause();
      else
        sched_yield();
    }
  }
  void work(rank_t rank) {
    line& mine = lines_[rank];
    for (std::uint32_t number = 1;; number += 2) {
      await(mine, number);
      if (mine.run == nullptr) return;
      mine.run(mine.body, rank, mine);
      // release: publishes what the rank did, and its sum; pairs with await_all().
      mine.turn.store(number + 1, release);
    }
  }

  const std::uint32_t polls_before_yielding_;
  std::uint32_t turn_ = 0;
  std::vector<line> lines_;
  std::vector<std::thread> workers_;
};

}  // namespace

std::vector<contender> peer_handwritten() {
  return only_regions<fork_join_by_hand>(
      "fork-join", "a line for each worker, there and back, with the doubles; spins");
}

}  // namespace tutti::bench
