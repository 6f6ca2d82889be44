// SPDX-License-Identifier: Apache-2.0
// Runtimes whose faults and costs are known.
#pragma once

#include <barrier>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {

// New threads for each region, with a fault if asked for.
class faulty_regions final : public region_runtime_base<faulty_regions> {
 public:
  enum class fault { none, only_rank_0, does_not_join, drops_a_value };

  explicit faulty_regions(rank_t threads, fault f = fault::none, double delay_ns = 0)
      : threads_(threads), fault_(f), delay_ns_(delay_ns), partial_(threads) {}
  ~faulty_regions() override { join(); }

  template <class Body>
  void fork(Body body) {
    join();
    if (delay_ns_ > 0) spin_for_ns(delay_ns_);
    const rank_t others = fault_ == fault::only_rank_0 ? 1 : threads_;
    for (rank_t rank = 1; rank < others; ++rank) {
      workers_.emplace_back([body, rank] { body(rank); });
    }
    body(0);
    if (fault_ != fault::does_not_join) join();
  }

  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    fork([&](rank_t rank) { partial_[rank] = body(rank); });
    join();
    pair_of_doubles sum;
    const rank_t counted = fault_ == fault::drops_a_value ? threads_ - 1 : threads_;
    for (rank_t rank = 0; rank < counted; ++rank) sum = sum + partial_[rank];
    return sum;
  }

 private:
  void join() {
    for (auto& worker : workers_) worker.join();
    workers_.clear();
  }

  const rank_t threads_;
  const fault fault_;
  const double delay_ns_;
  std::vector<pair_of_doubles> partial_;
  std::vector<std::thread> workers_;
};

// Nobody waits for anybody.
class absent_barrier {
 public:
  explicit absent_barrier(rank_t) {}
  void arrive_and_wait() {}
};

// Right, but for the total of one rank or for the middle of the vectors.
class faulty_collectives final : public collective_runtime {
 public:
  enum class fault { none, counts_one_twice, loses_the_middle };

  explicit faulty_collectives(rank_t threads, fault f) : right_(threads), fault_(f) {}

  void enter(const std::function<void(runtime_rank&)>& body) override {
    right_.enter([&](runtime_rank& me) {
      faulty_rank liar(me, fault_);
      body(liar);
    });
  }

 private:
  class faulty_rank final : public runtime_rank {
   public:
    faulty_rank(runtime_rank& right, fault f)
        : runtime_rank(right.rank()), right_(right), fault_(f) {}
    void barriers(std::uint64_t count) override { right_.barriers(count); }
    void reductions(std::uint64_t count, tutti_checksum& mine) override {
      right_.reductions(count, mine);
      if (fault_ == fault::counts_one_twice && rank() == 1) mine.first_total += 1;
      if (fault_ == fault::loses_the_middle) mine.out[mine.width / 2] -= 1;
    }

   private:
    runtime_rank& right_;
    const fault fault_;
  };

  partial_sums<std::barrier<>> right_;
  const fault fault_;
};

inline contender fake_regions(const std::string& name, decltype(contender::regions) make) {
  return {.family = "fake", .name = name, .regions = std::move(make)};
}

inline contender fake_collectives(const std::string& name, decltype(contender::collectives) make) {
  return {.family = "fake", .name = name, .collectives = std::move(make)};
}

}  // namespace tutti::bench
