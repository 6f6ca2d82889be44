// SPDX-License-Identifier: Apache-2.0
// The operating system of a simulated machine: turns on a CPU, sleeps, wake-ups, other processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/simulated.hpp"
#include "sim/tests/on_threads.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/support/refusal.hpp"
#include "tutti/barrier/barrier.hpp"

namespace tutti::sim {
namespace {

TEST(System, TakesTurnsOnACpu) {
  const machine m = some_machine(1, 1, 1);
  // A slice for each thread that polls, a switch for each that yields.
  const auto mean = [&](const char* wait) {
    const contender who = barriers({"ticket"}, {wait}).front();
    double sum = 0;
    const simulated_run r = run(m, who, {.threads = 4, .episodes = 20});
    for (const double ns : r.loop) sum += ns;
    return sum / static_cast<double>(r.loop.size());
  };
  EXPECT_NEAR(mean("spin"), 3 * 3e6, 2e6);
  EXPECT_NEAR(mean("yield"), 4 * 1.5e3, 3e3);
}

TEST(System, EndsSleepsAtTheirDeadline) {
  world w(some_machine(1, 2, 1), {});
  simulated_atomic<std::uint32_t> word{0};
  on_threads(w, 1, [&](rank_t) {
    const std::uint64_t start = simulated::now_ns();
    simulated::park(word, 0u, start + 1'000'000);
    EXPECT_NEAR(static_cast<double>(simulated::now_ns() - start), 1e6, 1e4);
  });
}

// The deadline no longer wakes a thread that a call has taken from the word and that waits for its
// turn to be woken.
TEST(System, WakesASleeperOnceAtItsDeadline) {
  machine m = some_machine(1, 3, 1);
  // Up to a quarter more or less: both sleepers are taken after 7.5 to 12.5 us, and the second one
  // is woken after 15 to 25.
  m.futex_wake = picoseconds(10'000);
  alignas(64) simulated_atomic<std::uint32_t> word{0};
  world w(m, {.start_within = 0});
  const sim_time call = w.now() + picoseconds(1e6);
  std::uint32_t runnable = 0;
  std::array<double, 3> woken{};
  on_threads(w, 3, [&](rank_t rank) {
    if (rank == 0) {
      w.work(call - w.now());
      w.wake(&word, 2);
      runnable = w.runnable();
      return;
    }
    w.sleep(&word, sizeof word, 0, call + picoseconds(14'000));
    woken[rank] = nanoseconds(w.now() - call);
    // Still there when the waker looks.
    w.work(picoseconds(100'000));
  });
  EXPECT_EQ(runnable, 3u);
  EXPECT_LT(std::min(woken[1], woken[2]), 13'000 + 5000);
  EXPECT_GT(std::max(woken[1], woken[2]), 15'000 + 5000);
}

// The timer's interrupt comes to the sleeper's own CPU, whoever has run last.
TEST(System, ADeadlineDisplacesAtOnce) {
  machine m = some_machine(1, 2, 1);
  m.displace = picoseconds(4000);
  simulated_atomic<std::uint32_t> word{0};
  bool is_over = false;
  double late = 0;
  world w(m, {.start_within = 0});
  on_threads(w, 2, [&](rank_t rank) {
    if (rank == 1) {
      while (!is_over) w.spend(picoseconds(100));
      return;
    }
    w.start_process(
        [&] {
          while (!is_over) w.work(picoseconds(2.5e6));
        },
        0);
    // The second time it has had less than the process, so that it need not wait for its turn.
    for (int i = 0; i < 2; ++i) {
      const sim_time until = w.now() + picoseconds(1e6);
      w.sleep(&word, sizeof word, 0, until);
      late = nanoseconds(w.now() - until);
    }
    is_over = true;
  });
  EXPECT_NEAR(late, 1500, 200);
}

// The kernel's lock of a futex word.
TEST(System, QueuesFutexCalls) {
  machine m = some_machine(1, 4, 1);
  m.futex_wake = 0;
  m.futex_lock = picoseconds(100);
  simulated_atomic<std::uint32_t> word{0};
  std::array<double, 3> took{};
  world w(m, {.start_within = 0});
  on_threads(w, 3, [&](rank_t rank) {
    const sim_time start = w.now();
    simulated::unpark(word);
    took[rank] = nanoseconds(w.now() - start);
  });
  // Alone, with another that spins, with two.
  std::sort(took.begin(), took.end());
  EXPECT_EQ(took, (std::array<double, 3>{100, 300, 600}));
}

// A thread that works shares its CPU with another process, slice by slice.
TEST(System, SharesACpuWithAnotherProcess) {
  const machine m = some_machine(1, 1, 1);
  world w(m, {.start_within = 0});
  bool is_over = false;
  double took = 0;
  w.run([&] {
    w.start_process(
        [&] {
          while (!is_over) w.work(picoseconds(1e6));
        },
        0);
    const sim_time start = w.now();
    w.work(picoseconds(60e6));
    took = nanoseconds(w.now() - start);
    // It has switched some 20 times to this thread.
    EXPECT_NEAR(nanoseconds(w.processor_time(0)), 60e6 + 20 * 1500, 10 * 1500);
    is_over = true;
  });
  // Half of the CPU is its own; slices are up to a quarter longer or shorter.
  EXPECT_NEAR(took, 2 * 60e6, 6e6);
}

// A thread that sleeps until it is woken displaces one that works. One that yields waits for the
// end of the other's slice.
TEST(System, WokenThreadDisplacesOneThatWorks) {
  machine m = some_machine(1, 2, 1);
  m.displace = picoseconds(4000);
  const auto time_to_run = [&](bool sleeps) {
    alignas(64) simulated_atomic<std::uint32_t> word{0};
    alignas(64) simulated_atomic<std::uint32_t> over{0};
    sim_time woken = 0, ran = 0;
    world w(m, {.start_within = 0});
    w.run([&] {
      w.start([&] {
        w.work(picoseconds(1e6));
        word.store(1, release);
        simulated::unpark(word);
        woken = w.now();
      });
      w.start_process(
          [&] {
            while (over.load(relaxed) == 0) w.work(picoseconds(2.5e6));
          },
          0);
      while (word.load(acquire) == 0) {
        if (sleeps)
          simulated::park(word, 0u, UINT64_MAX);
        else
          simulated::yield();
      }
      ran = w.now();
      over.store(1, relaxed);
    });
    return nanoseconds(ran > woken ? ran - woken : 0);
  };
  EXPECT_GT(time_to_run(true), 4000);
  EXPECT_LT(time_to_run(true), 4000 + 2 * 1500);
  EXPECT_GT(time_to_run(false), 1e6);
}

// How long it takes from a wake-up call until the thread that it wakes runs on another CPU, and
// until the call returns; the sleeper has slept for so long.
struct wake_up_times {
  double runs = 0, returns = 0;
};
wake_up_times time_wake_up(const machine& m, double asleep_ns) {
  alignas(64) simulated_atomic<std::uint32_t> word{0};
  sim_time called = 0, returned = 0, ran = 0;
  world w(m, {.start_within = 0});
  w.run([&] {
    w.start([&] {
      w.work(picoseconds(asleep_ns));
      word.store(1, release);
      called = w.now();
      simulated::unpark(word);
      returned = w.now();
    });
    while (word.load(acquire) == 0) simulated::park(word, 0u, UINT64_MAX);
    ran = w.now();
  });
  return {nanoseconds(ran - called), nanoseconds(returned - called)};
}

TEST(System, AnIdleCpuSleepsMoreDeeplyTheLonger) {
  machine m = some_machine(1, 2, 1);
  const double shallow = time_wake_up(m, 100e3).runs;
  m.deep_wake_up = picoseconds(25'000);
  m.deep_after = picoseconds(200e3);
  // 5 us, 25 us, and about half of the way between them.
  EXPECT_NEAR(time_wake_up(m, 1000).runs, shallow, 500);
  EXPECT_NEAR(time_wake_up(m, 100e3).runs, shallow + 10'000, 500);
  EXPECT_NEAR(time_wake_up(m, 1e6).runs, shallow + 20'000, 1);
}

// An interrupt for another CPU keeps who sends it, and not the thread that it wakes.
TEST(System, TheInterruptOfAWakeUpKeepsItsSender) {
  machine m = some_machine(1, 2, 1);
  const wake_up_times before = time_wake_up(m, 100e3);
  m.wake_interrupt = picoseconds(4000);
  const wake_up_times after = time_wake_up(m, 100e3);
  EXPECT_NEAR(after.runs, before.runs, 500);
  // A system call takes up to a quarter less or more.
  EXPECT_NEAR(after.returns, before.returns + 4000, 1500);
}

// Slices end at the ticks of their CPU: with ticks of 4 ms two threads that poll take turns of 4 ms
// although they ask for less.
TEST(System, EndsSlicesAtTicks) {
  machine m = some_machine(1, 1, 1);
  m.slice = picoseconds(1.4e6);
  const contender who = barriers({"ticket"}, {"spin"}).front();
  const auto median = [&] {
    std::vector<double> loop = run(m, who, {.threads = 2, .episodes = 20}).loop;
    std::sort(loop.begin(), loop.end());
    return loop[loop.size() / 2];
  };
  EXPECT_NEAR(median(), 1.4e6, 0.4e6);
  m.tick = picoseconds(4e6);
  EXPECT_NEAR(median(), 4e6, 0.01e6);
}

// What the timer's interrupt takes is lost to the thread that runs, once in each tick.
TEST(System, TicksTakeTime) {
  machine m = some_machine(1, 1, 1);
  const auto took = [&] {
    world w(m, {.start_within = 0});
    double ns = 0;
    w.run([&] {
      const sim_time start = w.now();
      while (w.now() < start + picoseconds(100e6)) w.spend(picoseconds(1000));
      ns = nanoseconds(w.now() - start);
    });
    return std::pair(ns, w.events());
  };
  const std::uint64_t all = took().second;
  m.tick = picoseconds(4e6);
  m.tick_work = picoseconds(40'000);
  // 25 ticks of 40 us are a millisecond, in which a thousand spends would have had their place.
  EXPECT_NEAR(static_cast<double>(all - took().second), 1000, 100);
}

// A long time pays for every tick that comes before its end, those included that come while earlier
// ones take it longer.
TEST(System, ALongTimePaysForEachOfItsTicks) {
  machine m = some_machine(1, 1, 1);
  m.tick = picoseconds(4e6);
  m.tick_work = picoseconds(40'000);
  world w(m, {.start_within = 0});
  w.run([&] {
    const auto takes = [&](double ns) {
      const sim_time start = w.now();
      w.spend(picoseconds(ns));
      return nanoseconds(w.now() - start) - ns;
    };
    // The first tick is 4 ms after the start, which is at a multiple of them.
    EXPECT_EQ(takes(1e6), 0);
    EXPECT_EQ(takes(100e6), 25 * 40'000);
    // From now 102 ms after the start, in whose last 2 ms there was no tick.
    EXPECT_EQ(takes(1e6), 0);
    EXPECT_EQ(takes(1e6), 40'000);
    // Between two ticks there are 3.96 ms.
    EXPECT_EQ(takes(396e6), 100 * 40'000);
  });
}

// Beside a process that works, each yield costs the process's turn; without one, a system call.
TEST(System, AYieldTakesTheRestOfTheSliceAway) {
  const machine m = some_machine(1, 1, 1);
  const auto time_of_yields = [&](bool beside) {
    world w(m, {.start_within = 0});
    bool is_over = false;
    double ns = 0;
    w.run([&] {
      if (beside)
        w.start_process(
            [&] {
              while (!is_over) w.work(picoseconds(1e6));
            },
            0);
      const sim_time start = w.now();
      for (int i = 0; i < 10; ++i) simulated::yield();
      ns = nanoseconds(w.now() - start);
      is_over = true;
    });
    return ns;
  };
  EXPECT_LT(time_of_yields(false), 10 * 500);
  EXPECT_NEAR(time_of_yields(true), 10 * 3e6, 5e6);
}

// How much of a CPU a thread gets that works beside two processes of one session or of another.
double part_of_cpu(std::uint32_t session) {
  world w(some_machine(1, 1, 1), {.start_within = 0});
  bool is_over = false;
  double part = 0;
  w.run([&] {
    for (int i = 0; i < 2; ++i)
      w.start_process(
          [&] {
            while (!is_over) w.work(picoseconds(1e6));
          },
          0, session);
    const sim_time start = w.now();
    w.work(picoseconds(100e6));
    part = 100e6 / nanoseconds(w.now() - start);
    is_over = true;
  });
  return part;
}

TEST(System, DividesACpuAmongSessionsFirst) {
  EXPECT_NEAR(part_of_cpu(0), 1.0 / 3, 0.02);
  EXPECT_NEAR(part_of_cpu(1), 1.0 / 2, 0.02);
}

// A session that has threads on two CPUs has half of its part on each.
TEST(System, DividesASessionsPartAmongItsCpus) {
  world w(some_machine(1, 2, 1), {.start_within = 0});
  bool is_over = false;
  std::array<double, 2> part{};
  on_threads(w, 2, [&](rank_t rank) {
    if (rank == 0) {
      w.start_process(
          [&] {
            while (!is_over) w.work(picoseconds(1e6));
          },
          0, 1);
      w.start_process(
          [&] {
            while (!is_over) w.work(picoseconds(1e6));
          },
          1, 2);
    }
    const sim_time start = w.now();
    w.work(picoseconds(100e6));
    part[rank] = 100e6 / nanoseconds(w.now() - start);
    if (rank == 0) is_over = true;
  });
  EXPECT_NEAR(part[0], 1.0 / 3, 0.03);
}

// A yield lets threads of the same session run, and not those of another one.
TEST(System, AYieldActsInItsOwnSession) {
  const auto time_of_yields = [](std::uint32_t session) {
    world w(some_machine(1, 1, 1), {.start_within = 0});
    bool is_over = false;
    double ns = 0;
    w.run([&] {
      w.start_process(
          [&] {
            while (!is_over) w.work(picoseconds(1e6));
          },
          0, session);
      // Behind what the start left.
      w.work(picoseconds(1e6));
      const sim_time start = w.now();
      for (int i = 0; i < 10; ++i) simulated::yield();
      ns = nanoseconds(w.now() - start);
      is_over = true;
    });
    return ns;
  };
  EXPECT_GT(time_of_yields(0), 10 * 2e6);
  EXPECT_LT(time_of_yields(1), 4e6);
}

// A real platform reads the quota of its cgroup and counts it in the same way.
TEST(System, CountsAQuotaAsCpus) {
  const machine m = some_machine(1, 8, 1);
  const auto cpus_with = [&](double quota) {
    std::uint32_t seen = 0;
    world w(m, {.quota_cpus = quota});
    w.run([&] { seen = simulated::cpus(); });
    const simulated::making_for here(m, quota);
    EXPECT_EQ(simulated::cpus(), seen) << quota;
    return seen;
  };
  EXPECT_EQ(cpus_with(0), 8u);
  EXPECT_EQ(cpus_with(0.5), 1u);
  EXPECT_EQ(cpus_with(1.5), 2u);
  EXPECT_EQ(cpus_with(12), 8u);
}

// ns that two threads take that each work for so long, with a quota.
double time_with_quota(double cpus, double work_ns) {
  world w(some_machine(1, 2, 1), {.start_within = 0, .quota_cpus = cpus});
  double ns = 0;
  const sim_time start = w.now();
  on_threads(w, 2, [&](rank_t) {
    w.work(picoseconds(work_ns));
    ns = std::max(ns, nanoseconds(w.now() - start));
  });
  return ns;
}

TEST(System, AQuotaStopsThreadsUntilTheNextPeriod) {
  // 60 ms of each period for both: five periods and what is left of the sixth.
  EXPECT_NEAR(time_with_quota(0.6, 165e6), 500e6 + 15e6, 6e6);
  EXPECT_NEAR(time_with_quota(2, 165e6), 165e6, 1e6);
  EXPECT_NEAR(time_with_quota(0, 165e6), 165e6, 1);
  // A thread that polls is stopped, too.
  world w(some_machine(1, 2, 1), {.start_within = 0, .quota_cpus = 1});
  alignas(64) simulated_atomic<std::uint32_t> word{0};
  double ns = 0;
  const sim_time start = w.now();
  on_threads(w, 2, [&](rank_t rank) {
    if (rank == 0) {
      w.work(picoseconds(70e6));
      word.store(1, release);
    } else {
      while (word.load(acquire) == 0) simulated::relax();
      ns = nanoseconds(w.now() - start);
    }
  });
  EXPECT_NEAR(ns, 100e6 + 20e6, 6e6);
}

// ns that one of so many episodes takes under a quota of 1.5 CPUs if one of two threads in turn
// works for 60 us before each, where a wake-up takes 40 us. Twice as many before them find what to
// do.
double episode_under_quota(tutti::patience waits, unsigned episodes) {
  machine m = some_machine(1, 2, 1);
  m.wake_up = picoseconds(40e3);
  world w(m, {.start_within = 0, .quota_cpus = 1.5});
  tutti::barrier<no_completion, simulated, adaptive_wait<simulated>> sync(2, {.patience = waits});
  sim_time begin = 0, end = 0;
  on_threads(w, 2, [&](rank_t rank) {
    for (unsigned i = 0; i < 3 * episodes; ++i) {
      if (i == 2 * episodes && rank == 0) begin = w.now();
      if (rank == i % 2) w.work(picoseconds(60e3));
      sync.arrive_and_wait();
    }
    if (rank == 0) end = w.now();
  });
  return nanoseconds(end - begin) / episodes;
}

TEST(System, BalancedWaitsUseWhatAQuotaHasToSpare) {
  const double balanced = episode_under_quota(patience::balanced(), 5'000);
  // Four periods.
  EXPECT_LT(balanced, 0.97 * episode_under_quota(patience::active(), 5'000));
  EXPECT_LT(balanced, 0.97 * episode_under_quota(patience::passive(), 1'000));
}

TEST(System, FindsDeadlocksUnderAQuota) {
  alignas(64) simulated_atomic<std::uint32_t> word{0};
  for (const bool polls : {false, true}) {
    world w(some_machine(1, 2, 1), {.skips_polls = true, .quota_cpus = 1});
    const std::string said = test::refusal_of<stuck>([&] {
      on_threads(w, 2, [&](rank_t) {
        while (word.load(acquire) == 0)
          polls ? simulated::relax() : simulated::park(word, 0u, UINT64_MAX);
      });
    });
    EXPECT_NE(said.find("all threads wait for each other"), std::string::npos) << said;
  }
}

// A deadlock is found although another process works on.
TEST(System, FindsDeadlocksBesideAnotherProcess) {
  const machine m = some_machine(1, 1, 1);
  alignas(64) simulated_atomic<std::uint32_t> word{0};
  world w(m, {});
  const std::string said = test::refusal_of<stuck>([&] {
    w.run([&] {
      w.start_process(
          [&] {
            for (;;) w.work(picoseconds(1e6));
          },
          0);
      while (word.load(acquire) == 0) simulated::park(word, 0u, UINT64_MAX);
    });
  });
  EXPECT_NE(said.find("all threads wait for each other"), std::string::npos) << said;
}

}  // namespace
}  // namespace tutti::sim
