// SPDX-License-Identifier: Apache-2.0
// The cost of the adaptive policy under a simulated clock: how late it is and how much processor
// time it takes, for waits of every length, compared with a waiter that never sleeps and one that
// sleeps at once. Nothing here depends on the machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tutti/wait/adaptive.hpp"

namespace {

using tutti::acquire;
using tutti::patience;

constexpr std::uint64_t us = 1'000, ms = 1'000'000;

// One processor and its clock. The waiter's actions take time; the event for which it waits comes
// at a given instant.
struct simulated : tutti::platform::standard_words {
  static std::memory_order order(const char*, std::memory_order o) noexcept { return o; }
  static void fence(const char*, std::memory_order) noexcept {}

  static constexpr std::uint64_t poll_ns = 40, clock_ns = 25, yield_ns = 600;
  // The time from the event to the waiter's next step.
  static inline std::uint64_t wake_up_ns = 20 * us;
  // The processor time of a sleep and its wake-up.
  static constexpr std::uint64_t sleep_ns = 5 * us;

  static inline std::uint64_t now = 0, used = 0, arrival = 0;
  static inline unsigned wake_ups = 0, yields = 0;
  // The time for which a yield gives the core away, instead of yield_ns.
  static inline std::function<std::uint64_t()> lend;

  static void spend(std::uint64_t ns) noexcept { now += ns, used += ns; }
  static void relax() noexcept { spend(poll_ns); }
  static void relax_long() noexcept { spend(poll_ns); }
  static void yield() noexcept {
    ++yields;
    if (!lend) return spend(yield_ns);
    now += lend();
  }
  static std::uint64_t now_ns() noexcept {
    spend(clock_ns);
    return now;
  }
  template <class Word>
  static void park(const Word&, std::uint32_t, std::uint64_t deadline_ns) noexcept {
    used += sleep_ns;
    ++wake_ups;
    now = std::max(now, std::min(arrival, deadline_ns)) + wake_up_ns;
  }
  template <class Word>
  static void unpark(const Word&) noexcept {}

  struct hints : tutti::platform::cpu_hints {
    bool is_shared = false, has_scarce_quota = false;
    bool is_quota_scarce(std::uint64_t) const noexcept { return has_scarce_quota; }
    bool visited_by_another() const noexcept { return is_shared; }
    void note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns, std::uint64_t own_ns,
                            bool is_proven) noexcept {
      cpu_hints::note_foreign_slice(began_ns, now_ns, own_ns, is_proven, false);
    }
    void note_preemption(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
      cpu_hints::note_preemption(began_ns, now_ns, true, false);
    }
    std::uint64_t times_before_yield(std::uint64_t now_ns, bool) const noexcept { return now_ns; }
    std::uint64_t ran_since(std::uint64_t began_ns) const noexcept {
      return static_cast<std::uint64_t>(part_of_participants *
                                        static_cast<double>(simulated::now - began_ns));
    }
    // The system does not say which threads want to run.
    // Participants have used this part of the time of each yield.
    double part_of_participants = 0;
    bool is_contest_over(std::uint64_t now_ns, std::uint32_t awake) noexcept {
      return cpu_hints::is_contest_over(
          now_ns, awake, +[]() noexcept -> std::uint32_t { return 0; });
    }
    bool may_try_yielding(std::uint64_t now_ns, std::uint32_t awake) noexcept {
      return cpu_hints::may_try_yielding(
          now_ns, awake, +[]() noexcept -> std::uint32_t { return 0; });
    }
  };
  static inline hints* the_core = nullptr;
  static hints& core() noexcept { return *the_core; }
};

struct word {
  std::uint32_t load(std::memory_order) const noexcept {
    return simulated::now >= simulated::arrival ? 1 : 0;
  }
};

