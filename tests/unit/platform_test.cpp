// SPDX-License-Identifier: Apache-2.0
// Tests the platform layer: topology, cache groups, the CPU's waiting instructions, cores, misuse.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "tutti/platform/across_processes.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/monitor.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace platform = tutti::platform;
using tutti::across_processes, tutti::native, tutti::rank_t;

namespace {

TEST(Topology, DescribesThisMachine) {
  const platform::topology& here = platform::machine();
  EXPECT_GE(here.packages, 1u);
  EXPECT_GE(here.cores, 1u);
  EXPECT_GE(here.cpus, here.cores);
  EXPECT_FALSE(here.allowed.empty());
  EXPECT_LE(here.allowed.size(), here.cpus);
  EXPECT_FALSE(here.model.empty());
  EXPECT_EQ(&here, &platform::machine()) << "detected once";
}

TEST(Topology, CacheGroupsAreDisjointAndAllowed) {
  const platform::topology& here = platform::machine();
  const std::set<unsigned> allowed(here.allowed.begin(), here.allowed.end());
  std::set<unsigned> seen;
  for (const auto& group : here.cache_groups) {
    EXPECT_FALSE(group.empty());
    for (const unsigned cpu : group) {
      EXPECT_TRUE(allowed.count(cpu)) << "CPU " << cpu;
      EXPECT_TRUE(seen.insert(cpu).second) << "CPU " << cpu << " is in two groups";
    }
  }
}

TEST(CacheGroups, SumToTheParticipants) {
  for (rank_t n = 1; n <= 512; ++n) {
    const auto sizes = platform::cache_groups(n);
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 0u), 0) << "an empty group, n = " << n;
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), rank_t{0}), n);
    EXPECT_LE(sizes.size(), std::max<std::size_t>(1, platform::machine().cache_groups.size()));
  }
}

TEST(Monitor, HasANameForEveryKind) {
  using enum platform::monitor_kind;
  EXPECT_STREQ(platform::name_of(none), "none");
  EXPECT_STREQ(platform::name_of(umwait), "umwait");
  EXPECT_STREQ(platform::name_of(mwaitx), "mwaitx");
  EXPECT_STREQ(platform::name_of(wfe), "wfe");
  EXPECT_EQ(platform::monitor(), platform::detect_monitor());
}

// Without the instruction a nap is one pause; it must still return.
TEST(Monitor, NapsEndWithoutAChange) {
  const std::atomic<std::uint32_t> word{0};
  for (int i = 0; i < 100; ++i) platform::nap(word, [] { return false; });
}

