// SPDX-License-Identifier: Apache-2.0
// How long single operations of threads take, by the machine's numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/simulated.hpp"
#include "sim/tests/on_threads.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/support/refusal.hpp"

namespace tutti::sim {
namespace {

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

TEST(Times, TakesTheTimesOfTheMachine) {
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

TEST(Times, CanWaitForStores) {
  machine m = some_machine(2, 4, 1);
  m.waits_for_stores = true;
  one_line line;
  const auto add = [&] { line.word.fetch_add(1, relaxed); };
  EXPECT_EQ(time_of(m, add, [&] { line.word.store(7, release); }), 50);
}

// A request goes by the home of its line, which is in the first node, to the core that has it: the
// cycles of the RTL machine (docs/simulated-rtl.md).
TEST(Times, ALineComesByItsHome) {
  machine m = some_machine(3, 2, 1);
  m.transfer = {picoseconds(36), picoseconds(36), {picoseconds(144)}};
  m.invalidate = m.transfer;
  m.homes_serve_clusters = true;
  const auto time_of_load = [&](rank_t from, rank_t to) {
    one_line line;
    double ns = 0;
    world w(m, {.start_within = 0});
    on_threads(w, 6, [&](rank_t rank) {
      if (rank == from) line.word.fetch_add(1, relaxed);
      if (rank != to) return;
      w.spend(picoseconds(10'000));
      const sim_time start = w.now();
      static_cast<void>(line.word.load(relaxed));
      ns = nanoseconds(w.now() - start);
    });
    return ns;
  };
  EXPECT_EQ(time_of_load(1, 0), 36);
  EXPECT_EQ(time_of_load(0, 2), 144);
  EXPECT_EQ(time_of_load(2, 0), 144);
  EXPECT_EQ(time_of_load(3, 2), 144);
  EXPECT_EQ(time_of_load(4, 2), 198);
  m.homes_serve_clusters = false;
  EXPECT_EQ(time_of_load(3, 2), 36);
  EXPECT_EQ(time_of_load(4, 2), 144);
}

// The more copies, the longer they take to go.
TEST(Times, InvalidatesCopiesOneAfterTheOther) {
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
TEST(Times, HasNarrowCores) {
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
TEST(Times, ChangesByExclusivePairs) {
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

TEST(Times, UsesBanksWithoutCaches) {
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

TEST(Times, MeetsInTheUnitOfACluster) {
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

TEST(Times, HasSlowerSmallCores) {
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

TEST(Times, ForwardsWhatTheThreadHasStored) {
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

TEST(Times, HasSoManyLinesOfStoresOnTheWay) {
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
TEST(Times, LoadsAheadWhatCameNextBefore) {
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
TEST(Times, WaitsForTheHomeOfALine) {
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

// Before a device's write the home of the line takes the copies away. The nodes are homes in turn,
// so the first line's is the first node and the second line's the second one.
TEST(Times, ADevicesWriteTakesCopiesAwayFromTheLinesHome) {
  machine m = some_machine(3, 2, 1);
  m.hops = {{0, 1, 2}, {1, 0, 1}, {2, 1, 0}};
  m.invalidate.hops = {picoseconds(140), picoseconds(230)};
  m.homes_in_all_nodes = true;
  const auto time_of_write = [&](std::size_t line, rank_t reader) {
    struct alignas(64) whole_line {
      std::uint64_t word = 0;
    };
    std::array<whole_line, 2> lines;
    sim_time asked = 0, written = 0;
    world w(m, {.start_within = 0});
    on_threads(w, 6, [&](rank_t rank) {
      if (rank == 0) static_cast<void>(w.load(&lines[0].word, 8));
      w.spend(picoseconds(10'000));
      if (rank == reader) static_cast<void>(w.load(&lines[line].word, 8));
      w.spend(picoseconds(10'000));
      if (rank == 5) {
        asked = w.now();
        w.device_write(&lines[line].word, 7, [&] { written = w.now(); });
      }
      w.spend(picoseconds(10'000));
    });
    return nanoseconds(written - asked);
  };
  EXPECT_EQ(time_of_write(0, 1), 50);
  EXPECT_EQ(time_of_write(0, 4), 230);
  EXPECT_EQ(time_of_write(1, 3), 50);
  EXPECT_EQ(time_of_write(1, 1), 140);
  EXPECT_EQ(time_of_write(1, 4), 140);
}

TEST(Times, SharesACoreBetweenSiblings) {
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

TEST(Times, TakesTimeForPlainData) {
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

TEST(Times, ServesTheNearestFirst) {
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

// Two threads of different nodes write their bytes of a line which the others poll, in the node of
// the first.
TEST(Times, CanServeChangesFirst) {
  machine m = some_machine(2, 8, 1);
  m.read_gap = picoseconds(40);
  const auto both_have_written = [&](bool first) {
    m.changes_first = first;
    struct alignas(64) {
      std::array<simulated_atomic<std::uint8_t>, 2> bytes{};
    } line;
    sim_time last = 0;
    world w(m, {.poll_gap = m.hit, .start_within = 0});
    const sim_time start = w.now();
    on_threads(w, 9, [&](rank_t rank) {
      if (rank % 8 != 0) {
        while (line.bytes[0].load(acquire) + line.bytes[1].load(acquire) < 2) simulated::relax();
        return;
      }
      // The others poll by now.
      w.spend(picoseconds(10'000));
      line.bytes[rank / 8].store(1, seq_cst);
      last = std::max(last, w.now() - start);
    });
    return nanoseconds(last);
  };
  // The second writer does not wait for the seven readers, which are nearer to the first.
  EXPECT_LT(both_have_written(true) + 6 * 40, both_have_written(false));
}

}  // namespace
}  // namespace tutti::sim
