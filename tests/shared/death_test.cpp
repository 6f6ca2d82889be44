// SPDX-License-Identifier: Apache-2.0
// Participants that end without leaving: who is named, how soon, and to whom; and participants that
// are only stopped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/shared/children.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using kind = shared_result::kind;

// Checks that `sync` tells of the death of `rank`, in this wait and in each later one.
void expect_death(shared_barrier& sync, rank_t rank, pid_t process) {
  for (int i = 0; i < 2; ++i) {
    const shared_result met = sync.arrive_and_wait_for(30s);
    EXPECT_EQ(met.how, kind::died);
    EXPECT_EQ(met.rank, rank);
    EXPECT_EQ(met.process, process);
    EXPECT_FALSE(met);
  }
}

class Ending : public testing::TestWithParam<const char*> {};

void end_by(std::string_view how) {
  if (how == "signal") raise(SIGKILL);
  if (how == "exit") std::exit(0);
  if (how == "abort") {
    signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (how == "exec") execl("/bin/sleep", "sleep", "20", nullptr);
}

INSTANTIATE_TEST_SUITE_P(Ways, Ending, testing::Values("signal", "exit", "abort", "exec"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(Ending, IsNamed) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  test::children all;
  const pid_t child = all.start([&] {
    // The object does not end before the process does.
    auto* const mine = new shared_barrier(at.join(1));
    static_cast<void>(mine->arrive_and_wait());
    end_by(GetParam());
    return 0;
  });
  ASSERT_TRUE(sync.arrive_and_wait_for(30s));
  expect_death(sync, 1, child);
}

TEST(SharedDeath, OfTheThreadThatJoinedIsNamed) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  std::unique_ptr<shared_barrier> other;
  std::thread([&] { other = std::make_unique<shared_barrier>(at.join(1)); }).join();
  expect_death(sync, 1, getpid());
}

TEST(SharedDeath, AfterAnArrivalEndsThePhaseOrBreaksItForAll) {
  for (int round = 0; round < 50; ++round) {
    const test::place at(3);
    test::shared_object<std::array<std::atomic<int>, 2>> ended;
    test::shared_object<std::atomic<int>> joined;
    test::children all;
    for (rank_t r = 0; r < 2; ++r)
      all.start([&, r] {
        shared_barrier sync = at.join(r);
        ++*joined;
        int phases = 0;
        while (sync.arrive_and_wait_for(30s)) ++phases;
        (*ended)[r] = phases;
        return 0;
      });
    const pid_t dies = all.start([&] {
      shared_barrier sync = at.join(2);
      while (*joined < 2) std::this_thread::yield();
      static_cast<void>(sync.arrive());
      raise(SIGKILL);
      return 0;
    });
    EXPECT_EQ(all.wait_for(dies), -SIGKILL);
    EXPECT_EQ(all.failures(), 0);
    EXPECT_EQ((*ended)[0], (*ended)[1]);
  }
}

// Nanoseconds of each round, in ascending order.
struct round_times {
  std::vector<std::uint64_t> ns;
  std::uint64_t least() const { return ns.front(); }
  std::uint64_t median() const { return ns[ns.size() / 2]; }
};

// The moment at which the last process came this far, in memory that processes share.
class last_moment {
 public:
  void note() {
    const std::uint64_t now = native::now_ns();
    std::uint64_t last = last_;
    while (now > last && !last_.compare_exchange_weak(last, now)) {
    }
  }
  std::uint64_t ns() const { return last_; }

 private:
  std::atomic<std::uint64_t> last_{0};
};

// Returns how long it takes from the signal that kills a participant until the last survivor knows.
std::uint64_t time_to_know(rank_t n, const char* patience, std::size_t resident) {
  const test::place at(n, {.patience = patience});
  test::shared_object<last_moment> last;
  test::shared_object<std::atomic<int>> waiting;
  test::children all;
  const pid_t victim = all.start([&] {
    shared_barrier sync = at.join(n - 1);
    std::vector<char> memory(resident, 'x');
    static_cast<void>(sync.arrive_and_wait());
    pause();
    return static_cast<int>(memory[0]);
  });
  for (rank_t r = 0; r + 1 < n; ++r)
    all.start([&, r] {
      shared_barrier sync = at.join(r);
      static_cast<void>(sync.arrive_and_wait());
      const std::uint32_t phase = sync.arrive();
      ++*waiting;
      const shared_result met = sync.wait_for(phase, 30s);
      last->note();
      return met.how == kind::died && met.process == victim ? 0 : 1;
    });
  while (*waiting < static_cast<int>(n) - 1) std::this_thread::sleep_for(1ms);
  // Time to fall asleep.
  std::this_thread::sleep_for(5ms);
  const std::uint64_t start = native::now_ns();
  all.kill(victim);
  EXPECT_EQ(all.wait_for(victim), -SIGKILL);
  EXPECT_EQ(all.failures(), 0);
  return last->ns() - start;
}

// Returns how long the kernel itself takes, without a barrier, until the last of `readers`
// processes knows that the process at the other end of a pipe was killed.
std::uint64_t time_of_pipe(rank_t readers) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("pipe");
  const int read_end = pipe_ends[0], write_end = pipe_ends[1];
  test::shared_object<last_moment> last;
  test::shared_object<std::atomic<int>> waiting;
  test::children all;
  const pid_t victim = all.start([] { return pause(); });
  for (rank_t r = 0; r < readers; ++r)
    all.start([&] {
      close(write_end);
      ++*waiting;
      char none;
      const bool is_at_end = read(read_end, &none, 1) == 0;
      last->note();
      return is_at_end ? 0 : 1;
    });
  close(write_end);
  while (*waiting < static_cast<int>(readers)) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(5ms);
  const std::uint64_t start = native::now_ns();
  all.kill(victim);
  EXPECT_EQ(all.wait_for(victim), -SIGKILL);
  EXPECT_EQ(all.failures(), 0);
  close(read_end);
  return last->ns() - start;
}

