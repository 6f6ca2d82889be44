// SPDX-License-Identifier: Apache-2.0
// Each mistake is reported in a build with checks, with its values and the caller's line.
#define TUTTI_CHECKS 1

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/barrier/provider.hpp"
#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/registry.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::barrier;
using tutti::barrier_options;
using tutti::rank_t;

struct misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Misuse : public testing::Test {
 protected:
  void SetUp() override {
    tutti::on_misuse = [](const std::string& what, const tutti::source_place& where) {
      throw misuse(std::string(where.file) + ":" + std::to_string(where.line) + ": " + what);
    };
  }
  void TearDown() override { tutti::on_misuse = tutti::abort_on_misuse; }

  template <class Call>
  static void expect(const std::string& what, unsigned line, Call call) {
    try {
      call();
      FAIL() << "nothing was reported; expected: " << what;
    } catch (const misuse& e) {
      EXPECT_EQ(e.what(), std::string(__FILE__) + ":" + std::to_string(line) + ": " + what);
    }
  }
};

// The macro is on one line, so that __LINE__ is the line of the call.
#define EXPECT_MISUSE(what, call) expect(what, __LINE__, [&] { call; })

TEST_F(Misuse, RankOutOfRange) {
  const std::string what = "rank 3 is out of range for a barrier of 3 participants (ranks 0 to 2)";
  for (const char* algorithm : {"", "flags"}) {
    barrier sync(3, barrier_options{.algorithm = algorithm});
    EXPECT_MISUSE(what, sync.arrive_and_wait(3));
    EXPECT_MISUSE(what, (void)sync.arrive_and_wait_for(3, 1ms));
    EXPECT_MISUSE(what, (void)sync.arrive_and_wait_until(3, std::chrono::steady_clock::now()));
  }
  barrier sync(3);
  EXPECT_MISUSE(what, (void)sync.arrive_as(3));
  EXPECT_MISUSE(what, sync.arrive_and_drop_as(3));
  EXPECT_MISUSE("rank 4294967295 is out of range for a barrier of 3 participants (ranks 0 to 2)",
                sync.arrive_and_wait(~rank_t{0}));
}

TEST_F(Misuse, ArrivingWhereNobodyIsExpected) {
  barrier sync(0);
  EXPECT_MISUSE("1 threads are inside a barrier of 0 participants", sync.arrive_and_wait());
  EXPECT_MISUSE("arrive(1) on a barrier of 0 participants", (void)sync.arrive());
}

TEST_F(Misuse, RankTwiceInAPhase) {
  for (const rank_t few : {0u, 5u}) {
    barrier sync(3, barrier_options{.few = few});
    for (const rank_t rank : {0u, 1u, 2u}) (void)sync.arrive_as(rank);
    (void)sync.arrive_as(1);
    EXPECT_MISUSE("rank 1 arrived twice in phase 1", (void)sync.arrive_as(1));
  }
  barrier sync(3);
  (void)sync.arrive_as(0);
  EXPECT_MISUSE("rank 0 arrived twice in phase 0", (void)sync.arrive_and_wait_for(0, 1ms));
}

// The barrier has had many phases without ranks, or without this rank.
TEST_F(Misuse, IsNotARankThatComesAfterManyPhases) {
  tutti::misuse_checks<tutti::native> checks(2, tutti::call_site::here());
  tutti::arrival_record<tutti::native, int> record;
  for (std::uint64_t phase = 1; phase < std::uint64_t{1} << 62; phase *= 2) {
    EXPECT_NO_THROW(checks.check_arrival(1, record, phase, tutti::call_site::here())) << phase;
    EXPECT_NO_THROW(checks.check_arrival(1, record, phase + 5, tutti::call_site::here())) << phase;
    record.note_arrival(phase);
    const std::string twice = "rank 1 arrived twice in phase " + std::to_string(phase);
    EXPECT_MISUSE(twice, checks.check_arrival(1, record, phase, tutti::call_site::here()));
  }
}

