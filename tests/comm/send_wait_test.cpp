// SPDX-License-Identifier: Apache-2.0
// Sends that wait for room. Participants whose rings to each other are full make progress. A
// participant that waits sleeps; room, a message, a deadline, or the leaving of the receiver wakes
// it.
#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/comm/detector_and_wait.hpp"
#include "tests/comm/run_threads.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using clock = std::chrono::steady_clock;

constexpr auto ignore = [](const received&) {};

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Fills the ring to `to`. Returns the number of messages in it.
std::uint64_t fill(endpoint& me, rank_t to) {
  std::uint64_t count = 0;
  for (std::uint64_t value = 0; me.try_send(to, &value, sizeof value); value = ++count) {
  }
  return count;
}

class SendWait : public test::DetectorAndWait {
 protected:
  // The ring is always full.
  static communicator_options options() { return options_with_small_rings(); }
  static bool sleeps() { return std::get<1>(GetParam()) != "yield"; }
};

// Every participant sends to all, itself included, far more than there is room for, and receives
// only while it waits: messages of all sizes, in order, with plain data behind each. Some
// participants are slow now and then.
TEST_P(SendWait, GoesOnThoughAllAreFullForEachOther) {
  constexpr std::uint32_t count = 150;
  for (const rank_t n : {1u, 2u, 3u, 5u}) {
    communicator comm(n, options());
    std::vector<std::uint32_t> said(n * n * count);
    run_threads(n, [&](rank_t rank) {
      endpoint& me = comm[rank];
      std::mt19937 random(rank);
      std::vector<std::uint32_t> next(n);
      const auto take = [&](const received& m) {
        std::uint32_t number = 0;
        std::memcpy(&number, m.data, sizeof number);
        must(number == next[m.source], "out of order");
        must(said[(m.source * n + rank) * count + next[m.source]] == next[m.source] + 7,
             "the data behind it");
        ++next[m.source];
        if (random() % 256 == 0) std::this_thread::sleep_for(milliseconds(1));
      };
      std::vector<std::uint32_t> words(64);
      for (std::uint32_t k = 0; k < count; ++k)
        for (rank_t to = 0; to < n; ++to) {
          said[(rank * n + to) * count + k] = k + 7;
          words[0] = k;
          // The sizes go up to a message that does not lie in the ring.
          const std::size_t bytes = 4 * (1 + random() % (random() % 8 == 0 ? 60 : 16));
          if (k % 3 != 0) {
            me.send_wait(to, words.data(), bytes, take);
          } else {
            while (
                !me.send_wait_for(to, words.data(), bytes, std::chrono::microseconds(50), take)) {
            }
          }
        }
      must(finish(me, true, take), "votes");
      for (const std::uint32_t got : next) must(got == count, "messages");
    });
    std::uint64_t sent = 0, received = 0;
    for (rank_t rank = 0; rank < n; ++rank) {
      const endpoint_statistics s = comm[rank].statistics();
      EXPECT_EQ(s.episodes, 1u);
      sent += s.sent + s.self;
      received += s.received + s.self;
    }
    EXPECT_EQ(sent, std::uint64_t{n} * n * count);
    EXPECT_EQ(received, sent);
  }
}

// The receiver computes for a while; the sender sleeps that long, and goes on when there is room.
TEST_P(SendWait, SleepsAndIsWokenByRoom) {
  communicator comm(2, options());
  std::atomic<bool> is_full{false};
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    if (rank == 0) {
      const std::uint64_t before = fill(me, 1);
      is_full = true;
      const auto begin = processor_time();
      me.send_wait(1, before, ignore);
      if (sleeps()) must(processor_time() - begin < milliseconds(100), "awake all the time");
    } else {
      while (!is_full) std::this_thread::sleep_for(milliseconds(1));
      std::this_thread::sleep_for(milliseconds(250));
    }
    std::uint64_t next = 0;
    must(finish(me, true,
                [&](const received& m) { must(m.as<std::uint64_t>() == next++, "order"); }),
         "votes");
  });
}

