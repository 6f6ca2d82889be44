// SPDX-License-Identifier: Apache-2.0
// What event_workers promises: posts that all run, raises that coalesce, slots that are full,
// actions that are removed or throw, and virtual ranks that are workers.
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/event/notifications.hpp"
#include "tutti/team/team.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

struct run_log {
  std::vector<std::pair<rank_t, std::uintptr_t>> runs;
  static void note(void* log, rank_t sender, std::uintptr_t payload) {
    static_cast<run_log*>(log)->runs.emplace_back(sender, payload);
  }
};

TEST(Workers, CoalesceOnlyWhatIsRaised) {
  run_log log;
  event_workers all(2, 3);
  const action_id name = all.add(run_log::note, &log);
  EXPECT_EQ(all.poll(0), 0u);
  EXPECT_EQ(all.wait_for(1, 1ms), 0u);
  for (const std::uintptr_t k : {1u, 2u, 3u}) all.post(2, 0, name, k);
  EXPECT_EQ(all.wait(0), 3u);
  EXPECT_EQ(log.runs.size(), 3u);
  log.runs.clear();
  for (const std::uintptr_t k : {1u, 2u, 3u}) all.raise(1, 0, name, k);
  EXPECT_EQ(all.wait(0), 1u);
  EXPECT_EQ(log.runs, (std::vector<std::pair<rank_t, std::uintptr_t>>{{1, 3}}));
}

TEST(Workers, RefuseMoreThanTheSlots) {
  run_log log;
  event_workers all(1, 1, 2);
  const action_id name = all.add(run_log::note, &log);
  EXPECT_TRUE(all.try_post(0, 0, name, 1));
  EXPECT_TRUE(all.try_post(0, 0, name, 2));
  EXPECT_FALSE(all.try_post(0, 0, name, 3));
  std::thread sender([&] { all.post(0, 0, name, 3); });
  while (log.runs.size() < 3) (void)all.wait(0);
  sender.join();
  EXPECT_THROW(event_workers(1, 1, 3), std::invalid_argument);
  EXPECT_THROW(event_workers(0, 1), std::invalid_argument);
  EXPECT_THROW(event_workers(1, 0), std::invalid_argument);
  // More bytes than a size_t can count.
  EXPECT_THROW(event_workers(1, 1u << 31, 1u << 31), std::bad_alloc);
}

TEST(Workers, DropPostsOfARemovedAction) {
  run_log log;
  event_workers all(1, 1);
  const action_id name = all.add(run_log::note, &log);
  all.post(0, 0, name, 1);
  EXPECT_TRUE(all.remove(name));
  EXPECT_FALSE(all.remove(name));
  EXPECT_EQ(all.wait(0), 1u);
  EXPECT_TRUE(log.runs.empty());
}

TEST(Workers, DropPostsOfActionsThatWereNeverAdded) {
  run_log log;
  event_workers all(1, 1);
  const auto drops_all = [&](action_id added) {
    for (action_id never = 0; never < 4 * most_actions; ++never) {
      if (never == added) continue;
      all.post(0, 0, never, 1);
      EXPECT_EQ(all.wait(0), 1u);
      EXPECT_FALSE(all.remove(never));
    }
    EXPECT_TRUE(log.runs.empty());
  };
  drops_all(event_workers::no_action);
  const action_id name = all.add(run_log::note, &log);
  drops_all(name);
  EXPECT_TRUE(all.remove(name));
  drops_all(event_workers::no_action);
}

// The first action's place is the second's now. The sender has not heard of it.
TEST(Workers, KeepARaiseBesideThatOfARemovedAction) {
  run_log first_log, second_log;
  event_workers all(1, 1);
  const action_id first = all.add(run_log::note, &first_log);
  all.raise(0, 0, first, 1);
  EXPECT_TRUE(all.remove(first));
  const action_id second = all.add(run_log::note, &second_log);
  EXPECT_EQ(second % most_actions, first % most_actions);
  all.raise(0, 0, second, 2);
  all.raise(0, 0, first, 3);
  EXPECT_EQ(all.wait_for(0, 1s), 1u);
  EXPECT_EQ(second_log.runs, (std::vector<std::pair<rank_t, std::uintptr_t>>{{0, 2}}));
  all.raise(0, 0, first, 4);
  EXPECT_EQ(all.poll(0), 0u);
  EXPECT_TRUE(first_log.runs.empty());
}

TEST(WorkersDeathTest, EndTheProgramIfAnActionThrows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  event_workers all(1, 1);
  const action_id name =
      all.add([](void*, rank_t, std::uintptr_t) { throw std::runtime_error("thrown"); }, nullptr);
  all.post(0, 0, name, 1);
  EXPECT_DEATH(
      {
        try {
          all.poll(0);
        } catch (const std::runtime_error&) {
        }
      },
      "thrown");
}

// Each virtual rank is a worker, and posts to the next one until a token has gone round often.
TEST(Workers, AreVirtualRanks) {
  constexpr std::uintptr_t hops = 300;
  team all({.threads = 2, .ranks = 6, .place = platform::placement::none});
  event_workers workers(all.size(), all.size());
  std::vector<std::uintptr_t> seen(all.size(), 0);
  const auto note = [](void* place, rank_t, std::uintptr_t hop) {
    *static_cast<std::uintptr_t*>(place) = hop;
  };
  std::vector<action_id> names;
  for (auto& place : seen) names.push_back(workers.add(note, &place));
  all.run([&](member& me) {
    const rank_t mine = me.rank(), next = (mine + 1) % me.size();
    for (std::uintptr_t hop = mine; hop < hops; hop += me.size()) {
      if (hop != 0) {
        EXPECT_EQ(workers.wait_for(mine, lost_after), 1u);
        EXPECT_EQ(seen[mine], hop);
      }
      workers.post(mine, next, names[next], hop + 1);
    }
  });
}

}  // namespace
}  // namespace tutti::test