TEST_F(Misuse, ARankThatHasDropped) {
  barrier sync(3);
  sync.arrive_and_drop_as(2);
  EXPECT_MISUSE("rank 2 arrived after it had dropped", (void)sync.arrive_as(2));
}

TEST_F(Misuse, ArrivalsThatCanNeverBeRight) {
  barrier sync(3);
  EXPECT_MISUSE("arrive(0) on a barrier of 3 participants", (void)sync.arrive(0));
  EXPECT_MISUSE("arrive(-1) on a barrier of 3 participants", (void)sync.arrive(-1));
  EXPECT_MISUSE("arrive(4) on a barrier of 3 participants", (void)sync.arrive(4));
  EXPECT_NO_THROW((void)sync.arrive(3));
}

TEST_F(Misuse, MoreArrivalsThanThePhaseLacks) {
  barrier sync(3);
  (void)sync.arrive(2);
  EXPECT_MISUSE("arrive(2) in a phase that lacks 1 arrival", (void)sync.arrive(2));
  (void)sync.arrive();
  EXPECT_NO_THROW((void)sync.arrive(2));
  // Five participants without a completion are counted by tickets too; six by stripes.
  for (const int n : {5, 6}) {
    barrier many(n, barrier_options{.few = 5});
    (void)many.arrive(n - 1);
    EXPECT_MISUSE("arrive(3) in a phase that lacks 1 arrival", (void)many.arrive(3));
    EXPECT_NO_THROW((void)many.arrive());
  }
}

// Two participants wait for a third; two more come in before it.
TEST_F(Misuse, MoreThreadsInsideThanParticipants) {
  barrier sync(2);
  std::atomic<int> inside{0};
  const auto wait_late = [&] {
    ++inside;
    (void)sync.wait_for(7, 300ms);  // a phase that never comes
  };
  std::thread one(wait_late), two(wait_late);
  while (inside < 2) std::this_thread::yield();
  std::this_thread::sleep_for(30ms);
  EXPECT_MISUSE("3 threads are inside a barrier of 2 participants", sync.arrive_and_wait());
  EXPECT_MISUSE("3 threads are inside a barrier of 2 participants", sync.arrive_and_wait(1));
  one.join();
  two.join();
  // The refused ones are not inside, so the barrier can be used and destroyed.
  EXPECT_FALSE(sync.arrive_and_wait_for(0, 1ms));
}

// A thread waits in this way, and then until it may go on, as if it were preempted.
struct held_up : tutti::adaptive_wait<> {
  static inline thread_local bool is_next = false;
  static inline std::atomic<bool> is_here, may_go;
  using adaptive_wait::adaptive_wait;
  template <class State, class Word, class Reached, class Deadline = tutti::no_deadline>
  bool until(State& state, const Word& word, std::memory_order order, Reached reached,
             Deadline deadline = {}) {
    const bool in_time = adaptive_wait::until(state, word, order, reached, deadline);
    if (std::exchange(is_next, false)) {
      is_here = true;
      while (!may_go) std::this_thread::yield();
    }
    return in_time;
  }
};

// Other threads meet in the next phase before a participant has returned from the last one.
TEST_F(Misuse, IsNotAThreadThatReturnsLate) {
  for (const rank_t few : {0u, 5u}) {
    held_up::is_here = held_up::may_go = false;
    tutti::barrier<tutti::no_completion, tutti::native, held_up> sync(2,
                                                                      barrier_options{.few = few});
    std::thread late([&] {
      auto token = sync.arrive();
      held_up::is_next = true;
      sync.wait(std::move(token));
    });
    sync.arrive_and_wait();
    while (!held_up::is_here) std::this_thread::yield();
    std::thread other([&] {
      for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(sync.arrive_and_wait());
    });
    for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(sync.arrive_and_wait());
    other.join();
    held_up::may_go = true;
    late.join();
  }
}