// A message of a third participant reaches one that waits for room.
TEST_P(SendWait, IsWokenByAMessage) {
  communicator comm(3, options());
  std::atomic<bool> is_full{false}, is_answered{false};
  run_threads(3, [&](rank_t rank) {
    endpoint& me = comm[rank];
    if (rank == 0) {
      const std::uint64_t before = fill(me, 1);
      is_full = true;
      me.send_wait(1, before, [&](const received& m) {
        must(m.source == 2 && m.as<int>() == 5, "another message");
        is_answered = true;
      });
    } else {
      while (!is_full) std::this_thread::sleep_for(milliseconds(1));
      std::this_thread::sleep_for(milliseconds(20));
      if (rank == 2) me.send(0, 5);
      if (rank == 2) me.flush();
      const auto until = clock::now() + seconds(30);
      while (!is_answered && clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
      must(is_answered, "the message waited for room");
    }
    must(finish(me, true), "votes");
  });
}

TEST_P(SendWait, GivesUpAtItsDeadline) {
  communicator comm(2, options());
  endpoint &me = comm[0], &other = comm[1];
  const std::uint64_t before = fill(me, 1);
  const std::uint64_t sent = me.statistics().sent;
  // A sender whose time is over does not wait, and what is there is handed over all the same.
  other.send(0, 1);
  other.flush();
  int handed = 0;
  for (const auto timeout : {milliseconds(0), milliseconds(-5), milliseconds(20)}) {
    const auto begin = clock::now();
    EXPECT_FALSE(me.send_wait_for(1, before, timeout, [&](const received&) { ++handed; }));
    EXPECT_GE(clock::now() - begin, timeout);
    EXPECT_LT(clock::now() - begin, seconds(5));
  }
  EXPECT_EQ(handed, 1);
  EXPECT_EQ(me.statistics().sent, sent) << "a message that was not sent is counted";
  std::uint64_t next = 0;
  const auto take = [&](const received& m) { EXPECT_EQ(m.as<std::uint64_t>(), next++); };
  drain(other, take);
  EXPECT_EQ(next, before);
  EXPECT_TRUE(me.send_wait_for(1, before, milliseconds(0), ignore));
  me.flush();
  drain(other, take);
  EXPECT_EQ(next, before + 1);
}

// The receiver leaves before and during the wait. It does not matter that a third participant has
// left.
TEST_P(SendWait, IsToldThatTheReceiverHasLeft) {
  for (const int pause : {0, 30}) {
    communicator comm(3, options());
    std::atomic<bool> is_full{false};
    run_threads(3, [&](rank_t rank) {
      endpoint& me = comm[rank];
      if (rank == 2) return me.leave();
      if (rank == 1) {
        while (!is_full) std::this_thread::sleep_for(milliseconds(1));
        drain(me);
        while (is_full) std::this_thread::sleep_for(milliseconds(1));
        std::this_thread::sleep_for(milliseconds(pause));
        return me.leave();
      }
      std::this_thread::sleep_for(milliseconds(5));
      const std::uint64_t before = fill(me, 1);
      is_full = true;
      me.send_wait(1, before, ignore);
      fill(me, 1);
      is_full = false;
      try {
        me.send_wait(1, before, ignore);
        // Messages that the receiver had not received when it left do not matter: nobody gives room
        // any more.
        for (;;) me.send_wait(1, before, ignore);
      } catch (const std::runtime_error& e) {
        must(std::string(e.what()).find("rank 1, which has left") != std::string::npos, e.what());
      }
    });
  }
}

// An exception of the function comes out; the message counts as received, and nothing is sent.
TEST_P(SendWait, LetsExceptionsThrough) {
  communicator comm(2, options());
  endpoint &me = comm[0], &other = comm[1];
  const std::uint64_t before = fill(me, 1), sent = me.statistics().sent;
  other.send(0, 1);
  other.flush();
  EXPECT_THROW(
      me.send_wait(1, before, [](const received&) { throw std::logic_error("of the caller"); }),
      std::logic_error);
  EXPECT_EQ(me.statistics().sent, sent);
  EXPECT_FALSE(me.can_recv());
  EXPECT_EQ(drain(other), before);
  std::thread peer([&] { EXPECT_TRUE(finish(other, true)); });
  me.send_wait(1, before, ignore);
  EXPECT_TRUE(finish(me, true)) << "the message is still held";
  peer.join();
}

// A message that is received there may be answered at once if there is room, and kept for later if
// there is none.
TEST_P(SendWait, AnswersFromItsFunction) {
  constexpr std::uint64_t count = 400;
  communicator comm(2, options());
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    const rank_t other = 1 - rank;
    struct note {
      std::uint64_t is_answer, number;
    };
    std::uint64_t answered = 0, next = 0;
    std::deque<note> waiting;
    const auto take = [&](const received& m) {
      const note got = m.as<note>();
      if (got.is_answer != 0) {
        must(got.number == answered++, "an answer out of order");
        return;
      }
      must(got.number == next++, "a question out of order");
      const note answer{1, got.number};
      if (!waiting.empty() || !me.try_send(other, &answer, sizeof answer))
        waiting.push_back(answer);
    };
    const auto send_waiting = [&] {
      // The entry is removed only after it is sent, so that messages that come meanwhile stay
      // behind it.
      for (; !waiting.empty(); waiting.pop_front()) me.send_wait(other, waiting.front(), take);
    };
    for (std::uint64_t k = 0; k < count; ++k) {
      me.send_wait(other, note{0, k}, take);
      send_waiting();
    }
    while (me.idle(true) == idle_result::message) {
      drain(me, take);
      send_waiting();
    }
    must(answered == count && next == count, "answers");
  });
}

