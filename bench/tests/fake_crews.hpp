// SPDX-License-Identifier: Apache-2.0
// Crews whose faults and costs are known.
#pragma once

#include <barrier>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/crew/providers.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/reduce/partial_sums.hpp"

namespace tutti::bench {

// New threads for each region, with a fault if asked for.
class faulty_regions final : public region_crew_base<faulty_regions> {
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

class right_barrier {
 public:
  explicit right_barrier(rank_t threads) : barrier_(static_cast<std::ptrdiff_t>(threads)) {}
  void wait() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

// Nobody waits for anybody.
class absent_barrier {
 public:
  explicit absent_barrier(rank_t) {}
  void wait() {}
};

// Right, but for the total of one rank or for the middle of the vectors.
class faulty_meetings final : public meeting_crew {
 public:
  enum class fault { none, counts_one_twice, loses_the_middle };

  explicit faulty_meetings(rank_t threads, fault f) : right_(threads), fault_(f) {}

  void enter(const std::function<void(crew_member&)>& body) override {
    right_.enter([&](crew_member& me) {
      faulty_member liar(me, fault_);
      body(liar);
    });
  }

 private:
  class faulty_member final : public crew_member {
   public:
    faulty_member(crew_member& right, fault f)
        : crew_member(right.rank()), right_(right), fault_(f) {}
    void barriers(std::uint64_t count) override { right_.barriers(count); }
    void reductions(std::uint64_t count, tutti_share& mine) override {
      right_.reductions(count, mine);
      if (fault_ == fault::counts_one_twice && rank() == 1) mine.first_total += 1;
      if (fault_ == fault::loses_the_middle) mine.out[mine.width / 2] -= 1;
    }

   private:
    crew_member& right_;
    const fault fault_;
  };

  partial_sums<right_barrier> right_;
  const fault fault_;
};

inline crew_provider fake_regions(const std::string& name, decltype(crew_makers::regions) make) {
  crew_provider p;
  p.family = "fake";
  p.name = name;
  p.has_regions = true;
  p.makers.regions = std::move(make);
  return p;
}

inline crew_provider fake_meetings(const std::string& name, decltype(crew_makers::meetings) make) {
  crew_provider p;
  p.family = "fake";
  p.name = name;
  p.has_meetings = true;
  p.makers.meetings = std::move(make);
  return p;
}

}  // namespace tutti::bench
