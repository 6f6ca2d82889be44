// SPDX-License-Identifier: Apache-2.0
// The engine itself: the order of events, the same run for the same seed, skipped polls, deadlocks,
// speed, and all that takes a platform.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/simulated.hpp"
#include "sim/tests/on_threads.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/support/refusal.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/team/on_platform.hpp"

namespace tutti::sim {
namespace {

// ---- runs

TEST(World, RunsTheSameForTheSameSeed) {
  const machine m = some_machine(2, 12, 2);
  for (const contender& who :
       barriers({"pool", "tournament", "mutex", "default"}, {"spin", "park"})) {
    const auto times = [&](std::uint64_t seed) {
      // The seed tells when each thread starts.
      return run(m, who, {.threads = 20, .episodes = 10, .warm_up = 0, .seed = seed})
          .last_in_last_out;
    };
    EXPECT_EQ(times(1), times(1)) << who.name;
    if (who.name == "pool") {
      EXPECT_NE(times(1), times(2)) << who.wait;
    }
  }
}

TEST(World, SkipsPollsWithoutEffectOnTheTimes) {
  // Round numbers bring many events to the same time, and their order decides then.
  machine m = some_machine(2, 16, 2);
  m.hit = 2'137;
  m.transfer = {51'313, 51'313, {139'717}};
  m.invalidate = {48'119, 48'119, {143'831}};
  for (const contender& who : barriers({"all", "papers"}, {"spin"}))
    for (const rank_t n : {2u, 17u, 40u}) {
      // The order in which threads sleep and wake makes the times of a mutex scatter.
      const std::uint64_t seeds = who.name.find("mutex") == std::string::npos ? 3 : 12;
      const auto mean = [&](bool skips) {
        double sum = 0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed)
          for (const double ns :
               run(m, who, {.threads = n, .episodes = 25, .seed = seed, .skips_polls = skips}).loop)
            sum += ns;
        return sum;
      };
      const double all = mean(false);
      EXPECT_NEAR(mean(true), all, 0.03 * all) << who.name << ", n = " << n;
    }
}

TEST(World, NamesWhatEachThreadOfADeadlockWaitsFor) {
  const machine m = some_machine(1, 2, 1);
  for (const bool parks : {false, true}) {
    struct alignas(64) {
      simulated_atomic<std::uint32_t> word{5};
    } line;
    world w(m, {.seed = 3, .skips_polls = true});
    std::string text;
    try {
      on_threads(w, 3, [&](rank_t rank) {
        if (rank == 0) return w.join(1);
        while (line.word.load(simulated::order("test.wait", acquire)) == 5)
          if (parks)
            simulated::park(line.word, 5u, UINT64_MAX);
          else
            simulated::relax();
      });
    } catch (const stuck& e) {
      text = e.what();
    }
    EXPECT_NE(text.find("seed 3"), std::string::npos) << text;
    EXPECT_NE(text.find("thread 0 on CPU 0 waits for thread 1 to end"), std::string::npos) << text;
    const char* const wait = parks ? "sleeps in a futex call" : "polls line";
    for (const char* thread : {"thread 1 on CPU 1 ", "thread 2 on CPU 0 "})
      EXPECT_NE(text.find(std::string(thread) + wait), std::string::npos) << text;
    EXPECT_NE(text.find("test.wait"), std::string::npos) << text;
  }
}

// The way by the distance, and then the entry; interrupts that nobody awaits yet are kept, in their
// order.
TEST(World, InterruptsThreads) {
  machine m = some_machine(1, 2, 1);
  m.has_interrupts = true;
  m.interrupt_way.cluster = picoseconds(300);
  m.interrupt_enter = picoseconds(700);
  std::vector<double> handled;
  world w(m, {.start_within = 0});
  const sim_time start = w.now();
  on_threads(w, 2, [&](rank_t rank) {
    if (rank == 0) {
      for (const double gap : {5'000.0, 2'000.0, 100.0}) {
        w.spend(picoseconds(gap));
        w.interrupt(1, m.interrupt_enter);
      }
      return;
    }
    for (int i = 0; i < 3; ++i) {
      w.await_interrupt();
      handled.push_back(nanoseconds(w.now() - start));
      // The third one comes meanwhile.
      if (i == 1) w.spend(picoseconds(500));
    }
  });
  EXPECT_EQ(handled, (std::vector<double>{6'000, 8'000, 8'500}));
}

TEST(World, SaysThatAThreadWaitsForAnInterrupt) {
  world w(some_machine(1, 1, 1), {});
  const std::string text = test::refusal_of<stuck>([&] { w.run([&] { w.await_interrupt(); }); });
  EXPECT_NE(text.find("thread 0 on CPU 0 waits for an interrupt"), std::string::npos) << text;
}

TEST(World, FindsThreadsThatPollForEver) {
  world w(some_machine(1, 1, 1), {.most_events = 100'000});
  simulated_atomic<int> word{0};
  EXPECT_THROW(on_threads(w, 3,
                          [&](rank_t) {
                            while (word.load(acquire) == 0) simulated::relax();
                          }),
               stuck);
}

// Without that, times would begin again at 0.
TEST(World, GivesUpWhenTheTimePassesItsLimit) {
  machine m = some_machine(1, 2, 1);
  // 1,000 s
  m.atomic = 1'000'000'000'000'000;
  // Alone, a thread moves the clock itself; beside another, events do.
  for (const rank_t n : {1u, 2u}) {
    world w(m, {});
    const std::string said = test::refusal_of<stuck>([&] {
      on_threads(w, n, [](rank_t) {
        simulated_atomic<int> word{0};
        for (int i = 0; i < 20'000; ++i) word.fetch_add(1, relaxed);
      });
    });
    EXPECT_NE(said.find("the simulated time has passed 2^63 ps"), std::string::npos) << said;
  }
}

// The last event of the run would resume a thread whose stores are done.
TEST(World, DescribesAThreadWhoseStoresAreDone) {
  struct alignas(64) {
    simulated_atomic<int> word{0};
  } line;
  const auto run_with = [&](std::uint64_t most) {
    world w(some_machine(1, 1, 1), {.start_within = 0, .most_events = most});
    w.run([&] { line.word.store(7, seq_cst); });
    return w.events();
  };
  const std::uint64_t all = run_with(1000);
  const std::string said = test::refusal_of<stuck>([&] { static_cast<void>(run_with(all - 1)); });
  EXPECT_NE(said.find("thread 0 on CPU 0 runs"), std::string::npos) << said;
}

TEST(World, PassesOnWhatAThreadThrows) {
  world w(some_machine(1, 2, 1), {});
  EXPECT_THROW(on_threads(w, 2,
                          [](rank_t rank) {
                            if (rank == 1) throw std::domain_error("1");
                          }),
               std::domain_error);
}

TEST(World, HandlesThreeMillionEventsASecond) {
  const contender who = barriers({"dissemination"}, {"spin"}).front();
  std::uint64_t events = 0;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const run_plan plan{.threads = 32, .episodes = 1000};
    const simulated_run r = run(some_machine(1, 32, 1), who, plan);
    events += r.events;
    best = std::max(best,
                    static_cast<double>(r.events) / (r.host_ns * (plan.episodes + plan.warm_up)));
  }
  RecordProperty("events_per_ns", std::to_string(best));
  EXPECT_GT(events, 1'000'000u);
#ifdef NDEBUG
  EXPECT_GT(best, 0.003);
#endif
}

// In processor time of the host: 50 ms for an algorithm of O(n log n) transfers, 500 ms for a
// counter on which all meet.
TEST(World, SimulatesAnEpisodeOf384ThreadsInTime) {
  const machine m = some_machine(8, 24, 2);
  for (const auto& [name, most_ms] : {std::pair("dissemination", 50.0),
                                      std::pair("tournament", 50.0), std::pair("central", 500.0)}) {
    const contender who = barriers({name}, {"spin"}).front();
    const simulated_run r = run(m, who, {.threads = 384, .episodes = 10});
    EXPECT_EQ(r.loop.size(), 10u);
    RecordProperty(name, std::to_string(r.host_ns / 1e6));
#ifdef NDEBUG
    EXPECT_LT(r.host_ns / 1e6, most_ms) << name;
#endif
  }
}

// ---- what is there to run

TEST(Contenders, HaveTheChoiceWithTwoWaitPoliciesOnly) {
  const auto said = [](const std::vector<std::string>& names,
                       const std::vector<std::string>& waits) {
    return test::refusal_of<std::invalid_argument>(
        [&] { static_cast<void>(barriers(names, waits)); });
  };
  for (const auto& names : {std::vector<std::string>{"default"}, {"default", "ticket"}}) {
    const std::string text = said(names, {"park"});
    EXPECT_NE(text.find("with the wait policies adaptive and spin only"), std::string::npos)
        << text;
  }
  EXPECT_EQ(barriers({"default"}, {"park", "spin"}).size(), 1u);
  EXPECT_FALSE(barriers({"all"}, {"park"}).empty());
}

// ---- what else takes a platform

TEST(World, RunsTeams) {
  for (const rank_t threads : {1u, 2u, 5u, 20u, 64u}) {
    world w(some_machine(2, 8, 2), {});
    w.run([&] {
      basic_team<simulated> team(threads);
      for (int region = 0; region < 3; ++region) {
        std::vector<int> seen(threads);
        team.run([&](basic_member<simulated>& me) {
          ++seen[me.rank()];
          me.barrier();
          for (rank_t r = 0; r < me.size(); ++r) EXPECT_EQ(seen[r], 1);
          EXPECT_EQ(me.reduce(plus{}, 1), static_cast<int>(threads));
        });
      }
      EXPECT_EQ(team.parallel_reduce(0, 1000, plus{}, [](std::size_t i) { return i; }), 499'500u);
    });
  }
}

TEST(World, RunsReductions) {
  for (const contender& who : reductions({"all"}))
    for (const rank_t n : {1u, 2u, 5u, 24u})
      EXPECT_EQ(run(some_machine(1, 16, 1), who, {.threads = n, .episodes = 5}).loop.size(), 5u);
  for (const rank_t n : {2u, 17u}) {
    const machine m = some_machine(1, 16, 2);
    const simulated::making_for here(m);
    reduction<double, plus, simulated> total(n);
    const auto value = [](rank_t rank) { return 1.0 / (1.0 + rank); };
    const double sum = schedule::fold(0, n, value, plus{});
    world w(m, {});
    on_threads(w, n, [&](rank_t rank) { EXPECT_EQ(total.all(rank, value(rank)), sum); });
  }
}

TEST(World, RunsCommunicators) {
  world w(some_machine(1, 8, 1), {});
  w.run([] {
    basic_team<simulated> team(4);
    basic_communicator<simulated> all(4);
    std::vector<int> received(4);
    team.run([&](basic_member<simulated>& member) {
      const rank_t rank = member.rank();
      auto& me = all[rank];
      me.send_wait((rank + 1) % 4, 10, [](const tutti::received&) {});
      while (me.idle(true) == idle_result::message) {
        me.release(me.recv());
        ++received[rank];
      }
    });
    EXPECT_EQ(received, std::vector<int>(4, 1));
  });
}

}  // namespace
}  // namespace tutti::sim
