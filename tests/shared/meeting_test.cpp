// SPDX-License-Identifier: Apache-2.0
// What the barrier between processes does when nobody dies: plain data, participants that leave,
// deadlines, sessions, more processes than CPUs, threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/shared/children.hpp"
#include "tutti/event/event.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using kind = shared_result::kind;

constexpr rank_t most = 16;

// Plain data that the participants publish by the barrier; two boards in turn.
struct board {
  unsigned said[2][most];

  // Returns the number of values that were not there.
  unsigned meet(shared_barrier& sync, rank_t n, unsigned phase) {
    said[phase % 2][sync.rank()] = phase + 1;
    if (!sync.arrive_and_wait()) return 1;
    unsigned unseen = 0;
    for (rank_t r = 0; r < n; ++r) unseen += said[phase % 2][r] == phase + 1 ? 0 : 1;
    return unseen;
  }
};

class Shared : public testing::TestWithParam<rank_t> {};

INSTANTIATE_TEST_SUITE_P(Participants, Shared, testing::Values(1, 2, 3, 5, 8, 16));

TEST_P(Shared, ChildrenSeeEachOthersDataInEveryPhase) {
  const rank_t n = GetParam();
  for (const char* patience : {"balanced", "passive"}) {
    const test::place at(n, {.patience = patience});
    test::shared_object<board> data;
    test::children all;
    for (rank_t r = 0; r < n; ++r)
      all.start([&, r] {
        shared_barrier sync = at.join(r);
        unsigned unseen = 0;
        for (unsigned phase = 0; phase < 300; ++phase) unseen += data->meet(sync, n, phase);
        return unseen == 0 ? 0 : 1;
      });
    EXPECT_EQ(all.failures(), 0) << patience;
  }
}

TEST(SharedByName, AnObjectThatIsOverwrittenLeaves) {
  const test::place at(2), elsewhere(2);
  shared_barrier first = at.join(0), second = at.join(1);
  first = elsewhere.join(0);
  EXPECT_EQ(second.arrive_and_wait_for(30s).how, kind::ended);
  // It is a participant of the other one now.
  EXPECT_EQ(first.arrive_and_wait_for(1ms).how, kind::late);
  second.leave();
}

TEST(SharedByName, ProcessesOfDifferentSessionsFindEachOther) {
  const test::unique_name name("sessions");
  constexpr rank_t n = 4;
  test::shared_object<board> data;
  test::children all;
  for (rank_t r = 0; r < n; ++r)
    all.start([&] {
      setsid();
      // The first creates it, whoever that is, and ranks are taken in any order.
      shared_barrier sync = shared_barrier::create_or_attach(name, n);
      sync.join();
      unsigned unseen = 0;
      for (unsigned phase = 0; phase < 100; ++phase) unseen += data->meet(sync, n, phase);
      return unseen == 0 ? 0 : 1;
    });
  EXPECT_EQ(all.failures(), 0);
  EXPECT_TRUE(shared_barrier::unlink(name));
  EXPECT_FALSE(shared_barrier::unlink(name));
}