struct measured {
  round_times barrier, pipe;
  // The barrier's survivors may take this much time more than twice as long as the pipe's readers:
  // the kernel wakes one survivor, and that one wakes the others.
  std::uint64_t least_bound(std::uint64_t ns) const { return 2 * pipe.least() + ns; }
  std::uint64_t median_bound(std::uint64_t ns) const { return 2 * pipe.median() + ns; }
};

// Measures both in turn, so that a busy machine delays both.
measured times_to_know(rank_t n, const char* patience, std::size_t resident, int rounds) {
  measured times;
  for (int round = 0; round < rounds; ++round) {
    times.barrier.ns.push_back(time_to_know(n, patience, resident));
    times.pipe.ns.push_back(time_of_pipe(n - 1));
  }
  std::sort(times.barrier.ns.begin(), times.barrier.ns.end());
  std::sort(times.pipe.ns.begin(), times.pipe.ns.end());
  return times;
}

// The bounds exclude that only the look of the insurance, every 100 ms, has found it.
TEST(SharedDeath, WakesSleepersAtOnce) {
  const measured times = times_to_know(4, "passive", 0, 20);
  const auto ms = [](std::uint64_t ns) { return 1e-6 * static_cast<double>(ns); };
  std::printf(
      "from the signal to the last of 3 sleepers: least %.3f ms, median %.3f ms; "
      "of 3 readers of a pipe: %.3f ms, %.3f ms\n",
      ms(times.barrier.least()), ms(times.barrier.median()), ms(times.pipe.least()),
      ms(times.pipe.median()));
  EXPECT_LT(times.barrier.least(), times.least_bound(1'000'000));
  EXPECT_LT(times.barrier.median(), times.median_bound(30'000'000));
}

TEST(SharedDeath, IsSeenByThoseWhoPoll) {
  const measured times = times_to_know(3, "active", 0, 10);
  EXPECT_LT(times.barrier.median(), times.median_bound(100'000'000));
}

TEST(SharedDeath, DoesNotWaitUntilTheMemoryIsFreed) {
  const measured times = times_to_know(3, "passive", 256u << 20, 8);
  EXPECT_LT(times.barrier.least(), times.least_bound(10'000'000));
}