struct cost {
  double late = 0, used = 0, elapsed = 0, wake_ups = 0;
  cost& operator+=(const cost& c) {
    late += c.late, used += c.used, elapsed += c.elapsed, wake_ups += c.wake_ups;
    return *this;
  }
  cost operator/(double n) const { return {late / n, used / n, elapsed / n, wake_ups / n}; }
  // The cost measure: the time that the wait took plus the processor time that the waiter took.
  double sum() const { return elapsed + used; }
};

using lengths = std::function<std::uint64_t(unsigned)>;

class waiter {
 public:
  explicit waiter(patience p, const lengths& history = {}, tutti::rank_t participants = 2)
      : wait_(participants, p) {
    if (history) wait(history, 100, 1);
  }

  // The next wait begins at this time of each period of trials.
  void go_to_phase_of_trials(std::uint64_t phase_ns) {
    constexpr std::uint64_t period = std::uint64_t{1} << 26;
    now_ += period - (now_ + period / 2) % period + phase_ns;
  }
  void share_the_core(bool yes) { core_.is_shared = yes; }
  simulated::hints& core() { return core_; }

  cost wait(std::uint64_t length) {
    simulated::the_core = &core_;
    simulated::now = now_, simulated::used = 0, simulated::wake_ups = 0;
    simulated::arrival = now_ + length;
    EXPECT_TRUE(wait_.until(wait_state_, word_, acquire,
                            [](std::uint32_t is_there) noexcept { return is_there == 1; }));
    const std::uint64_t start = now_;
    // The waiter's own work before its next wait.
    now_ = simulated::now + 10 * us;
    return {static_cast<double>(simulated::now - simulated::arrival),
            static_cast<double>(simulated::used), static_cast<double>(simulated::now - start),
            static_cast<double>(simulated::wake_ups)};
  }

  // The mean of `measured` waits after `learning` ones.
  cost wait(const lengths& length, unsigned learning, unsigned measured = 200) {
    cost sum;
    for (unsigned i = 0; i < learning; ++i) wait(length(i));
    for (unsigned i = 0; i < measured; ++i) sum += wait(length(learning + i));
    return sum / measured;
  }

 private:
  simulated::hints core_{};
  tutti::adaptive_wait<simulated> wait_;
  tutti::adaptive_wait<simulated>::wait_state wait_state_;
  word word_;
  std::uint64_t now_ = 1'000 * ms;
};

lengths always(std::uint64_t length) {
  return [length](unsigned) { return length; };
}
lengths uniform_within_a_factor_of_2(std::uint64_t length) {
  auto random = std::make_shared<std::mt19937_64>(length);
  return [length, random](unsigned) {
    const double factor =
        std::uniform_real_distribution<double>(1 / std::sqrt(2.0), std::sqrt(2.0))(*random);
    return static_cast<std::uint64_t>(static_cast<double>(length) * factor);
  };
}
lengths nine_short_and_one_long(std::uint64_t length) {
  return [length](unsigned i) { return i % 10 == 9 ? 10 * length : length; };
}

constexpr unsigned most_learning = 20;

// What a waiter may have learned before: nothing, that waits are short, or that they are long.
std::vector<std::pair<std::string, lengths>> histories() {
  return {{"nothing", {}},
          {"short", always(5 * us)},
          {"long", always(10 * ms)},
          {"of 200 us", always(200 * us)}};
}

waiter after(const lengths& history) { return waiter(patience::balanced(), history); }

TEST(Balance, PollsThroughWaitsOfUpTo200us) {
  // For every duration of a wake-up, what is learned by sleeping must lead to polling.
  for (const std::uint64_t wake_up : {1u, 8u, 20u, 50u}) {
    simulated::wake_up_ns = wake_up * us;
    for (const auto& [name, history] : histories())
      for (const std::uint64_t length :
           {1u, 10u, 20u, 40u, 46u, 60u, 91u, 100u, 129u, 182u, 200u}) {
        const cost balanced = after(history).wait(always(length * us), most_learning);
        const cost active = waiter(patience::active()).wait(always(length * us), most_learning);
        EXPECT_LE(balanced.late, 1.5 * active.late + 30) << length << " us after " << name;
        EXPECT_LE(balanced.used, 1.1 * active.used) << length << " us after " << name;
        EXPECT_EQ(balanced.wake_ups, 0) << length << " us after " << name;
      }
  }
  simulated::wake_up_ns = 20 * us;
}