TEST(Monitor, NapEndsWhenTheLineChanges) {
  if (platform::monitor() == platform::monitor_kind::none)
    GTEST_SKIP() << "this CPU has none of umwait, mwaitx, wfe";
  std::atomic<std::uint32_t> word{0};
  std::thread napper([&] {
    // acquire: pairs with the store below.
    while (word.load(tutti::acquire) == 0)
      platform::nap(word, [&] { return word.load(tutti::acquire) != 0; });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  word.store(1, tutti::release);
  napper.join();
}

TEST(Cpu, KnowsWhereItRuns) {
  EXPECT_GE(platform::usable_cpus(), 1u);
  EXPECT_LT(platform::current_cpu(), 1u << 20);
}

TEST(CpuHints, SeeTheNameOfAnother) {
  // It begins without a name, as real ones do.
  static platform::cpu_hints core;
  EXPECT_FALSE(core.visited_by_another()) << "the first";
  EXPECT_FALSE(core.visited_by_another()) << "still alone";
  std::thread([] { EXPECT_TRUE(core.visited_by_another()); }).join();
  EXPECT_TRUE(core.visited_by_another());
  EXPECT_FALSE(core.visited_by_another());
}

// A participant that always comes last never waits.
TEST(CpuHints, SeeAnotherThatOnlyWakesThem) {
  static platform::cpu_hints core;
  EXPECT_FALSE(core.visited_by_another());
  std::thread([] { core.note_running(); }).join();
  EXPECT_TRUE(core.visited_by_another());
  EXPECT_FALSE(core.visited_by_another()) << "each note counts once";
  core.note_running();
  EXPECT_FALSE(core.visited_by_another()) << "its own note";
  std::thread([] { core.visited_by_another(); }).join();
  core.note_running();
  EXPECT_TRUE(core.visited_by_another()) << "its own note hides another waiter";
}

// A communicator may be freed, and the table of its node's cores with it.
template <class Memory>
concept notes_while_it_runs = requires {
  Memory::note_running();
};
static_assert(notes_while_it_runs<native>);
static_assert(!notes_while_it_runs<across_processes>, "it would write to a table that is gone");

constexpr std::uint64_t ms = 1'000'000, us = 1'000;

std::uint32_t nobody_tells() noexcept { return 0; }
std::uint32_t only_the_caller() noexcept { return 1; }
std::uint32_t somebody_else_too() noexcept { return 2; }

// A process that stays: it takes slices, one right after the other.
void meet_another_process(platform::cpu_hints& core, std::uint64_t& now) {
  for (int slice = 0; slice < 5; ++slice) {
    EXPECT_FALSE(core.has_other_process());
    const std::uint64_t began = now + us;
    now = began + 3 * ms;
    core.note_foreign_slice(began, now);
  }
}

TEST(CpuHints, TakeOneSliceForWhatItIs) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  for (int slice = 0; slice < 100; ++slice) {
    core.note_foreign_slice(now, now + 3 * ms);
    // Other waiters on this core had given it away before, and report the same slice.
    core.note_foreign_slice(now - us, now + 3 * ms + us);
    core.note_foreign_slice(now - 2 * us, now + 3 * ms + 2 * us);
    EXPECT_FALSE(core.has_other_process());
    now += 10 * ms;
  }
}

// A process that works for 3 ms now and then takes two slices for it where other work waits.
TEST(CpuHints, TakeBurstsOfOtherWorkForWhatTheyAre) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  for (int burst = 0; burst < 1'000; ++burst) {
    now += (burst % 3 == 0 ? 10 : 70) * ms;
    for (int slice = 0; slice < 2; ++slice) {
      core.note_foreign_slice(now, now + 3 * ms / 2);
      now += 3 * ms / 2 + us;
    }
    EXPECT_FALSE(core.has_other_process());
  }
}

TEST(CpuHints, ShunAnotherProcessLongerEachTimeUpToABound) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  EXPECT_FALSE(core.has_other_process());
  meet_another_process(core, now);
  std::uint64_t before = 0, first = 0;
  for (int time = 0; time < 20; ++time) {
    EXPECT_TRUE(core.has_other_process());
    std::uint64_t shunned = 0;
    while (core.is_shunned(now + shunned)) shunned += ms;
    EXPECT_GE(shunned, before);
    EXPECT_LE(shunned, 1'000 * ms) << "the other process may have gone long ago";
    if (first == 0) first = shunned;
    before = shunned;
    // A try after that time: one slice confirms it again.
    now += shunned + 3 * ms;
    core.note_foreign_slice(now - 3 * ms, now);
  }
  EXPECT_GT(first, 0u);
  EXPECT_GT(before, first);
  core.note_short_yield();
  EXPECT_TRUE(core.has_other_process()) << "one short yield may have gone to another participant";
  for (int i = 0; i < 100; ++i) core.note_short_yield();
  EXPECT_FALSE(core.has_other_process());
}

class BesideAnotherProcess : public testing::Test {
 protected:
  BesideAnotherProcess() { meet_another_process(core, now); }

  platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
};

TEST_F(BesideAnotherProcess, LetOneAtATimeTryAgain) {
  EXPECT_FALSE(core.may_try_yielding(now, 4, nobody_tells)) << "too early";
  while (core.is_shunned(now)) now += ms;
  EXPECT_TRUE(core.may_try_yielding(now, 4, nobody_tells));
  EXPECT_FALSE(core.may_try_yielding(now, 4, nobody_tells)) << "somebody is trying";
  EXPECT_TRUE(core.may_try_yielding(now + 100 * ms, 4, nobody_tells));
  core.note_short_yield();
  EXPECT_TRUE(core.may_try_yielding(now + 101 * ms, 4, nobody_tells)) << "that try cost nothing";
}