// A participant waits for a phase that has ended while all arrive in the next one.
TEST_F(Misuse, IsNotAWaitForAPhaseThatHasEnded) {
  barrier sync(2);
  auto first = sync.arrive();
  const auto second = sync.arrive();
  std::atomic<bool> stop{false};
  std::thread waiter([&] {
    while (!stop) EXPECT_TRUE(sync.wait_for(second.phase(), 1s));
  });
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW(sync.arrive_and_wait());
  });
  for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW(sync.arrive_and_wait());
  other.join();
  stop = true;
  waiter.join();
  sync.wait(std::move(first));
}

TEST_F(Misuse, AHandlerThatReturnsLetsTheProgramGoOn) {
  static std::atomic<int> reports;
  reports = 0;
  tutti::on_misuse = [](const std::string&, const tutti::source_place&) { ++reports; };
  barrier sync(2);
  (void)sync.arrive_as(0);
  (void)sync.arrive_as(0);
  EXPECT_EQ(reports, 1);
  (void)sync.arrive(2);
  EXPECT_EQ(reports, 1);
}

void destroy_under_a_waiter() {
  auto* sync = new barrier(2);
  std::atomic<bool> coming{false};
  std::thread waiter([&] {
    coming = true;
    sync->arrive_and_wait();
  });
  while (!coming) std::this_thread::yield();
  std::this_thread::sleep_for(50ms);
  delete sync;
}

TEST(MisuseDeathTest, DestroyedUnderAWaiter) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      destroy_under_a_waiter(),
      "misuse_test.cpp:[0-9]+: tutti: a barrier is destroyed while 1 of its 2 participants wait");
}

TEST(MisuseDeathTest, WithoutAHandlerTheProgramEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(barrier(2).arrive_and_wait(2),
               "misuse_test.cpp:[0-9]+: tutti: rank 2 is out of range for a barrier of 2");
}

// Every build refuses these.
template <class Call>
void expect_refused(const std::string& what, Call call) {
  EXPECT_EQ(tutti::test::refusal_of<std::invalid_argument>(call), "tutti: " + what);
}

TEST(Refused, CountsOfParticipants) {
  const std::string some = "a barrier is for 1 to 65535 participants, not ";
  const std::string range = "a barrier is for 0 to 65535 participants, not ";
  for (const std::ptrdiff_t n :
       {std::ptrdiff_t{-1}, PTRDIFF_MIN, barrier<>::max() + 1, PTRDIFF_MAX}) {
    expect_refused(range + std::to_string(n), [n] { barrier<> sync(n); });
    expect_refused(range + std::to_string(n), [n] { barrier sync(n, []() noexcept {}); });
    expect_refused(range + std::to_string(n),
                   [n] { barrier<> unchecked(n, tutti::barrier_options{}, tutti::call_site{}); });
  }
  for (const rank_t n : {0u, 65536u, ~0u})
    expect_refused(some + std::to_string(n), [n] { tutti::make_barrier("ticket", n); });
  EXPECT_EQ(barrier<>(barrier<>::max()).max(), 65535);
}

TEST(Refused, UnknownNames) {
  std::string known = "default, default_rankless";
  for (const auto& info : tutti::algorithms) known += ", " + std::string(info.name);
  const std::string algorithm = "unknown barrier algorithm 'disemination' (known: " + known + ")";
  expect_refused(algorithm, [] { tutti::make_barrier("disemination", 2); });
  expect_refused(algorithm, [] { barrier sync(2, barrier_options{.algorithm = "disemination"}); });

  const std::string waits = tutti::detail::names_of(tutti::wait_policies);
  EXPECT_NE(waits.find("adaptive, spin, yield, park, monitor"), std::string::npos) << waits;
  const std::string wait = "unknown wait policy 'busy' (known: " + waits + ")";
  expect_refused(wait, [] { tutti::make_barrier("flags", 2, "busy"); });
  expect_refused(wait,
                 [] { barrier sync(2, barrier_options{.algorithm = "flags", .wait = "busy"}); });
  expect_refused("unknown wait policy '' (known: " + waits + ")",
                 [] { tutti::make_barrier("flags", 2, ""); });
}