TEST(SharedStopped, IsWaitedForAndIsLateAtADeadline) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  test::children all;
  const pid_t child = all.start([&] {
    shared_barrier mine = at.join(1);
    static_cast<void>(mine.arrive_and_wait());
    raise(SIGSTOP);
    return mine.arrive_and_wait_for(30s) ? 0 : 1;
  });
  ASSERT_TRUE(sync.arrive_and_wait_for(30s));
  const shared_result late = sync.arrive_and_wait_for(50ms);
  EXPECT_EQ(late.how, kind::late);
  EXPECT_EQ(sync.missing_ranks(late.phase), std::vector<rank_t>{1});
  while (kill(child, SIGCONT) == 0 && !sync.wait_for(late.phase, 5ms)) {
  }
  EXPECT_TRUE(sync.wait_for(late.phase, 0ns));
  EXPECT_EQ(all.wait_for(child), 0);
}

// The kernel wakes one sleeper when a participant dies, and that one may be stopped.
TEST(SharedStopped, DoesNotKeepTheMessageOfADeathFromTheOthers) {
  for (int round = 0; round < 3; ++round) {
    const test::place at(4, {.patience = patience::passive()});
    test::shared_object<std::atomic<int>> waiting;
    test::children all;
    const auto waiter = [&](rank_t rank) {
      return all.start([&, rank] {
        shared_barrier sync = at.join(rank);
        const std::uint32_t phase = sync.arrive();
        ++*waiting;
        return sync.wait_for(phase, 30s).how == kind::died ? 0 : 1;
      });
    };
    const pid_t stopped = waiter(0);
    while (*waiting < 1) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
    const pid_t sound = waiter(1), victim = waiter(2);
    while (*waiting < 3) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
    kill(stopped, SIGSTOP);
    all.kill(victim);
    const std::uint64_t start = native::now_ns();
    EXPECT_EQ(all.wait_for(sound), 0);
    EXPECT_LT(native::now_ns() - start, 5'000'000'000u);
    kill(stopped, SIGCONT);
    EXPECT_EQ(all.wait_for(stopped), 0);
  }
}

// Both ranks of a thread wait, and the one that began last returns first. Then the other's partner
// dies.
void die_beside_another_barrier(patience p) {
  const test::place dying(2, {.patience = p}), ending(2, {.patience = p});
  test::shared_object<std::atomic<int>> waiting, ended;
  test::children all;
  const pid_t victim = all.start([&] {
    const shared_barrier mine = dying.join(1);
    while (*ended == 0) std::this_thread::sleep_for(1ms);
    raise(SIGKILL);
    return 0;
  });
  const pid_t partner = all.start([&] {
    shared_barrier mine = ending.join(1);
    while (*waiting < 2) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);
    return mine.arrive_and_wait_for(30s) ? 0 : 1;
  });
  shared_barrier syncs[] = {dying.open(), ending.open()};
  team both({.threads = 1, .ranks = 2, .place = platform::placement::none});
  both.run([&](member& me) {
    shared_barrier& mine = syncs[me.rank()];
    mine.join(0);
    const std::uint32_t phase = mine.arrive();
    ++*waiting;
    const shared_result met = mine.wait_for(phase, 10s);
    if (me.rank() == 1) {
      EXPECT_EQ(met.how, kind::ended);
      ++*ended;
    } else {
      EXPECT_EQ(met.how, kind::died);
      EXPECT_EQ(met.process, victim);
    }
  });
  EXPECT_EQ(all.wait_for(partner), 0);
  EXPECT_EQ(all.wait_for(victim), -SIGKILL);
}

TEST(SharedDeath, IsSeenByAVirtualRankBesideOneAtAnotherBarrier) {
  die_beside_another_barrier(patience::active());
  die_beside_another_barrier(patience::passive());
}

TEST(SharedDeath, IsToldToWhoeverJoinsLater) {
  const test::place at(3);
  test::children all;
  const pid_t child = all.start([&] {
    shared_barrier sync = at.join(2);
    raise(SIGKILL);
    return 0;
  });
  all.wait_for(child);
  shared_barrier sync = at.open();
  try {
    sync.join(0);
    FAIL();
  } catch (const shared_barrier_error& e) {
    EXPECT_NE(std::string(e.what()).find("rank 2 (process " + std::to_string(child) + ") has died"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace tutti