TEST(Balance, SleepsThroughWaitsOf500usAndMore) {
  for (const auto& [name, history] : histories())
    for (const std::uint64_t length : {500u, 1'000u, 2'000u, 5'000u, 10'000u}) {
      const cost balanced = after(history).wait(always(length * us), most_learning);
      EXPECT_LE(balanced.wake_ups, 1) << length << " us after " << name;
      EXPECT_LE(balanced.late, simulated::wake_up_ns + simulated::poll_ns)
          << length << " us after " << name;
      EXPECT_LE(3 * balanced.used, static_cast<double>(length * us))
          << length << " us after " << name;
    }
}

// The whole range, in steps of 1.3, however lengths vary and whatever came before.
TEST(Balance, IsNeverTwiceAsDearAsTheBetterOfPollingAndSleeping) {
  const std::vector<std::pair<std::string, lengths (*)(std::uint64_t)>> shapes = {
      {"constant", always},
      {"uniform within a factor of 2", uniform_within_a_factor_of_2},
      {"nine short, one long", nine_short_and_one_long}};
  for (double length = 1e3; length <= 20e6; length *= 1.3)
    for (const auto& [shape, make] : shapes) {
      const auto ns = static_cast<std::uint64_t>(length);
      const double active = waiter(patience::active()).wait(make(ns), most_learning).sum();
      const double passive = waiter(patience::passive()).wait(make(ns), most_learning).sum();
      for (const auto& [name, history] : histories())
        EXPECT_LE(after(history).wait(make(ns), most_learning).sum(), 2 * std::min(active, passive))
            << shape << ", " << length / 1e3 << " us, after " << name << ": active " << active
            << ", passive " << passive;
    }
}

// The worst case that docs/waiting.md states: whatever the lengths are, a wait takes no more
// processor time than the longest time of polling and a sleep, and is no later than one wake-up.
TEST(Balance, HasAWorstCase) {
  waiter w(patience::balanced());
  std::mt19937_64 random(1);
  double used = 0, least = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double log = std::uniform_real_distribution<double>(std::log(1e2), std::log(1e8))(random);
    const auto length = static_cast<std::uint64_t>(std::exp(log));
    const cost c = w.wait(length);
    EXPECT_LE(c.used, tutti::wait_lengths::longest_budget_ns() + simulated::sleep_ns + 3 * us)
        << length;
    EXPECT_LE(c.late, simulated::wake_up_ns + 2 * us) << length;
    constexpr double sleep = tutti::adaptive_options{}.sleep_cost_ns;
    used += c.used + c.wake_ups * sleep;
    least += std::min<double>(static_cast<double>(length), sleep);
  }
  EXPECT_LE(used, 2.2 * least) << "against a waiter that knows every length in advance";
}

// An adversary that sees what the waiter does: each wait ends just after the waiter has gone to
// sleep.
TEST(Balance, IsNoTwiceWorseThanProphecyAgainstAnAdversary) {
  waiter w(patience::balanced());
  std::uint64_t length = 55 * us;
  double used = 0, least = 0;
  constexpr double sleep = tutti::adaptive_options{}.sleep_cost_ns;
  for (int i = 0; i < 5'000; ++i) {
    const cost c = w.wait(length);
    used += c.used + c.wake_ups * sleep;
    least += std::min<double>(static_cast<double>(length), sleep);
    // If it slept, the next wait is shorter; otherwise waits get longer until it sleeps.
    length = c.wake_ups > 0 ? std::max<std::uint64_t>(length / 2, 2 * us) : length * 3 / 2;
    length = std::min<std::uint64_t>(length, 400 * us);
  }
  EXPECT_LE(used, 2.5 * least);
}