TEST_F(BesideAnotherProcess, ForgetAtOnceAProcessThatDoesNotWantToRun) {
  EXPECT_FALSE(core.may_try_yielding(now, 1, somebody_else_too));
  EXPECT_FALSE(core.may_try_yielding(now, 1, only_the_caller)) << "not looked at again so soon";
  EXPECT_TRUE(core.may_try_yielding(now + ms, 1, only_the_caller));
  EXPECT_FALSE(core.has_other_process());
}

TEST_F(BesideAnotherProcess, ForgetAProcessIfOnlyParticipantsAreReady) {
  EXPECT_TRUE(core.may_try_yielding(now, 2, somebody_else_too)) << "the other is a participant";
  EXPECT_FALSE(core.has_other_process());
}

// One participant is awake and waits for a file, for instance, while another process runs.
TEST(CpuHints, BelieveTheSystemOnceIfItMisleads) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  unsigned tries = 0, waits = 0;
  const std::uint64_t end = now + 2'000 * ms;
  meet_another_process(core, now);
  for (; now < end; now += ms, ++waits) {
    if (core.has_other_process() && !core.may_try_yielding(now, 2, somebody_else_too)) continue;
    ++tries;
    now += 3 * ms;
    core.note_foreign_slice(now - 3 * ms, now);
  }
  EXPECT_LE(tries, waits / 20) << "each costs a slice";
}

TEST(CpuHints, DoNotTakeWorkOfParticipantsForAnotherProcess) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  for (int turn = 0; turn < 100; ++turn) {
    const std::uint64_t began = now + us;
    now = began + 3 * ms;
    core.note_foreign_slice(began, now, 2 * ms);
    EXPECT_FALSE(core.has_other_process());
  }
  meet_another_process(core, now);
  EXPECT_TRUE(core.has_other_process());
}

// In a session of its own a busy process gets every second slice, whoever yields.
void meet_a_process_in_its_session(platform::cpu_hints& core, std::uint64_t& now, int slices,
                                   bool is_proven) {
  for (int slice = 0; slice < slices; ++slice) {
    now += 3 * ms;
    core.note_foreign_slice(now, now + 3 * ms, 0, is_proven);
    now += 3 * ms;
  }
}

TEST(CpuHints, FindAProcessThatYieldsDoNotReach) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  meet_a_process_in_its_session(core, now, 10, false);
  EXPECT_FALSE(core.is_contested(now)) << "perhaps participants worked";
  EXPECT_TRUE(core.had_slice_lately(now));
  meet_a_process_in_its_session(core, now, 2, true);
  EXPECT_FALSE(core.is_contested(now)) << "two slices may be the work of a process that left";
  meet_a_process_in_its_session(core, now, 4, true);
  EXPECT_TRUE(core.is_contested(now));
  EXPECT_FALSE(core.has_other_process()) << "a yield costs no slice";
  std::uint64_t before = 0;
  for (int time = 0; time < 10; ++time) {
    std::uint64_t contested = 0;
    while (core.is_contested(now + contested)) contested += ms;
    EXPECT_GE(contested, before);
    EXPECT_LE(contested, 600 * ms) << "the other process may have gone long ago";
    before = contested;
    now += contested;
    // Less confirms it than found it.
    meet_a_process_in_its_session(core, now, 3, true);
    EXPECT_TRUE(core.is_contested(now));
  }
  now += 3'000 * ms;
  EXPECT_FALSE(core.had_slice_lately(now));
  meet_a_process_in_its_session(core, now, 3, true);
  EXPECT_FALSE(core.is_contested(now)) << "that was long ago";
}

