// SPDX-License-Identifier: Apache-2.0
// What the barrier between processes refuses, and the sentences.
#include "tests/support/refusal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "tests/shared/children.hpp"

namespace tutti {
namespace {

using reason = shared_barrier_error::reason;
using test::expect_refused;

template <class Call>
void expect_error(reason why, const std::string& part, Call call) {
  try {
    call();
    FAIL() << "no error; expected: " << part;
  } catch (const shared_barrier_error& e) {
    EXPECT_EQ(static_cast<int>(e.why()), static_cast<int>(why)) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(SharedRefuses, NamesThatAreNone) {
  for (const std::string& name : {std::string(), std::string("/"), std::string("a/b"),
                                  std::string(".."), std::string(201, 'x'), std::string("a\0b", 3)})
    expect_refused([&] { shared_barrier::create(name, 2); },
                   "the name of a barrier between processes takes 1 to 200 characters");
}

TEST(SharedRefuses, CountsOutOfRange) {
  const test::unique_name name("range");
  expect_refused([&] { shared_barrier::create(name, 0); }, "1 to 1024 participants, not 0");
  expect_refused([&] { shared_barrier::attach(name, 1025); }, "not 1025");
  expect_refused([&] { shared_barrier::bytes_for(0); }, "not 0");
}

TEST(SharedRefuses, ANameInUseAndOneThatIsNot) {
  const test::unique_name name("use");
  expect_error(reason::missing, "nobody has created", [&] { shared_barrier::attach(name, 2); });
  const auto made = shared_barrier::create(name, 2);
  expect_error(reason::exists, "exists already", [&] { shared_barrier::create(name, 2); });
}

TEST(SharedRefuses, AnotherCount) {
  const test::unique_name name("count");
  const auto made = shared_barrier::create(name, 4);
  expect_error(reason::other_count, "is for 4 participants, not 3",
               [&] { shared_barrier::attach(name, 3); });
  expect_error(reason::other_count, "is for 4 participants, not 5",
               [&] { shared_barrier::create_or_attach(name, 5); });
}

TEST(SharedRefuses, OtherContents) {
  const test::unique_name name("contents");
  std::ofstream(name.path()) << "short";
  expect_error(reason::other_kind, "is no barrier of tutti",
               [&] { shared_barrier::attach(name, 2); });
  std::ofstream(name.path()) << std::string(100'000, 'x');
  expect_error(reason::other_kind, "is no barrier of tutti",
               [&] { shared_barrier::create_or_attach(name, 2); });
}

TEST(SharedRefuses, AnotherVersion) {
  const test::place at(2);
  // The version follows the word that names the kind.
  auto* const version = static_cast<std::uint32_t*>(at.memory().base()) + 2;
  ASSERT_EQ(*version, 1u);
  *version = 7;
  expect_error(reason::other_kind, "its layout is number 7, and this version knows 1",
               [&] { at.open(); });
}

TEST(SharedRefuses, AFileThatIsCutShort) {
  const test::unique_name name("cut");
  { const auto made = shared_barrier::create(name, 8); }
  ASSERT_EQ(truncate(name.path().c_str(), 2048), 0);
  expect_error(reason::other_kind, "compiled differently",
               [&] { shared_barrier::attach(name, 8); });
}

TEST(SharedRefuses, MemoryThatIsTooSmallOrAtAWrongPlace) {
  const test::shared_memory memory(shared_barrier::bytes_for(2) + 128);
  expect_refused([&] { shared_barrier::build(memory.base(), shared_barrier::bytes_for(2) - 1, 2); },
                 "takes");
  expect_refused(
      [&] {
        shared_barrier::build(static_cast<char*>(memory.base()) + 64, memory.bytes() - 64, 2);
      },
      "multiple of 128 bytes");
  expect_error(reason::other_kind, "this memory is no barrier",
               [&] { shared_barrier::at(memory.base(), memory.bytes(), 2); });
}

TEST(SharedRefuses, ASecondParticipantWithTheSameRank) {
  const test::place at(2);
  const auto first = at.join(1);
  const std::string me = "rank 1 (process " + std::to_string(getpid()) + ")";
  expect_error(reason::taken, me + " has joined the barrier already", [&] { at.join(1); });
  const auto other = at.join(0);
  expect_error(reason::taken, "all 2 ranks of the barrier are taken", [&] { at.open().join(); });
}

TEST(SharedRefuses, TheRankOfOneThatLeft) {
  const test::place at(3);
  const auto stays = at.join(0);
  at.join(1).leave();
  expect_error(reason::taken, "nobody can join as it again", [&] { at.join(1); });
  EXPECT_EQ(at.open().join(), 2u);
}

TEST(SharedRefuses, CallsInTheWrongOrder) {
  const test::place at(2);
  shared_barrier sync = at.open();
  expect_refused([&] { sync.arrive(); }, "join the barrier first");
  expect_refused([&] { sync.leave(); }, "join the barrier first");
  expect_refused([&] { sync.join(2); }, "rank 2 is not below the barrier's 2 participants");
  sync.join(0);
  expect_refused([&] { sync.join(1); }, "has joined the barrier as rank 0 already");
  sync.arrive();
  expect_refused([&] { sync.arrive(); }, "rank 0 has arrived in phase 0 already");
  expect_refused([&] { sync.arrive_and_drop(); }, "use leave()");
}

TEST(SharedRefuses, AChildThatUsesItsParentsRank) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  test::children all;
  all.start([&] {
    expect_refused([&] { sync.arrive(); },
                   "a child of the one that has joined the barrier as rank 0");
    expect_error(reason::taken, "has joined the barrier already", [&] { sync.join(0); });
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(all.failures(), 0);
  EXPECT_EQ(sync.rank(), 0u);
}

// Joins the barrier that open() returns in a child, which is killed then, and returns its number.
template <class Open>
pid_t die_as_rank_1(test::children& all, Open open) {
  const pid_t dead = all.start([&] {
    shared_barrier sync = open();
    sync.join(1);
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(all.wait_for(dead), -SIGKILL);
  return dead;
}

TEST(SharedStale, IsToldAndReplaced) {
  const test::unique_name name("stale");
  test::children all;
  const pid_t dead = die_as_rank_1(all, [&] { return shared_barrier::create(name, 2); });
  expect_error(reason::stale,
               "is stale: rank 1 (process " + std::to_string(dead) +
                   ") has died, and no participant is left",
               [&] { shared_barrier::attach(name, 2); });
  expect_error(reason::exists, "exists already", [&] { shared_barrier::create(name, 2); });
  shared_barrier fresh = shared_barrier::create_or_attach(name, 2);
  EXPECT_EQ(fresh.join(1), 1u);
  fresh.leave();
  fresh.join(0);
  fresh.leave();
  expect_error(reason::stale, "all participants have left",
               [&] { shared_barrier::attach(name, 2); });
}

// The next job of the same program may have another size.
TEST(SharedStale, OfAnotherCountIsReplacedUnlessItIsInUse) {
  const test::unique_name name("resized");
  test::children all;
  const auto open = [&](rank_t n) { return shared_barrier::create_or_attach(name, n); };
  for (const rank_t next : {8u, 2u}) {
    die_as_rank_1(all, [&] { return open(4); });
    expect_error(reason::stale, "is stale", [&] { shared_barrier::attach(name, next); });
    shared_barrier fresh = open(next);
    fresh.join(1);
    expect_error(reason::other_count, "participants, not 4", [&] { open(4); });
    shared_barrier::unlink(name);
  }
}

// In a folder with the sticky bit, as /dev/shm has it, only the owner of a file may remove it.
TEST(SharedStale, OfAnotherUserIsToldIfItMayNotBeRemoved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become two other users";
  const test::unique_name name("of_another");
  test::children all;
  const auto as_user = [&](uid_t user, auto work) {
    return all.wait_for(all.start([&] {
      umask(0);
      if (setgid(user) != 0 || setuid(user) != 0) return 98;
      work();
      return testing::Test::HasFailure() ? 1 : 0;
    }));
  };
  const shared_barrier_options for_all{.mode = 0666};
  const auto join_and_die = [&] {
    shared_barrier mine = shared_barrier::create_or_attach(name, 2, for_all);
    mine.join(0);
    _exit(0);
  };
  EXPECT_EQ(as_user(1001, join_and_die), 0);
  EXPECT_EQ(as_user(1002,
                    [&] {
                      alarm(10);
                      expect_error(reason::system, "removing the barrier '",
                                   [&] { shared_barrier::create_or_attach(name, 2, for_all); });
                    }),
            0);
  EXPECT_EQ(as_user(1001, join_and_die), 0);
}

TEST(SharedStale, OneThatSomeoneStillUsesIsBroken) {
  const test::unique_name name("broken");
  shared_barrier sync = shared_barrier::create(name, 3);
  sync.join(0);
  test::children all;
  const pid_t dead = die_as_rank_1(all, [&] { return shared_barrier::attach(name, 3); });
  const std::string who = "rank 1 (process " + std::to_string(dead) + ") has died";
  expect_error(reason::died, "is broken: " + who, [&] { shared_barrier::attach(name, 3); });
  expect_error(reason::died, who, [&] { shared_barrier::create_or_attach(name, 3); });
}

}  // namespace
}  // namespace tutti