// Otherwise the process that removes a stale barrier could find its name removed and given away
// between its look at the name and its own removal.
TEST(SharedByName, UnlinkWaitsForAProcessThatReplacesTheBarrier) {
  const test::unique_name name("unlink");
  const shared_barrier sync = shared_barrier::create(name, 1);
  const int file = ::open(name.path().c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  std::thread other([&] { EXPECT_TRUE(shared_barrier::unlink(name)); });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(::access(name.path().c_str(), F_OK), 0);
  ::close(file);
  other.join();
  EXPECT_NE(::access(name.path().c_str(), F_OK), 0);
}

TEST(SharedByName, RacesToCreateAndToReplaceAreSound) {
  const test::unique_name name("races");
  for (int round = 0; round < 20; ++round) {
    // What the last round left is stale, and everybody tries to replace it.
    constexpr rank_t n = 6;
    test::children all;
    for (rank_t r = 0; r < n; ++r)
      all.start([&] {
        shared_barrier sync = shared_barrier::create_or_attach(name, n);
        sync.join();
        const shared_result met = sync.arrive_and_wait_for(30s);
        // Some leave, and some end without.
        if (sync.rank() % 2 == 0) sync.leave();
        _exit(met ? 0 : 1);
        return 0;
      });
    ASSERT_EQ(all.failures(), 0) << round;
  }
}

TEST(SharedParticipant, LeavesBeforeItsArrivalOrAfter) {
  for (const bool has_arrived : {false, true}) {
    const test::place at(3);
    test::children all;
    all.start([&] {
      shared_barrier sync = at.join(2);
      if (!sync.arrive_and_wait()) return 1;
      if (has_arrived) static_cast<void>(sync.arrive());
      sync.leave();
      return 0;
    });
    for (rank_t r = 0; r < 2; ++r)
      all.start([&, r] {
        shared_barrier sync = at.join(r);
        for (int phase = 0; phase < 50; ++phase)
          if (!sync.arrive_and_wait_for(30s)) return 1;
        return 0;
      });
    EXPECT_EQ(all.failures(), 0) << has_arrived;
  }
}

TEST(SharedParticipant, LeavesWhenItsObjectEnds) {
  const test::place at(2);
  shared_barrier one = at.join(0);
  { shared_barrier other = at.join(1); }
  EXPECT_TRUE(one.arrive_and_wait_for(30s));
}

TEST(SharedParticipant, DropsOut) {
  const test::place at(2);
  shared_barrier one = at.join(0), other = at.join(1);
  const std::uint32_t phase = one.arrive();
  other.arrive_and_drop();
  EXPECT_TRUE(one.wait(phase));
  EXPECT_TRUE(one.arrive_and_wait());
  EXPECT_EQ(other.rank(), any_rank);
}

TEST(SharedParticipant, ResumesItsWaitAfterADeadline) {
  const test::place at(3);
  shared_barrier one = at.join(0), other = at.join(1), last = at.join(2);
  const shared_result late = one.arrive_and_wait_for(2ms);
  EXPECT_EQ(late.how, kind::late);
  EXPECT_EQ(late.missing, 2u);
  EXPECT_EQ(one.missing_ranks(late.phase), (std::vector<rank_t>{1, 2}));
  static_cast<void>(other.arrive());
  EXPECT_EQ(one.missing_ranks(late.phase), (std::vector<rank_t>{2}));
  static_cast<void>(last.arrive());
  EXPECT_TRUE(one.wait_for(late.phase, 0ns));
  EXPECT_TRUE(one.missing_ranks(late.phase).empty());
}

TEST(SharedParticipant, TellsItsProcess) {
  const test::place at(2);
  const shared_barrier one = at.join(1);
  EXPECT_EQ(one.process_of(1), getpid());
  EXPECT_EQ(one.process_of(0), 0);
  EXPECT_EQ(one.participants(), 2u);
}

TEST(SharedParticipant, TakesTheLowestFreeRank) {
  const test::place at(3);
  const shared_barrier middle = at.join(1);
  shared_barrier a = at.open(), b = at.open();
  EXPECT_EQ(a.join(), 0u);
  EXPECT_EQ(b.join(), 2u);
}

TEST(SharedChild, JoinsByTheObjectThatItInherits) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  test::children all;
  const pid_t child = all.start([&] {
    if (sync.rank() != any_rank) return 1;
    sync.join(1);
    return sync.arrive_and_wait_for(30s) ? 0 : 2;
  });
  EXPECT_TRUE(sync.arrive_and_wait_for(30s));
  EXPECT_EQ(all.wait_for(child), 0);
  EXPECT_EQ(sync.process_of(1), child);
  // The child left; its end did not take the parent's rank along.
  EXPECT_TRUE(sync.arrive_and_wait_for(30s) || sync.process_of(1) == child);
}

// The rank that sleeps first lets the other one of its thread wait for something else, and arrive.
TEST(SharedVirtualRanks, SleepBesideEachOther) {
  for (const patience p : {patience(), patience::active(), patience::passive()}) {
    const test::place at(2, {.patience = p});
    event ready;
    std::thread other([&] {
      std::this_thread::sleep_for(20ms);
      ready.signal();
    });
    team both({.threads = 1, .ranks = 2, .place = platform::placement::none});
    both.run([&](member& me) {
      shared_barrier mine = at.join(me.rank());
      if (me.rank() == 1) {
        EXPECT_TRUE(ready.wait_for(10s));
      }
      for (int phase = 0; phase < 20; ++phase) ASSERT_TRUE(mine.arrive_and_wait_for(10s));
    });
    other.join();
  }
}

TEST(SharedThreads, SeeEachOthersData) {
  constexpr rank_t n = 4;
  const test::place at(n);
  board data{};
  std::atomic<unsigned> unseen{0};
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      shared_barrier sync = at.join(r);
      for (unsigned phase = 0; phase < 500; ++phase) unseen += data.meet(sync, n, phase);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(unseen, 0u);
}

// The thread still holds a mutex of the first barrier, to which its list of robust mutexes leads
// when it joins the second one.
TEST(SharedByName, AThreadOutlivesTheObjectByWhichItHasJoined) {
  const test::unique_name first("outlived"), second("outlived_too");
  std::optional<shared_barrier> sync(shared_barrier::create(first, 2));
  std::atomic<bool> has_joined{false}, is_gone{false};
  std::thread participant([&] {
    sync->join(0);
    has_joined = true;
    while (!is_gone) std::this_thread::yield();
    // A barrier of another size does not get the pages of the first one.
    shared_barrier next = shared_barrier::create(second, 500);
    EXPECT_EQ(next.join(), 0u);
  });
  while (!has_joined) std::this_thread::yield();
  sync.reset();
  is_gone = true;
  participant.join();
}

}  // namespace
}  // namespace tutti
