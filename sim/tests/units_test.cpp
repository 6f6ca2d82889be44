// SPDX-License-Identifier: Apache-2.0
// Barrier units of simulated machines: the link of an accelerator, its lines and messages, and the
// Hardware Barrier Structures.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/driver/harp_protocol.hpp"
#include "sim/accelerator.hpp"
#include "sim/contenders.hpp"
#include "sim/machine_file.hpp"
#include "sim/measure.hpp"
#include "sim/tests/on_threads.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/support/refusal.hpp"

namespace tutti::sim {
namespace {

constexpr double cycle_ns = accelerator_cycle_ns;

machine with_accelerator(unsigned cores) {
  machine m = some_machine(1, cores, 1);
  add_accelerator(m, 8);
  return m;
}

contender named(const std::string& name) { return barriers({name}, {"spin"}).front(); }

double mean(const std::vector<double>& of) {
  double sum = 0;
  for (const double each : of) sum += each;
  return sum / static_cast<double>(of.size());
}
double episode_ns(const machine& m, const std::string& name, rank_t threads) {
  return mean(run(m, named(name), {.threads = threads, .episodes = 40}).loop);
}

// Another thread of a CPU would never arrive while the first one keeps it.
TEST(Units, TakeOneThreadOfEachCpu) {
  machine m = some_machine(1, 4, 1);
  m.has_barrier_units = m.has_interrupts = true;
  for (const char* const name : {"units", "wake_up_central", "wake_up_radix_8"}) {
    EXPECT_EQ(run(m, named(name), {.threads = 4, .episodes = 5}).loop.size(), 5u) << name;
    const std::string said = test::refusal_of<std::invalid_argument>(
        [&] { run(m, named(name), {.threads = 5, .episodes = 5}); });
    EXPECT_NE(said.find("takes one thread of each CPU, and some has 4: not 5 threads"),
              std::string::npos)
        << said;
  }
}

// ---- the accelerator

TEST(Accelerator, PassesTheLinkBothWays) {
  const machine m = with_accelerator(8);
  accelerator unit(m, unit_kind::counting, channel::any);
  world w(m, {.start_within = 0});
  on_threads(w, 1, [&](rank_t) {
    const sim_time start = w.now();
    EXPECT_EQ(unit.read(hardware::id), hardware::id_value);
    const double took = nanoseconds(w.now() - start);
    EXPECT_GT(took, 350);
    EXPECT_LE(took, 350 + cycle_ns);
  });
}

TEST(Accelerator, CarriesSoManyRequestsAtOnce) {
  machine m = with_accelerator(8);
  const auto all_read = [&] {
    accelerator unit(m, unit_kind::counting, channel::any);
    world w(m, {.start_within = 0});
    sim_time start = 0, last = 0;
    on_threads(w, 8, [&](rank_t) {
      if (start == 0) start = w.now();
      unit.read(hardware::id);
      last = w.now();
    });
    return nanoseconds(last - start);
  };
  // The unit takes one in a cycle.
  EXPECT_NEAR(all_read(), 350 + 8 * cycle_ns, cycle_ns);
  m.accelerator.requests = 2;
  EXPECT_NEAR(all_read(), 4 * 350, 4 * 2 * cycle_ns);
}

TEST(Accelerator, ReleasesByEachPath) {
  const machine m = with_accelerator(8);
  for (const char* name : {"harp_counting", "harp_counting_lines", "harp_counting_line",
                           "harp_counting_memory", "harp_counting_memory_line", "harp_mask"})
    for (const rank_t threads : {1u, 3u, 8u}) {
      // run() throws if a rank leaves before all have arrived.
      const double took = episode_ns(m, name, threads);
      EXPECT_GT(took, 300) << name;
      EXPECT_LT(took, 4000) << name;
    }
  // A line tells all, while each rank asks for its sense over the link.
  EXPECT_LT(episode_ns(m, "harp_counting_line", 8), episode_ns(m, "harp_counting", 8));
  EXPECT_LT(episode_ns(m, "harp_counting_line_vl0", 8) + 200,
            episode_ns(m, "harp_counting_line_vh0", 8));
}

TEST(Accelerator, IsTheSameForTheSameSeed) {
  const machine m = with_accelerator(8);
  const auto times = [&](std::uint64_t seed) {
    return run(m, named("harp_counting_memory_line"), {.threads = 8, .seed = seed}).loop;
  };
  EXPECT_EQ(times(3), times(3));
  EXPECT_NE(times(3), times(4));
}

// Two threads send to one address. A message stands for what has come since the line was read
// last.
std::uint64_t messages_of_two(double apart_ns) {
  const machine m = with_accelerator(3);
  accelerator unit(m, unit_kind::counting, channel::any);
  world w(m, {.start_within = 0});
  on_threads(w, 3, [&](rank_t rank) {
    if (rank == 0) {
      // The line is known, and nobody has it.
      unit.send(1);
      return w.spend(picoseconds(20'000));
    }
    w.spend(picoseconds(5000 + (rank == 2 ? apart_ns : 0)));
    unit.send(1);
  });
  return unit.messages() - 1;
}

TEST(Accelerator, LosesMessagesToOneAddress) {
  EXPECT_EQ(messages_of_two(2000), 2u);
  EXPECT_EQ(messages_of_two(0), 1u);
}

// So the driver gives each thread two addresses, and there are eight.
TEST(Accelerator, TakesMessagesOfFour) {
  const machine m = with_accelerator(8);
  EXPECT_GT(episode_ns(m, "harp_counting_message", 4), 300);
  EXPECT_NE(test::refusal_of<std::invalid_argument>([&] {
              episode_ns(m, "harp_counting_message", 5);
            }).find("takes messages of 1 to 4 participants, not of 5"),
            std::string::npos);
  EXPECT_TRUE(is_for_fewer(named("harp_counting_message"), 5, {"hardware"}));
  EXPECT_FALSE(is_for_fewer(named("harp_counting_message"), 5, {"harp_counting_message"}));
  EXPECT_FALSE(is_for_fewer(named("harp_counting"), 500, {"hardware"}));
}

TEST(Accelerator, RefusesWhatItDoesNotHave) {
  const auto said = [&](const machine& m, const std::string& name, rank_t threads) {
    return test::refusal_of<std::invalid_argument>([&] { episode_ns(m, name, threads); });
  };
  EXPECT_NE(said(with_accelerator(16), "harp_counting", 9)
                .find("'counting unit of some' takes 1 to 8 participants, not 9"),
            std::string::npos);
  EXPECT_NE(said(some_machine(1, 4, 1), "harp_counting", 2)
                .find("'harp_counting' needs an accelerator, and the description of some has no "
                      "section [accelerator]"),
            std::string::npos);
}

// A thread that never arrives, and one that waits for an answer for ever.
TEST(Accelerator, SaysWhoWaits) {
  const machine m = with_accelerator(4);
  accelerator unit(m, unit_kind::counting, channel::any);
  hardware::harp_protocol<accelerator::word> barrier(
      unit, 2, {hardware::arrival_path::csr, hardware::departure_path::line});
  world w(m, {.skips_polls = true, .start_within = 0, .most_events = 100'000});
  const std::string said = test::refusal_of<stuck>([&] {
    on_threads(w, 1, [&](rank_t) {
      barrier.arrive(0);
      while (!barrier.may_depart(0)) simulated::relax();
    });
  });
  EXPECT_NE(said.find("thread 0 on CPU 0"), std::string::npos) << said;
}

// ---- structures

// Cycles from the last arrival to the last departure, if all arrive together, and if one is late.
double cycles(const machine& m, const std::string& name, rank_t threads, bool one_is_late) {
  run_plan plan{.threads = threads, .episodes = 20};
  if (one_is_late)
    plan.delay_of = [](rank_t rank, std::uint32_t) {
      return delay{.work_ns = rank == 0 ? 5000.0 : 1.0};
    };
  return mean(run(m, named(name), plan).last_in_last_out) * m.clock_ghz;
}

// The simulation of the RTL measures the same (hardware/hbs/README.md) but for the way, which is
// rounded to whole cycles once more here.
TEST(Structures, TakeTheCyclesOfTheRtl) {
  const machine harp = find_machine("harp");
  EXPECT_NEAR(cycles(harp, "hbs", 28, true), 39, 1.5);
  EXPECT_NEAR(cycles(harp, "hbs", 28, false), 66, 1.5);
  const machine numa4 = find_machine("numa4");
  EXPECT_NEAR(cycles(numa4, "hbs", 64, true), 206, 3);
  EXPECT_NEAR(cycles(numa4, "hbs", 64, false), 223, 3);
  // One message in a cycle.
  EXPECT_NEAR(cycles(harp, "hbs", 14, true), 39, 1.5);
  EXPECT_NEAR(cycles(harp, "hbs", 14, false), 66 - 14, 1.5);
}

TEST(Structures, JoinSockets) {
  machine m = some_machine(4, 3, 1);
  add_structures(m, 20, 500);
  // Only sockets with a thread take part.
  EXPECT_LT(cycles(m, "hbs", 3, false), 2 * 40);
  EXPECT_GT(cycles(m, "hbs", 4, false), 2 * 500);
  EXPECT_LT(cycles(m, "hbs", 12, true), 2 * 550);
  // A line of another node takes 140.
  EXPECT_NEAR(cycles(m, "hbs_lines", 12, true), 2 * (25 + 70 + 25), 6);
  EXPECT_NE(test::refusal_of<std::invalid_argument>([&] {
              cycles(m, "hbs", 13, false);
            }).find("some has 12: not 13 threads"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti::sim