TEST(CpuHints, AreContestedNoMoreWhenTheOtherProcessHasGone) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  meet_a_process_in_its_session(core, now, 6, true);
  ASSERT_TRUE(core.is_contested(now));
  EXPECT_FALSE(core.is_contest_over(now, 4, only_the_caller)) << "too early";
  now += 11 * ms;
  EXPECT_FALSE(core.is_contest_over(now, 4, nobody_tells));
  EXPECT_FALSE(core.is_contest_over(now, 4, only_the_caller)) << "not asked again so soon";
  now += 11 * ms;
  EXPECT_FALSE(core.is_contest_over(now, 1, somebody_else_too));
  now += 11 * ms;
  EXPECT_TRUE(core.is_contest_over(now, 1, only_the_caller));
  EXPECT_FALSE(core.is_contested(now));
  // The caller's partner waited for a file.
  meet_a_process_in_its_session(core, now, 4, true);
  ASSERT_TRUE(core.is_contested(now));
  while (core.is_contested(now)) {
    EXPECT_FALSE(core.is_contest_over(now, 1, only_the_caller)) << "the system misled";
    now += ms;
  }
}

// Three of them take a hundredth of the core each.
TEST(CpuHints, DoNotMindProcessesThatTakeASliceNowAndThen) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  for (unsigned slice = 0; slice < 1'000; ++slice) {
    now += (slice % 3 == 0 ? 40 : 80) * ms;
    core.note_foreign_slice(now, now + (1 + slice % 3) * ms, 0, true);
    now += 3 * ms;
    EXPECT_FALSE(core.is_contested(now));
  }
}

TEST_F(BesideAnotherProcess, SleepThroughLongWaitsForAWhile) {
  EXPECT_TRUE(core.is_contested(now));
  EXPECT_TRUE(core.may_try_yielding(now, 2, somebody_else_too)) << "the other is a participant";
  EXPECT_FALSE(core.is_contested(now));
}

