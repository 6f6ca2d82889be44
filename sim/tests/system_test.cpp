// SPDX-License-Identifier: Apache-2.0
// The operating system of a simulated machine: turns on a CPU, sleeps, wake-ups, other processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/simulated.hpp"
#include "sim/tests/on_threads.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/support/refusal.hpp"

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