TEST(Refused, ProvidersThatDoNotFit) {
  const auto other = [](rank_t) { return tutti::make_barrier("flags", 2); };
  expect_refused("barrier algorithm 'mcs' belongs to the registry: the provider needs another name",
                 [&] { tutti::add_barrier_provider("mcs", other); });
  expect_refused(
      "barrier algorithm 'default' belongs to the registry: the provider needs another name",
      [&] { tutti::add_barrier_provider("default", other); });
  expect_refused("a barrier provider needs a name and a function",
                 [&] { tutti::add_barrier_provider("", other); });
  expect_refused("a barrier provider needs a name and a function",
                 [] { tutti::add_barrier_provider("mine", nullptr); });
  tutti::add_barrier_provider("mine", other);
  expect_refused("a barrier provider 'mine' exists already",
                 [&] { tutti::add_barrier_provider("mine", other); });
  EXPECT_EQ(tutti::make_barrier("mine", 2)->participants(), 2u);
  expect_refused("the provider of 'mine' made no barrier for 3 participants",
                 [] { tutti::make_barrier("mine", 3); });
  expect_refused("the provider of 'mine' decides how to wait: it takes no wait policy 'park'",
                 [] { tutti::make_barrier("mine", 2, "park"); });
  tutti::remove_barrier_provider("mine");
  tutti::remove_barrier_provider("mine");
  EXPECT_THROW(tutti::make_barrier("mine", 2), std::invalid_argument);
}

TEST(Refused, PairsThatDoNotGoTogether) {
  expect_refused("algorithm 'default' always waits adaptively, not by 'spin'",
                 [] { tutti::make_barrier("default", 2, "spin"); });
  expect_refused("algorithm 'flags' cannot run a completion function", [] {
    barrier sync(
        2, []() noexcept {}, barrier_options{.algorithm = "flags"});
  });
  expect_refused("arrive: a barrier with a named algorithm has only arrive_and_wait", [] {
    barrier sync(2, barrier_options{.algorithm = "flags"});
    (void)sync.arrive();
  });
  // Otherwise a wait policy without an algorithm would be ignored silently.
  expect_refused(
      "wait policy 'spin' needs a named algorithm: tutti's choice always waits adaptively",
      [] { barrier sync(2, barrier_options{.wait = "spin"}); });
}

// A later thread may have the memory of one that has ended, and it is another participant all the
// same.
TEST(Refused, AThreadThatComesAfterTheParticipantsHaveEnded) {
  barrier sync(2, barrier_options{.algorithm = "flags"});
  {
    const std::jthread one([&] { sync.arrive_and_wait(); }), other([&] { sync.arrive_and_wait(); });
  }
  for (int i = 0; i < 4; ++i)
    std::thread([&] {
      expect_refused(
          "algorithm 'flags' needs the same 2 threads in every episode; another thread arrived "
          "without a rank",
          [&] { sync.arrive_and_wait(); });
    }).join();
}

TEST(Refused, ThreadsWithoutRanksWhereRanksCount) {
  const auto sync = tutti::make_barrier("mcs", 1);
  EXPECT_FALSE(sync->is_anonymous());
  const std::string what =
      "this algorithm needs the same participants in every episode: arrive with a rank";
  expect_refused(what, [&] { sync->arrive_and_wait_without_rank(); });
  rank_t missing = 0;
  expect_refused(what,
                 [&] { (void)sync->arrive_and_wait_without_rank(tutti::deadline(0), missing); });
  sync->arrive_and_wait(0);
  EXPECT_TRUE(tutti::make_barrier("pool", 1)->is_anonymous());
}