// Two waiters that only wait for each other's wake-ups wait for about 20 us each; they must stop
// doing so.
// One thread of a large group comes late, and the others sleep. All are woken one after the other,
// so the next waits last for hundreds of microseconds.
constexpr std::uint64_t beside_trials = 30 * ms;

TEST(BalanceInAGroup, SleepsOnceAndNotBecauseTheOthersDid) {
  const auto wake_ups = [](tutti::rank_t participants) {
    // Most waits end with the first polls and leave no length behind.
    waiter mine(patience::balanced(), always(9 * us), participants);
    mine.go_to_phase_of_trials(beside_trials);
    mine.wait(always(3 * ms), 4, 1);
    EXPECT_EQ(mine.wait(5 * ms).wake_ups, 1);
    // Learned to sleep at once, while the others are woken.
    EXPECT_EQ(mine.wait(700 * us).wake_ups, 1);
    return mine.wait(700 * us).wake_ups;
  };
  EXPECT_EQ(wake_ups(16), 0);
  EXPECT_EQ(wake_ups(4), 1) << "they are awake after 200 us";
}

// The processor time of a wait, as a part of its length.
double part_used(tutti::rank_t participants, const lengths& length, double mean) {
  waiter mine(patience::balanced(), length, participants);
  return mine.wait(length, 200, 2'000).used / mean;
}

TEST(BalanceInAGroup, SoonGivesUpIfWaitsAreLongForAnotherReason) {
  for (const tutti::rank_t participants : {6u, 16u, 64u}) {
    EXPECT_LE(part_used(participants, always(700 * us), 700. * us), 0.2) << participants;
    EXPECT_LE(part_used(participants, always(2 * ms), 2. * ms), 0.2) << participants;
    const auto in_turn = [](unsigned i) { return i % 2 == 0 ? 20 * us : 5 * ms; };
    EXPECT_LE(part_used(participants, in_turn, 2.5 * ms), 0.2) << participants;
  }
}

TEST(BalanceInAGroup, TriesAtTheSameTimeWhetherWaitsAreLongBecauseAllSleep) {
  // Waking takes longer than expected.
  waiter mine(patience::balanced(), always(1'500 * us), 16);
  mine.go_to_phase_of_trials(beside_trials);
  EXPECT_EQ(mine.wait(1'500 * us).wake_ups, 1);
  mine.go_to_phase_of_trials(100 * us);
  EXPECT_EQ(mine.wait(1'500 * us).wake_ups, 0);
  // Then they are short, and stay so when the trial is over.
  mine.wait(always(20 * us), 40, 1);
  mine.go_to_phase_of_trials(beside_trials);
  EXPECT_EQ(mine.wait(20 * us).wake_ups, 0);
}

TEST(BalanceInAGroup, TriesNotIfWaitsAreSoLongThatTheyHaveAnotherReason) {
  waiter mine(patience::balanced(), always(20 * ms), 16);
  mine.go_to_phase_of_trials(100 * us);
  EXPECT_EQ(mine.wait(1'500 * us).wake_ups, 1);
}

TEST(BalanceInAGroup, SpendsAThirtiethOfItsTimeOnTrials) {
  waiter mine(patience::balanced(), always(2 * ms), 16);
  // 10 us of work follow each wait, so the waits cross the periods.
  const cost sum = mine.wait(always(2 * ms), 0, 2'000);
  EXPECT_GE(sum.wake_ups, 0.9);
  EXPECT_LE(sum.used, 0.04 * 2 * ms + simulated::sleep_ns + 5 * us);
}

TEST(Balance, DoesNotSleepThroughWakeUps) {
  waiter w = after(always(10 * ms));
  unsigned slept = 0;
  for (int i = 0; i < 20; ++i) slept += w.wait(simulated::wake_up_ns + 3 * us).wake_ups > 0 ? 1 : 0;
  EXPECT_LE(slept, 8u);
}

TEST(Balance, SleepsThroughWaitsOf60usWhileTheQuotaIsScarce) {
  waiter w(patience::balanced());
  for (const bool is_scarce : {false, true, false}) {
    w.core().has_scarce_quota = is_scarce;
    EXPECT_EQ(w.wait(always(60 * us), most_learning).wake_ups, is_scarce ? 1 : 0);
    EXPECT_EQ(w.wait(always(10 * us), most_learning).wake_ups, 0);
  }
}

TEST(Balance, KeepsToATimeThatIsChosen) {
  waiter w(patience::of_ns(100 * us));
  EXPECT_EQ(w.wait(always(95 * us), most_learning).wake_ups, 0);
  const cost longer = w.wait(always(2 * ms), most_learning);
  EXPECT_EQ(longer.wake_ups, 1);
  EXPECT_NEAR(longer.used, 100.0 * us + simulated::sleep_ns, 5.0 * us);
}

// --- on a core that participants share

class BalanceOnASharedCore : public testing::Test {
 protected:
  BalanceOnASharedCore() { w.share_the_core(true); }
  ~BalanceOnASharedCore() override { simulated::lend = nullptr; }

  // In each turn of the others one of them begins to wait.
  void each_turn_takes(std::uint64_t ns) {
    simulated::lend = [this, ns] {
      w.core().note_wait();
      return ns;
    };
  }

  waiter w{patience::balanced()};
};

TEST_F(BalanceOnASharedCore, DoesNotYieldForLongWhereEverybodyElseOnlyYields) {
  // Each yield comes back at once.
  simulated::lend = nullptr;
  const cost c = w.wait(always(500 * us), most_learning);
  EXPECT_LE(c.used, 25 * us) << "a partner on another core is late: nothing to do here";
  EXPECT_EQ(c.wake_ups, 1);
}

TEST_F(BalanceOnASharedCore, YieldsToOthersThatHaveLittleWork) {
  each_turn_takes(40 * us);
  EXPECT_EQ(w.wait(always(2 * ms), most_learning).wake_ups, 0);
}

// A sleep costs as much as on a core of one's own, although others work here meanwhile: all wait
// for the one that wakes last.
TEST_F(BalanceOnASharedCore, SleepsBesideOthersThatWorkForLongerThanASleepCosts) {
  for (const std::uint64_t work : {500u, 1000u}) {
    each_turn_takes(work * us);
    const cost c = w.wait(always(work * us), most_learning);
    EXPECT_GE(c.wake_ups, 0.97) << work << " us";
    EXPECT_LE(c.late, simulated::wake_up_ns + work * us / 32) << work << " us";
    // Then the waits are short.
    simulated::lend = nullptr;
    EXPECT_EQ(w.wait(always(15 * us), most_learning).wake_ups, 0) << work << " us";
  }
}

TEST_F(BalanceOnASharedCore, YieldsToOthersThatWorkForLess) {
  for (const std::uint64_t work : {60u, 100u, 200u}) {
    each_turn_takes(work * us);
    EXPECT_EQ(w.wait(always(work * us), most_learning).wake_ups, 0) << work << " us";
  }
}

// A participant on another core is late, so those on this core yield to each other in vain.
TEST_F(BalanceOnASharedCore, YieldsWhileAnotherCoreWorks) {
  simulated::lend = nullptr;
  for (const std::uint64_t work : {60u, 100u, 200u})
    EXPECT_EQ(w.wait(always(work * us), most_learning).wake_ups, 0) << work << " us";
}

// The last participant to arrive never waits, so nothing but the length of its turns shows that it
// uses this core.
TEST_F(BalanceOnASharedCore, DoesNotPollWhileAParticipantThatNeverWaitsWorksThere) {
  simulated::lend = [] { return 60 * us; };
  w.wait(60 * us);
  w.share_the_core(false);
  const cost c = w.wait(always(60 * us), 0, 1'000);
  EXPECT_EQ(c.wake_ups, 0);
  EXPECT_LE(c.used, 2 * us);
}

TEST_F(BalanceOnASharedCore, PollsAgainOnACoreOfItsOwn) {
  each_turn_takes(500 * us);
  EXPECT_GE(w.wait(always(500 * us), most_learning).wake_ups, 0.97);
  simulated::lend = nullptr;
  w.share_the_core(false);
  constexpr unsigned until_trusted = 32;
  w.wait(always(100 * us), until_trusted + most_learning, 1);
  simulated::yields = 0;
  EXPECT_EQ(w.wait(always(100 * us), 0).wake_ups, 0);
  EXPECT_EQ(simulated::yields, 0u);
}

TEST(Balance, KeepsToATimeThatIsChosenOnASharedCoreToo) {
  waiter w(patience::of_ns(10 * us));
  w.share_the_core(true);
  const cost c = w.wait(always(2 * ms), most_learning);
  EXPECT_EQ(c.wake_ups, 1);
  EXPECT_NEAR(c.used, 10.0 * us + simulated::sleep_ns, 5.0 * us);
}

// Light background: now and then a process takes a slice of 3 ms.
TEST_F(BalanceOnASharedCore, TakesOneForeignSliceForWhatItIs) {
  unsigned turn = 0;
  simulated::lend = [&]() -> std::uint64_t {
    w.core().note_wait();
    return ++turn % 1'000 == 0 ? 3 * ms : 20 * us;
  };
  EXPECT_EQ(w.wait(always(100 * us), most_learning, 3'000).wake_ups, 0);
}

// A late participant on the waiter's core works, and the waiter yields to it.
TEST_F(BalanceOnASharedCore, DoesNotTakeALateParticipantForAnotherProcess) {
  w.core().part_of_participants = 0.9;
  for (const std::uint64_t work : {1u, 2u, 5u}) {
    each_turn_takes(work * ms);
    for (int i = 0; i < 100; ++i) {
      w.wait(work * ms);
      EXPECT_FALSE(w.core().has_other_process()) << work << " ms";
    }
    // Then waits are short again.
    each_turn_takes(10 * us);
    EXPECT_EQ(w.wait(always(20 * us), most_learning).wake_ups, 0) << work << " ms";
  }
}

// Turns of 2 ms that participants use are the length of a wait, and no slices of another process.
// Waits of that length sleep.
TEST_F(BalanceOnASharedCore, SleepsBesideAParticipantThatIsUsuallyLate) {
  w.core().part_of_participants = 0.9;
  each_turn_takes(2 * ms);
  const cost c = w.wait(always(1 * ms), most_learning);
  EXPECT_GE(c.wake_ups, 0.99);
  EXPECT_LE(c.late, simulated::wake_up_ns + 2 * us);
}

// A busy process in a session of its own gets every second slice, whoever yields.
TEST_F(BalanceOnASharedCore, SleepsThroughLongWaitsBesideAProcessThatYieldsDoNotReach) {
  std::uint64_t own = 0;
  simulated::lend = [&]() -> std::uint64_t {
    constexpr std::uint64_t turn = 5 * us;
    own += turn;
    if (own < 3 * ms) return turn;
    own = 0;
    return 3 * ms;
  };
  const cost of_long = w.wait(always(200 * us), 5'000, 10'000);
  EXPECT_GE(of_long.wake_ups, 0.9);
  EXPECT_LE(of_long.late, 2 * simulated::wake_up_ns);
  // A sleep costs more than these.
  EXPECT_LE(w.wait(always(10 * us), 5'000, 10'000).wake_ups, 0.01);
}

// A busy process: each yield costs its slice.
TEST_F(BalanceOnASharedCore, SleepsBesideABusyProcess) {
  each_turn_takes(3 * ms);
  simulated::yields = 0;
  const cost beside = w.wait(always(100 * us), most_learning, 10'000);
  EXPECT_GE(beside.wake_ups, 0.99);
  EXPECT_LE(simulated::yields, 60u) << "tries to yield";
  // The background process ends.
  each_turn_takes(20 * us);
  EXPECT_EQ(w.wait(always(100 * us), 5'000, 1'000).wake_ups, 0)
      << "trying without evidence takes a while";
}

}  // namespace
