// SPDX-License-Identifier: Apache-2.0
// Processes meet as fast as they can, and at a random instant one of them is killed. All others
// must come back, name it, and agree on the last phase.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/shared/children.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using kind = shared_result::kind;

constexpr rank_t most = 6;

struct survivor {
  std::atomic<std::uint32_t> last_phase{0};
  std::atomic<bool> has_returned{false};
};

struct scene {
  std::array<survivor, most> survivors;
  std::atomic<rank_t> met{0};
};

int attend(const test::place& at, rank_t rank, scene& said, const std::array<pid_t, most>& pids) {
  shared_barrier sync = at.join(rank);
  if (!sync.arrive_and_wait_for(30s)) return 2;
  ++said.met;
  for (;;) {
    const shared_result met = sync.arrive_and_wait_for(30s);
    if (met) continue;
    said.survivors[rank].last_phase = met.phase;
    said.survivors[rank].has_returned = true;
    if (met.how != kind::died) return 3;
    return met.rank < most && met.process == pids[met.rank] ? 0 : 4;
  }
}

// Processes that attend, in a barrier of n.
struct attendance {
  attendance(rank_t n, const char* patience) : at(n, {.patience = patience}) {
    for (rank_t r = 0; r < n; ++r)
      (*pids)[r] = all.start([&, r] { return attend(at, r, *said, *pids); });
    while (said->met == 0) std::this_thread::yield();
  }
  test::place at;
  test::shared_object<scene> said;
  test::shared_object<std::array<pid_t, most>> pids;
  test::children all;
};

// TUTTI_TEST_RUNS: the rounds of each test.
int number_of_rounds() {
  const char* const wanted = std::getenv("TUTTI_TEST_RUNS");
  return wanted == nullptr ? 300 : std::atoi(wanted);
}
const int rounds = number_of_rounds();

TEST(SharedKills, SurvivorsComeBackNameTheDeadAndAgree) {
  std::mt19937 random(2026);
  constexpr std::array patiences = {"balanced", "passive", "active", "20us"};
  for (int round = 0; round < rounds; ++round) {
    const auto n = static_cast<rank_t>(2 + random() % (most - 1));
    attendance run(n, patiences[random() % patiences.size()]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    const auto victim = static_cast<rank_t>(random() % n);
    run.all.kill((*run.pids)[victim]);
    for (rank_t r = 0; r < n; ++r) {
      const int status = run.all.wait_for((*run.pids)[r]);
      ASSERT_EQ(status, r == victim ? -SIGKILL : 0) << "round " << round << ", rank " << r;
    }
    std::uint32_t last = 0;
    bool is_known = false;
    for (rank_t r = 0; r < n; ++r) {
      if (r == victim || !run.said->survivors[r].has_returned) continue;
      if (is_known) {
        ASSERT_EQ(run.said->survivors[r].last_phase, last) << round;
      }
      last = run.said->survivors[r].last_phase;
      is_known = true;
    }
  }
}

// Two die, the second while the first one's death is told.
TEST(SharedKills, TheEndOfTheOneThatReportsIsHarmless) {
  std::mt19937 random(7);
  for (int round = 0; round < rounds / 2; ++round) {
    constexpr rank_t n = 5;
    attendance run(n, "passive");
    for (const rank_t victim : {0u, 1u}) {
      run.all.kill((*run.pids)[victim]);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
    }
    for (rank_t r = 2; r < n; ++r) ASSERT_EQ(run.all.wait_for((*run.pids)[r]), 0) << round;
  }
}

// Killed while it joins or leaves: the other one never hangs.
TEST(SharedKills, WhileJoiningOrLeaving) {
  std::mt19937 random(11);
  for (int round = 0; round < rounds; ++round) {
    const test::place at(2, {.patience = "passive"});
    test::shared_object<std::atomic<bool>> has_begun, will_not_join;
    test::children all;
    const pid_t other = all.start([&] {
      try {
        shared_barrier sync = at.join(0);
        const std::uint32_t phase = sync.arrive();
        while (!*will_not_join)
          if (sync.wait_for(phase, 10ms).how != kind::late) return 0;
        return 0;
      } catch (const shared_barrier_error& e) {
        // It came after the other one's end.
        const auto why = e.why();
        const bool is_death =
            why == shared_barrier_error::reason::died || why == shared_barrier_error::reason::stale;
        return is_death ? 0 : 5;
      }
    });
    const pid_t victim = all.start([&] {
      *has_begun = true;
      shared_barrier sync = at.join(1);
      sync.leave();
      return 0;
    });
    while (!*has_begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30));
    all.kill(victim);
    all.wait_for(victim);
    // Nobody can know of a process that ended before it joined.
    if (at.open().process_of(1) == 0) *will_not_join = true;
    ASSERT_EQ(all.wait_for(other), 0) << round;
  }
}

}  // namespace
}  // namespace tutti
