// SPDX-License-Identifier: Apache-2.0
// The engine itself: the order of events, the same run for the same seed, times of single
// operations, skipped polls, deadlocks, and all that takes a platform.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// ---- times

// ns that one operation takes after `before` has been done by another thread.
template <class Before, class Operation>
double time_of(const machine& m, Before before, Operation operation) {
  double took = 0;
  world w(m, {.start_within = 0});
  const auto body = [&](rank_t rank) {
    if (rank == 0) {
      before();
      return;
    }
    w.spend(picoseconds(10'000));
    const sim_time start = w.now();
    operation();
    took = nanoseconds(w.now() - start);
  };
  on_threads(w, 2, body);
  return took;
}

TEST(World, TakesTheTimesOfTheMachine) {
  const machine m = some_machine(2, 4, 1);
  struct alignas(64) {
    simulated_atomic<int> word{0};
  } line;
  const auto load = [&] { static_cast<void>(line.word.load(relaxed)); };
  const auto add = [&] { line.word.fetch_add(1, relaxed); };
  const auto nothing = [] {};
  EXPECT_EQ(time_of(m, nothing, load), 90);
  EXPECT_EQ(time_of(m, nothing, [&] { load(), load(); }), 92);
  EXPECT_EQ(time_of(m, add, load), 50);
  EXPECT_EQ(time_of(m, load, load), 50);
  EXPECT_EQ(time_of(m, add, add), 58);
  // A store does not wait for the line, a fence does.
  EXPECT_EQ(time_of(m, add, [&] { line.word.store(7, release); }), 2);
  EXPECT_EQ(time_of(m, add, [&] { line.word.store(7, seq_cst); }), 50);
  EXPECT_EQ(time_of(m, add,
                    [&] {
                      line.word.store(7, relaxed);
                      simulated::fence("", seq_cst);
                    }),
            65);
  // The other core's copy must go.
  EXPECT_EQ(time_of(m, load, [&] { load(), add(); }), 50 + 50 + 8);
  machine far = m;
  far.cores = 1;
  EXPECT_EQ(time_of(far, add, load), 140);
}

struct alignas(64) one_line {
  simulated_atomic<int> word{0};
};

TEST(World, CanWaitForStores) {
  machine m = some_machine(2, 4, 1);
  m.waits_for_stores = true;
  one_line line;
  const auto add = [&] { line.word.fetch_add(1, relaxed); };
  EXPECT_EQ(time_of(m, add, [&] { line.word.store(7, release); }), 50);
}

// The more copies, the longer they take to go.
TEST(World, InvalidatesCopiesOneAfterTheOther) {
  machine m = some_machine(1, 8, 1);
  const auto time_of_store = [&](rank_t readers) {
    one_line line;
    double ns = 0;
    world w(m, {.start_within = 0});
    on_threads(w, readers + 1, [&](rank_t rank) {
      if (rank > 0) {
        static_cast<void>(line.word.load(relaxed));
        return;
      }
      w.spend(picoseconds(10'000));
      const sim_time start = w.now();
      line.word.store(7, seq_cst);
      ns = nanoseconds(w.now() - start);
    });
    return ns;
  };
  const double one = time_of_store(1);
  EXPECT_EQ(time_of_store(5), one);
  m.invalidate_gap = picoseconds(3);
  EXPECT_EQ(time_of_store(1), one);
  EXPECT_EQ(time_of_store(5), one + 4 * 3);
}

// A core of 32 bits takes a lock for a counter of 64, and not for one of 32.
TEST(World, HasNarrowCores) {
  machine m = some_machine(1, 8, 1);
  m.waits_for_stores = true;
  const auto time_of = [&](const char* name) {
    std::vector<double> loop =
        run(m, barriers({name}, {"spin"}).front(), {.threads = 8, .episodes = 20}).loop;
    std::sort(loop.begin(), loop.end());
    return loop[loop.size() / 2];
  };
  const double ticket = time_of("ticket"), central = time_of("central");
  m.is_narrow = true;
  EXPECT_GT(time_of("ticket"), 3 * ticket);
  EXPECT_EQ(time_of("central"), central);
  const std::string said = test::refusal_of<std::invalid_argument>(
      [&] { run(m, barriers({"ticket"}, {"park"}).front(), {.threads = 2}); });
  EXPECT_NE(said.find("has no operating system: the only wait policy is spin, not park"),
            std::string::npos)
      << said;
}

// A load-exclusive gets a copy, and the store-exclusive the line.
TEST(World, ChangesByExclusivePairs) {
  machine m = some_machine(1, 16, 1);
  one_line line;
  const auto add = [&] { line.word.fetch_add(1, relaxed); };
  EXPECT_EQ(time_of(m, add, add), 50 + 8);
  const auto all_add = [&](rank_t threads, bool by_pairs) {
    m.exclusive_pairs = by_pairs;
    const int before = line.word.load(relaxed);
    world w(m, {.start_within = 0});
    const sim_time start = w.now();
    on_threads(w, threads, [&](rank_t) { add(); });
    EXPECT_EQ(line.word.load(relaxed), before + static_cast<int>(threads));
    return nanoseconds(w.now() - start);
  };
  m.exclusive_pairs = true;
  // Between the two, the line is busy with its reader for another 10 ns.
  EXPECT_EQ(time_of(m, add, add), 50 + 10 + 50 + 8);
  // Each success makes those fail that wait, and they all load again.
  EXPECT_GT(all_add(16, true), 2 * all_add(16, false));
  EXPECT_GT(all_add(16, true) / all_add(4, true), 1.5 * all_add(16, false) / all_add(4, false));
}

TEST(World, UsesBanksWithoutCaches) {
  machine m = some_machine(2, 4, 1);
  m.banks = 2;
  m.transfer = {picoseconds(10), picoseconds(10), {picoseconds(50)}};
  m.bank_access = picoseconds(4);
  m.bank_atomic = picoseconds(6);
  std::array<one_line, 2> lines;
  const auto load = [&] { static_cast<void>(lines[0].word.load(relaxed)); };
  const auto nothing = [] {};
  // The first line is at the first cluster, and a second load takes as long.
  EXPECT_EQ(time_of(m, nothing, load), 10);
  EXPECT_EQ(time_of(m, nothing, [&] { load(), load(); }), 20);
  EXPECT_EQ(time_of(m, nothing, [&] { lines[0].word.fetch_add(1, relaxed); }), 12);
  // A store does not wait for its way back.
  EXPECT_EQ(time_of(m, nothing, [&] { lines[0].word.store(1, relaxed); }), 7);
  // Requests of one bank wait for each other.
  world w(m, {.start_within = 0});
  std::vector<double> took(4);
  const sim_time start = w.now();
  on_threads(w, 4, [&](rank_t rank) {
    load();
    took[rank] = nanoseconds(w.now() - start);
  });
  std::sort(took.begin(), took.end());
  EXPECT_EQ(took, (std::vector<double>{10, 14, 18, 22}));
}

TEST(World, MeetsInTheUnitOfACluster) {
  machine m = some_machine(2, 2, 1);
  m.has_barrier_units = true;
  m.unit_arrive = picoseconds(30);
  m.unit_leave = picoseconds(20);
  world w(m, {.start_within = 0});
  std::vector<double> left(4);
  const sim_time start = w.now();
  on_threads(w, 4, [&](rank_t rank) {
    w.spend(picoseconds(1000.0 * rank));
    w.meet_in_unit(2);
    left[rank] = nanoseconds(w.now() - start);
  });
  EXPECT_EQ(left, (std::vector<double>{1050, 1050, 3050, 3050}));
  world alone(m, {});
  const std::string text =
      test::refusal_of<stuck>([&] { alone.run([&] { alone.meet_in_unit(2); }); });
  EXPECT_NE(text.find("thread 0 on CPU 0 waits in its cluster's barrier unit, where 1 have"),
            std::string::npos)
      << text;
}

TEST(World, HasSlowerSmallCores) {
  machine m = some_machine(1, 1, 1);
  m.numbering = cpu_numbering::siblings_adjacent;
  m.small_clusters = 1;
  m.small_cores = 1;
  m.small_slower = 1.5;
  one_line mine;
  // The second thread runs on the small core; the first load gets the line.
  EXPECT_EQ(time_of(
                m, [] {},
                [&] {
                  for (int i = 0; i < 3; ++i) static_cast<void>(mine.word.load(relaxed));
                }),
            90 + 2 * 3);
}

TEST(World, ForwardsWhatTheThreadHasStored) {
  const machine m = some_machine(2, 4, 1);
  one_line line;
  int seen = 0;
  const auto store_and_load = [&] {
    line.word.store(7, release);
    seen = line.word.load(relaxed);
  };
  EXPECT_EQ(time_of(
                m, [&] { line.word.fetch_add(1, relaxed); }, store_and_load),
            4);
  EXPECT_EQ(seen, 7);
}

TEST(World, HasSoManyLinesOfStoresOnTheWay) {
  machine m = some_machine(2, 4, 1);
  std::array<one_line, 3> lines;
  const auto all = [&] {
    for (one_line& line : lines) line.word.store(1, release);
  };
  const auto stores = [&](unsigned ahead) {
    m.stores_ahead = ahead;
    return time_of(m, all, [&] {
      all();
      simulated::fence("", seq_cst);
    });
  };
  EXPECT_EQ(stores(1), 3 * 50 + 15);
  EXPECT_EQ(stores(2), 2 * 50 + 15);
  // The third store leaves the thread two hits after the first.
  EXPECT_EQ(stores(3), 4 + 50 + 15);
}

// A loop over lines that came in this order before.
TEST(World, LoadsAheadWhatCameNextBefore) {
  machine m = some_machine(2, 4, 1);
  std::array<one_line, 4> lines;
  const auto loads = [&](unsigned ahead) {
    m.loads_ahead = ahead;
    double second = 0;
    world w(m, {.start_within = 0});
    on_threads(w, 2, [&](rank_t rank) {
      for (int pass = 0; pass < 2; ++pass) {
        w.spend(picoseconds(rank == 0 ? 10'000 : 15'000) + picoseconds(20'000) -
                (w.now() % picoseconds(20'000)));
        const sim_time start = w.now();
        for (one_line& line : lines)
          if (rank == 0)
            line.word.fetch_add(1, relaxed);
          else
            EXPECT_EQ(line.word.load(acquire), pass + 1);
        if (rank == 1) second = nanoseconds(w.now() - start);
      }
    });
    for (one_line& line : lines) line.word.store(0, relaxed);
    return second;
  };
  EXPECT_EQ(loads(1), 4 * 50);
  EXPECT_EQ(loads(2), 2 * 50 + 2 * 2);
  EXPECT_EQ(loads(4), 50 + 3 * 2);
}

// Lines of one directory wait for each other, lines of two do not.
TEST(World, WaitsForTheHomeOfALine) {
  machine m = some_machine(1, 4, 1);
  m.directory_busy = picoseconds(30);
  std::array<one_line, 2> lines;
  const auto slowest = [&] {
    sim_time most = 0;
    world w(m, {.start_within = 0});
    on_threads(w, 3, [&](rank_t rank) {
      if (rank == 0) {
        for (one_line& line : lines) line.word.fetch_add(1, relaxed);
        return;
      }
      w.spend(picoseconds(10'000));
      const sim_time start = w.now();
      static_cast<void>(lines[rank - 1].word.load(relaxed));
      most = std::max(most, w.now() - start);
    });
    return nanoseconds(most);
  };
  // Nobody asks the home inside a cluster whose cache knows its cores' copies.
  EXPECT_EQ(slowest(), 50);
  m.homes_serve_clusters = true;
  EXPECT_EQ(slowest(), 80);
  m.directories = 2;
  EXPECT_EQ(slowest(), 50);
  m = some_machine(4, 1, 1);
  m.directory_busy = picoseconds(30);
  EXPECT_EQ(slowest(), 140 + 30);
  m.homes_in_all_nodes = true;
  EXPECT_EQ(slowest(), 140);
  // Both lines leave the first node.
  m.link_busy = picoseconds(7);
  EXPECT_EQ(slowest(), 140 + 7);
}

TEST(World, SharesACoreBetweenSiblings) {
  machine m = some_machine(1, 1, 2);
  m.sharing = 0.5;
  one_line line;
  double took = 0;
  world w(m, {.start_within = 0});
  on_threads(w, 2, [&](rank_t rank) {
    if (rank == 0) return w.spend(picoseconds(1000));
    static_cast<void>(line.word.load(relaxed));
    for (const int expected : {3, 2}) {
      const sim_time start = w.now();
      static_cast<void>(line.word.load(relaxed));
      took = nanoseconds(w.now() - start);
      EXPECT_EQ(took, expected);
      w.spend(picoseconds(2000));
    }
  });
}

TEST(World, TakesTimeForPlainData) {
  const machine m = some_machine(2, 4, 1);
  struct alignas(64) {
    simulated_plain<std::array<double, 16>> values;
  } data;
  const auto write = [&] { data.values = std::array<double, 16>{1, 2}; };
  const auto read = [&] {
    const std::array<double, 16> all = data.values;
    EXPECT_EQ(all[1], 2);
  };
  // Two lines.
  EXPECT_EQ(time_of(m, write, read), 2 * 50);
  EXPECT_EQ(time_of(m, write, write), 2 * 2);
  EXPECT_EQ(time_of(m, write, [&] { write(), read(); }), 4 * 2);
}

TEST(World, ServesTheNearestFirst) {
  struct alignas(64) {
    simulated_atomic<unsigned> word{0};
  } line;
  for (const bool nearest : {false, true}) {
    machine m = some_machine(2, 8, 1);
    m.numbering = cpu_numbering::nodes_in_turn;
    m.nearest_first = nearest;
    world w(m, {.start_within = 0});
    std::string order;
    on_threads(w, 16, [&](rank_t rank) {
      for (int i = 0; i < 4; ++i) {
        line.word.fetch_add(1, relaxed);
        order += rank % 2 == 0 ? 'a' : 'b';
      }
    });
    std::size_t changes = 0;
    for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] != order[i - 1] ? 1 : 0;
    if (nearest)
      EXPECT_LT(changes, 8u);
    else
      EXPECT_GT(changes, 16u);
  }
}

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