TEST(CpuHints, KnowForHowLongParticipantsRan) {
  static platform::cpu_hints core;
  std::atomic<int> step{0};
  std::thread participant([&] {
    core.note_wait();
    step = 1;
    while (step == 1) std::this_thread::yield();
    // 5 ms of processor time.
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 200) {
    }
    step = 3;
    while (step == 3) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  core.note_wait();
  const std::uint64_t now = 1'000 * ms;
  EXPECT_EQ(core.times_before_yield(now).count, 0u) << "there is nothing to suspect";
  EXPECT_EQ(core.times_before_yield(now, true).count, 1u);
  core.note_foreign_slice(now - 3 * ms, now);
  const auto before = core.times_before_yield(now);
  EXPECT_EQ(before.count, 1u) << "not the caller itself";
  step = 2;
  while (step != 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(core.ran_since(before), 4 * ms);
  step = 4;
  participant.join();
  // It is gone, or it has gone to another core.
  for (int wait = 0; wait < 100; ++wait) core.note_wait();
  EXPECT_EQ(core.times_before_yield(now).count, 0u);
}

TEST(Platform, AHostThatTakesTheCpuAwayIsNoTask) {
  tutti::platform::cpu_hints core{};
  std::uint64_t now = 1'000 * ms;
  for (int slice = 1; slice <= 8; ++slice, now += 7 * ms)
    core.note_preemption(now - 5 * ms, now, false, false);
  EXPECT_FALSE(core.is_contested(now));
  for (int slice = 1; slice <= 8; ++slice, now += 7 * ms)
    core.note_preemption(now - 5 * ms, now, true, false);
  EXPECT_TRUE(core.is_contested(now));
}

// Returns for which part of the milliseconds after `now` waiters should sleep.
double part_without_polling(const platform::quota_stops& stops, std::uint64_t now) {
  constexpr unsigned samples = 1'000;
  int without = 0;
  for (unsigned i = 0; i < samples; ++i)
    without += stops.forbid_polling(now + i * platform::quota_stops::turn_ns / samples);
  return static_cast<double>(without) / samples;
}

TEST(Platform, EachStopByTheQuotaLeavesLessTimeForPolling) {
  platform::quota_stops stops;
  std::uint64_t now = 1'000 * ms;
  EXPECT_EQ(part_without_polling(stops, now), 0);
  double expected = 0;
  for (int stop = 1; stop <= 8; ++stop, now += 100 * ms) {
    stops.note_stop(now);
    expected += (1 - expected) / 4;
    EXPECT_NEAR(part_without_polling(stops, now), expected, 0.02) << stop;
    expected -= 0.1 / 16;
  }
  EXPECT_NEAR(part_without_polling(stops, now + 3'900 * ms), expected - 0.25, 0.02);
  EXPECT_EQ(part_without_polling(stops, now + 16'000 * ms), 0) << "there was none for a long time";
  // A thread that has read the clock long before another one found the stop.
  stops.note_stop(1);
  EXPECT_GT(part_without_polling(stops, 2), 0.98);
  for (int stop = 1; stop <= 1'000; ++stop) stops.note_stop(now);
  EXPECT_GT(part_without_polling(stops, now), 0.99);
}

// A group that uses two CPUs if its waiters poll and less than its quota if they sleep.
TEST(Platform, StopsByTheQuotaBecomeFewAndShortAndLittleOfTheQuotaIsLeft) {
  constexpr double quota = 1.5, period_ms = 100, polling = 2;
  for (const double sleeping : {0.3, 0.9, 1.4}) {
    platform::quota_stops stops;
    double used = 0, used_later = 0, stopped_later_ms = 0;
    bool is_stopped = false;
    for (std::uint64_t at_ms = 1'000; at_ms < 41'000; ++at_ms) {
      if (at_ms % 100 == 0) {
        if (is_stopped) stops.note_stop(at_ms * ms);
        is_stopped = false;
        used = 0;
      }
      const bool is_later = at_ms >= 11'000;
      if (!is_stopped) {
        const double more = stops.forbid_polling(at_ms * ms) ? sleeping : polling;
        used += more;
        is_stopped = used >= quota * period_ms;
        used_later += is_later ? more : 0;
      } else if (is_later) {
        ++stopped_later_ms;
      }
    }
    EXPECT_LT(stopped_later_ms / 30'000, 0.03) << sleeping;
    EXPECT_GT(used_later / 30'000 / quota, 0.9) << sleeping;
  }
}

TEST(Platform, AStopByTheQuotaIsNoOtherProcess) {
  for (const bool yields : {false, true}) {
    platform::cpu_hints core{};
    std::uint64_t now = 1'000 * ms;
    for (int slice = 1; slice <= 8; ++slice, now += 100 * ms) {
      if (yields)
        core.note_foreign_slice(now - 30 * ms, now, 0, false, true);
      else
        core.note_preemption(now - 30 * ms, now, true, true);
      EXPECT_FALSE(core.has_other_process()) << "a yield does not give the core to another process";
      EXPECT_FALSE(core.is_contested(now)) << "the object of all stops tells when polling is bad";
    }
  }
}

TEST(CpuHints, TellWhenTheQuotaIsScarce) {
  auto& stops = platform::stops_by_quota;
  const std::uint64_t now = 1'000 * ms;
  EXPECT_FALSE(platform::cpu_hints::is_quota_scarce(now));
  stops.note_stop(now);
  for (std::uint64_t at = now; at < now + platform::quota_stops::turn_ns; at += ms)
    EXPECT_EQ(platform::cpu_hints::is_quota_scarce(at), stops.forbid_polling(at));
  // No later test may find this stop.
  std::destroy_at(&stops);
  std::construct_at(&stops);
}

TEST(Platform, KnowsWhetherATaskHasDisplacedTheThread) {
  // Another thread on the same CPU, while this one never gives the CPU back by itself.
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(tutti::platform::process_cpus().front(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    std::atomic<bool> ends = false;
    std::thread other([&] {
      while (!ends.load()) {
      }
    });
    tutti::platform::cpu_hints::was_displaced_by_a_task();
    const auto until = tutti::platform::now_ns() + 500 * ms;
    bool was = false;
    while (!was && tutti::platform::now_ns() < until)
      was = tutti::platform::cpu_hints::was_displaced_by_a_task();
    EXPECT_TRUE(was);
    ends = true;
    other.join();
  }).join();
}

TEST(CpuHints, AreContestedWhileAWaiterIsKeptFromPolling) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  // A busy process alternates with the waiter.
  for (int slice = 1; slice <= 4; ++slice, now += 7 * ms) {
    EXPECT_FALSE(core.is_contested(now)) << "few slices are nothing";
    core.note_preemption(now - 3 * ms, now, true, false);
  }
  EXPECT_TRUE(core.is_contested(now));
  now += 200 * ms;
  EXPECT_FALSE(core.is_contested(now));
  EXPECT_FALSE(core.has_other_process()) << "whoever polls did not yield";
  // What was found is found again, for longer.
  for (int slice = 1; slice <= 4; ++slice, now += 7 * ms)
    core.note_preemption(now - 3 * ms, now, true, false);
  EXPECT_TRUE(core.is_contested(now + 50 * ms));
}

// A burst of other work is forgotten beside processes that take a slice now and then.
TEST(CpuHints, ForgetABurst) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  core.note_preemption(now - 20 * ms, now, true, false);
  EXPECT_TRUE(core.is_contested(now + ms));
  for (int slice = 0; slice < 100; ++slice) {
    now += (slice % 3 == 0 ? 5 : 70) * ms;
    core.note_preemption(now - 2 * ms, now, true, false);
  }
  EXPECT_FALSE(core.is_contested(now + ms));
}

TEST(CpuHints, AreNotContestedByProcessesThatRunNowAndThen) {
  static platform::cpu_hints core;
  std::uint64_t now = 1'000 * ms;
  for (int slice = 0; slice < 1'000; ++slice) {
    // Two at a time sometimes.
    now += (slice % 3 == 0 ? 5 : 70) * ms;
    core.note_preemption(now - 2 * ms, now, true, false);
    EXPECT_FALSE(core.is_contested(now + ms));
  }
}

TEST(Cpu, TellsHowManyTasksWantToRun) {
  if (platform::runnable_tasks() == 0) GTEST_SKIP() << "the system does not tell";
  EXPECT_LT(platform::runnable_tasks(), 1u << 20);
}

TEST(Array, KeepsAlignmentAndDestroys) {
  static int alive = 0;
  struct item {
    item() { ++alive; }
    ~item() { --alive; }
    item(const item&) = delete;
    item& operator=(const item&) = delete;
  };
  {
    tutti::array<tutti::padded<item>> items(3);
    EXPECT_EQ(alive, 3);
    EXPECT_EQ(items.size(), 3u);
    EXPECT_EQ(items.end() - items.begin(), 3);
    for (auto& each : items)
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&each) % tutti::cache_line, 0u);
    tutti::array<item> none(0);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Misuse, TheHandlerHearsWhatAndWhere) {
  static std::string heard;
  const tutti::misuse_handler before = tutti::on_misuse;
  tutti::on_misuse = [](const std::string& what, const tutti::source_place& where) {
    heard = std::string(where.file) + ":" + std::to_string(where.line) + ": " + what;
  };
  const unsigned line = __LINE__ + 1;
  tutti::on_misuse("42 is not 43", tutti::source_place::here());
  tutti::on_misuse = before;
  std::string expected = __FILE__;
  expected.append(":").append(std::to_string(line)).append(": 42 is not 43");
  EXPECT_EQ(heard, expected);
}

TEST(MisuseDeathTest, WithoutAHandlerTheProgramEndsWithTheSentence) {
  EXPECT_EQ(tutti::on_misuse, &tutti::abort_on_misuse);
  EXPECT_DEATH(tutti::on_misuse("42 is not 43", tutti::source_place::here()),
               "platform_test.*: tutti: 42 is not 43");
}

TEST(Misuse, RefuseThrowsASentence) {
  try {
    tutti::refuse("no");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "tutti: no");
  }
}

TEST(SpinMutex, KeepsOthersOut) {
  platform::spin_mutex lock;
  std::uint64_t count = 0;
  const auto work = [&] {
    for (int i = 0; i < 1'000; ++i) {
      lock.lock();
      ++count;
      lock.unlock();
      if (i % 100 == 0) std::this_thread::yield();
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(count, 2'000u);
}

}  // namespace
