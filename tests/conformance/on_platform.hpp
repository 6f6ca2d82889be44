// SPDX-License-Identifier: Apache-2.0
// The cases for reductions, teams and events on a platform that is not the native one. They need no
// test framework, so they also run inside the kernel (kernel/programs/check_teams.cpp). A Stage
// tells how:
//
//   memory                 the platform
//   on_threads(n, body)    calls body(rank) in n threads, of which the caller is rank 0, and
//                          returns when all have ended
//   spend(ns)              lets a thread work for some time, in which other threads may run
//   expect(holds, what...) notes a failure, which the parts of `what` describe; any thread may
//                          call it
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/team/on_platform.hpp"

namespace tutti::test {

template <class Stage>
class cases_on_platform {
  using memory = typename Stage::memory;
  using team = basic_team<memory>;
  using member = basic_member<memory>;

 public:
  explicit cases_on_platform(Stage& stage) : stage_(stage) {}

  // ---- reductions

  // n participants get the same bits, those of the tournament of their ranks, in each episode.
  template <class Wait>
  void reduce(rank_t n, std::uint32_t episodes, const char* wait) const {
    const auto part = [](rank_t rank) { return 1.0 / (1.0 + rank); };
    // More than a cache line.
    const auto parts = [&](rank_t rank) {
      std::array<double, 20> all{};
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = part(rank + static_cast<rank_t>(i)) * (rank % 2 == 0 ? 1e16 : -1e16);
      return all;
    };
    for (const auto algorithm :
         {reduction_algorithm::tuttis_choice, reduction_algorithm::pair,
          reduction_algorithm::exchange, reduction_algorithm::tree, reduction_algorithm::counted}) {
      if (algorithm == reduction_algorithm::pair && n != 2) continue;
      const double sum = schedule::fold(0, n, part, plus{});
      const auto sums = schedule::fold(0, n, parts, plus{});
      reduction<double, plus, memory, Wait> one(n, {}, algorithm);
      reduction<std::array<double, 20>, plus, memory, Wait> many(
          n, {}, n == 2 ? reduction_algorithm::tuttis_choice : algorithm);
      stage_.on_threads(n, [&](rank_t rank) {
        for (std::uint32_t i = 0; i < episodes; ++i) {
          // The last to arrive is another one in each episode.
          if (i % n == rank) stage_.spend(1'000);
          stage_.expect(one.all(rank, part(rank)) == sum, "a sum of ", n, " by '",
                        algorithm.name().data(), "', ", wait, ": wrong bits");
          stage_.expect(many.all(rank, parts(rank)) == sums, "twenty sums of ", n, " by '",
                        algorithm.name().data(), "', ", wait, ": wrong bits");
        }
      });
    }
  }

  void reduce_with_a_deadline() const {
    using namespace std::chrono_literals;
    reduction<int, plus, memory> lacking(2);
    stage_.expect(!lacking.all_for(0, 1, 1ms), "a sum was complete without a participant");
    stage_.expect(lacking.missing_ranks(0) == std::vector<rank_t>{1},
                  "the missing participant is another one");
  }

  // ---- teams

  void regions(rank_t threads) const {
    team all(threads);
    stage_.expect(all.size() == threads, "a team of ", threads, " has another size");
    for (int region = 0; region < 5; ++region) {
      std::vector<int> seen(threads);
      all.run([&](member& me) { take_part(me, seen); });
    }
    stage_.expect(all.run_reduce(plus{}, [](member& me) { return me.rank() + 1; }) ==
                      threads * (threads + 1) / 2,
                  "a region of ", threads, " ranks ends with another sum");
    for (rank_t k = 1; k <= threads; k += 3) {
      std::vector<rank_t> sizes(threads);
      all.run(k, [&](member& me) {
        me.barrier();
        sizes[me.rank()] = me.size();
      });
      for (rank_t r = 0; r < threads; ++r)
        stage_.expect(sizes[r] == (r < k ? k : 0), "rank ", r, " of a region of the first ", k);
    }
  }

  void loops(rank_t threads) const {
    team all(threads);
    for (const loop kind : {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks,
                            loop::guided_chunks, loop::adaptive})
      for (const std::size_t count : {1u, 7u, 400u}) {
        std::vector<int> seen(count);
        std::vector<char> helped(threads);
        all.parallel_parts(0, count,
                           [&](member& me, std::size_t from, std::size_t to) {
                             helped[me.thread()] = 1;
                             for (std::size_t i = from; i < to; ++i) {
                               ++seen[i];
                               stage_.spend(50'000);
                             }
                           },
                           {.kind = kind});
        stage_.expect(seen == std::vector<int>(count, 1), "a loop of ", count,
                      " steps left some out, or took some twice");
        // Work of 20 ms is shared.
        stage_.expect(count < 400 || std::count(helped.begin(), helped.end(), 1) > 1,
                      "one thread ran a loop of ", count, " steps alone");
      }
    const auto itself = [](std::size_t i) { return i; };
    stage_.expect(all.parallel_reduce(0, 1000, plus{}, itself) == 499'500u,
                  "a loop has another sum");
    stage_.expect(all.parallel_reduce_any(0, 1000, plus{}, itself) == 499'500u,
                  "a loop has another sum in any order");
    stage_.expect(throws<std::runtime_error>([&] {
                    all.parallel_for(0, 100, [&](std::size_t i) {
                      stage_.spend(50'000);
                      if (i == 50) throw std::runtime_error("50");
                    });
                  }),
                  "what a step of a loop threw was lost");
  }

  void failed_and_late_regions() const {
    using namespace std::chrono_literals;
    team all(5);
    for (int i = 0; i < 3; ++i)
      stage_.expect(throws<std::runtime_error>([&] {
                      all.run([](member& me) {
                        if (me.rank() == 3) throw std::runtime_error("rank 3");
                        me.barrier();
                      });
                    }),
                    "what a rank threw was lost");
    typename memory::template atomic<int> ran{0};
    const std::uint64_t end = memory::now_ns() + 1'500'000'000;
    const timed_result late = all.run_for(500ms, [&](member& me) {
      if (me.rank() == 4)
        while (memory::now_ns() < end) stage_.spend(1'000'000);
      ran.fetch_add(1, relaxed);  // relaxed: read when the region has ended.
    });
    stage_.expect(!late.in_time, "a late region was in time");
    stage_.expect(late.missing_ranks == std::vector<rank_t>{4}, "the late rank is another one");
    stage_.expect(throws<std::logic_error>([&] { all.run([](member&) {}); }),
                  "a region began while a late one was open");
    stage_.expect(all.wait_for(1h).in_time, "a late region did not end");
    // relaxed: the region has ended.
    stage_.expect(ran.load(relaxed) == 5, "a late region left ranks out");
    stage_.expect(all.run_reduce(plus{}, [](member&) { return 1; }) == 5,
                  "a team does not work after a late region");
  }

  // ---- events

  // Thread 0 tells the n - 1 others by each kind of event.
  template <class Wait>
  void notify(rank_t n, std::uint32_t rounds, const char* wait) const {
    basic_eventcount<memory, Wait> turned;
    typename memory::template atomic<std::uint32_t> turn{0};
    basic_event<memory, Wait> ready;
    const event_place begin = ready.now();
    basic_condition_variable<memory, Wait> changed;
    typename memory::mutex mutex;
    int items = 0;
    // Each worker has room for two posts.
    basic_event_workers<memory, Wait> workers(n - 1, 1, 2);
    std::vector<std::uintptr_t> sums(n - 1);
    std::vector<action_id> names;
    const auto add_payload = [](void* to, rank_t, std::uintptr_t payload) {
      *static_cast<std::uintptr_t*>(to) += payload;
    };
    for (auto& sum : sums) names.push_back(workers.add(add_payload, &sum));
    stage_.on_threads(n, [&](rank_t rank) {
      if (rank > 0) {
        event_place seen = begin;
        std::uint32_t told = 0;
        for (std::uint32_t i = 1; i <= rounds; ++i) {
          // acquire: pairs with the notifier's store.
          turned.wait([&]() noexcept { return turn.load(acquire) >= i; });
          if (told < i) told += ready.wait_past(seen);
          ready.wait();
          mutex.lock();
          changed.wait(mutex, [&] { return items > 0; });
          --items;
          mutex.unlock();
        }
        stage_.expect(told == rounds, "of ", rounds, " broadcasts, ", wait, ", came ", told);
        while (sums[rank - 1] < std::uint64_t{rounds} * (rounds + 1) / 2)
          (void)workers.wait(rank - 1);
        using namespace std::chrono_literals;
        stage_.expect(workers.wait_for(rank - 1, 1ms) == 0, "one post too many, ", wait);
        stage_.expect(ready.wait_past_for(seen, 1ms) == 0, "one broadcast too many, ", wait);
        return;
      }
      for (std::uint32_t i = 1; i <= rounds; ++i) {
        if (i % 4 == 0) stage_.spend(20'000);
        turn.store(i, release);  // release: pairs with the waiters' loads.
        turned.notify_all();
        ready.broadcast();
        ready.signal(n - 1);
        for (rank_t w = 0; w < n - 1; ++w) {
          mutex.lock();
          ++items;
          mutex.unlock();
          changed.notify_one();
        }
      }
      for (std::uintptr_t i = 1; i <= rounds; ++i)
        for (rank_t w = 0; w < n - 1; ++w) workers.post(0, w, names[w], i);
    });
    stage_.expect(!ready.try_take(), "a signal is left, ", wait);
    stage_.expect(items == 0, "a waiter took too much, ", wait);
  }

 private:
  void take_part(member& me, std::vector<int>& seen) const {
    const rank_t n = me.size();
    ++seen[me.rank()];
    me.barrier();
    for (rank_t r = 0; r < n; ++r)
      stage_.expect(seen[r] == 1, "a rank of ", n, " left a barrier before rank ", r, " had come");
    stage_.expect(me.reduce(plus{}, 1) == static_cast<int>(n), "a sum of ", n, " ranks");
    stage_.expect(me.inclusive_scan(plus{}, 1) == static_cast<int>(me.rank()) + 1, "a scan of ", n,
                  " ranks");
    std::array<double, 20> large{};
    large.fill(1);
    stage_.expect(me.reduce(plus{}, large)[19] == n, "twenty sums of ", n, " ranks");
    std::vector<int> values(70, 1);
    me.reduce(plus{}, std::span<int>(values));
    stage_.expect(values[69] == static_cast<int>(n), "sums of ranges of ", n, " ranks");
  }

  template <class Exception, class Call>
  static bool throws(Call call) {
    try {
      call();
    } catch (const Exception&) {
      return true;
    }
    return false;
  }

  Stage& stage_;
};

}  // namespace tutti::test