// A participant sends to itself while its ring is full: the messages in it are handed over;
// messages that it holds cannot be released by anybody else.
TEST_P(SendWait, ToOneself) {
  communicator comm(2, options());
  endpoint& me = comm[0];
  const std::uint64_t before = fill(me, 0);
  std::uint64_t next = 0;
  const auto take = [&](const received& m) { EXPECT_EQ(m.as<std::uint64_t>(), next++); };
  for (std::uint64_t k = before; k < 1000; ++k) me.send_wait(0, k, take);
  drain(me, take);
  EXPECT_EQ(next, 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, SendWait, test::detectors_and_waits(), test::name_of_both);

// Every build refuses this, because the call could never return.
TEST(SendWaitMisuse, ToOneselfWithAllMessagesHeld) {
  if (TUTTI_CHECKS != 0) GTEST_SKIP() << "reported before (misuse_test.cpp)";
  communicator comm(1, {.ring_bytes = 256});
  endpoint& me = comm[0];
  const std::uint64_t before = fill(me, 0);
  std::vector<received> held;
  while (me.can_recv()) held.push_back(me.recv());
  EXPECT_THROW(me.send_wait(0, before, ignore), std::invalid_argument);
  for (const received& m : held) me.release(m);
  me.send_wait(0, before, ignore);
}

TEST(SendWaitMisuse, FromItsFunction) {
  if (TUTTI_CHECKS != 0) GTEST_SKIP() << "reported before (misuse_test.cpp)";
  communicator comm(2, {.ring_bytes = 256});
  const std::uint64_t before = fill(comm[0], 1);
  comm[1].send(0, 1);
  comm[1].flush();
  EXPECT_THROW(
      comm[0].send_wait(1, before, [&](const received&) { comm[0].send_wait(1, before, ignore); }),
      std::invalid_argument);
}

// A report that is under way keeps messages back: a send waits for its answer, and throws if the
// answer is the end.
TEST(SendWaitDeadline, WaitsUntilAReportIsAnswered) {
  for (const std::string& detector : test::protocol_names()) {
    communicator comm(2, {.detector = detector});
    std::atomic<bool> has_given_up = false;
    run_threads(2, [&](rank_t rank) {
      endpoint& me = comm[rank];
      int got = 0;
      const auto take = [&](const received&) { ++got; };
      if (rank == 1) {
        must(!me.idle_for(true, milliseconds(5)), "an end that nobody else is at");
        has_given_up = true;
        std::this_thread::sleep_for(milliseconds(5));
        // The other may send in time, or come to idle() and end the episode with this rank's
        // report.
        me.send_wait(0, 1, take);
      } else {
        while (!has_given_up) std::this_thread::yield();
        std::this_thread::sleep_for(milliseconds(10));
        me.send(1, 2);
        me.flush();
      }
      must(finish(me, true, take), "votes");
      must(got == 1, "messages");
    });
  }
}

// What a participant releases while a report of its own is under way makes room for the sender, who
// would not answer the report before.
TEST(SendWaitDeadline, GetsTheRoomOfWhatIsReleasedBehindAReport) {
  for (const std::string& detector : test::detector_names()) {
    communicator comm(2, {.detector = detector, .ring_bytes = 256});
    std::atomic<bool> is_full = false;
    run_threads(2, [&](rank_t rank) {
      endpoint& me = comm[rank];
      if (rank == 0) {
        const std::uint64_t last = fill(me, 1);
        is_full = true;
        me.send_wait(1, last, ignore);
      } else {
        while (!is_full) std::this_thread::yield();
        std::vector<received> held;
        while (me.can_recv()) held.push_back(me.recv());
        must(!me.idle_for(true, milliseconds(5)), "released while I hold messages");
        for (const received& message : held) me.release(message);
      }
      must(finish(me, true), "votes");
    });
  }
}

TEST(SendWaitDeadline, IsToldThatTheEpisodeIsOver) {
  communicator comm(2, {.detector = "star"});
  endpoint &root = comm[0], &other = comm[1];
  ASSERT_FALSE(other.idle_for(true, milliseconds(1)));
  std::thread thread([&] { EXPECT_EQ(root.idle(true), idle_result::unanimous); });
  try {
    other.send_wait(0, 1, ignore);
    ADD_FAILURE() << "sent into an episode that is over";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("call idle()"), std::string::npos) << e.what();
  }
  thread.join();
  EXPECT_EQ(other.idle(false), idle_result::unanimous);
  other.send_wait(0, 1, ignore);
}

// Virtual ranks: one that waits for room lets the others of its thread run.
TEST(SendWaitFibers, VirtualRanksLetEachOtherRun) {
  constexpr rank_t ranks = 6;
  team_options how;
  how.threads = 2;
  how.ranks = ranks;
  team threads(how);
  communicator comm(ranks, {.ring_bytes = 256});
  std::vector<std::uint64_t> sums(ranks);
  threads.run([&](member& m) {
    endpoint& me = comm[m.rank()];
    const auto take = [&](const received& message) {
      sums[m.rank()] += message.as<std::uint64_t>();
    };
    for (std::uint64_t k = 0; k < 300; ++k)
      for (rank_t to = 0; to < ranks; ++to) me.send_wait(to, k, take);
    finish(me, true, take);
  });
  for (const std::uint64_t sum : sums) EXPECT_EQ(sum, ranks * 300u * 299u / 2);
}

}  // namespace
}  // namespace tutti