TEST(Refused, AWaitPolicyThatThisMachineLacks) {
  for (const auto& policy : tutti::wait_policies) {
    if (policy.available()) continue;
    expect_refused(
        "wait policy '" + std::string(policy.name) + "' needs an instruction that this CPU lacks",
        [&] { tutti::make_barrier("flags", 2, policy.name); });
    return;
  }
  GTEST_SKIP() << "this machine has every wait policy";
}

// ---- events: each mistake, and the same calls without it

TEST_F(Misuse, StepsOfAnEventcountWithoutPreparation) {
  tutti::eventcount event;
  const auto key = event.prepare_wait();
  event.cancel_wait(key);
  const std::string what = "a wait on an eventcount ends that no prepare_wait() began";
  EXPECT_MISUSE(what, event.cancel_wait(key));
  EXPECT_MISUSE(what, event.commit_wait(key));
  EXPECT_MISUSE(what, (void)event.commit_wait(key, tutti::deadline_after(1ms)));
}

TEST_F(Misuse, EventDestroyedUnderAWaiter) {
  static std::string reported;
  tutti::on_misuse = [](const std::string& what, const tutti::source_place&) { reported = what; };
  {
    tutti::eventcount event;
    event.cancel_wait(event.prepare_wait());
  }
  EXPECT_EQ(reported, "");
  {
    tutti::eventcount event;
    (void)event.prepare_wait();
  }
  EXPECT_EQ(reported, "an eventcount is destroyed while 1 threads wait for it");
}

TEST_F(Misuse, WaitWithoutTheLock) {
  std::mutex mutex;
  tutti::condition_variable changed;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(changed.wait_for(lock, 1ms));
  lock.unlock();
  const std::string what = "a wait for a condition variable with a lock that is not held";
  EXPECT_MISUSE(what, changed.wait(lock));
  EXPECT_MISUSE(what, changed.wait(lock, [] { return true; }));
  EXPECT_MISUSE(what, (void)changed.wait_for(lock, 1ms));
}

TEST_F(Misuse, WorkerOrSenderOutOfRange) {
  tutti::event_workers all(2, 3);
  EXPECT_EQ(all.poll(1), 0u);
  const std::string no_worker = "worker 2 is out of range for 2 workers";
  const std::string no_sender = "sender 3 is out of range for 3 senders";
  EXPECT_MISUSE(no_worker, (void)all.poll(2));
  EXPECT_MISUSE(no_worker, (void)all.wait_for(2, 1ms));
  EXPECT_MISUSE(no_worker, all.post(0, 2, 0, 0));
  EXPECT_MISUSE(no_sender, all.post(3, 0, 0, 0));
  EXPECT_MISUSE(no_sender, (void)all.try_post(3, 0, 0, 0));
  EXPECT_MISUSE(no_sender, all.as_sender(3).raise(0, 0, 0));
}

TEST_F(Misuse, RankOfAReductionOutOfRange) {
  const std::string what =
      "rank 3 is out of range for a reduction of 3 participants (ranks 0 to 2)";
  tutti::reduction<double> total(3);
  EXPECT_MISUSE(what, total.all(3, 1.0));
  EXPECT_MISUSE(what, (void)total.all_for(3, 1.0, 1ms));
}

TEST_F(Misuse, TwoThreadsWithOneRankOfAReduction) {
  tutti::reduction<double> total(2);
  std::thread first([&] { EXPECT_EQ(total.all(0, 1.0), 3.0); });
  // Until the first has arrived, rank 1 misses it.
  while (total.missing_ranks(0).empty()) std::this_thread::yield();
  EXPECT_MISUSE("two threads use rank 0 of a reduction at the same time", total.all(0, 1.0));
  EXPECT_EQ(total.all(1, 2.0), 3.0);
  first.join();
}

}  // namespace
