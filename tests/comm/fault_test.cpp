// SPDX-License-Identifier: Apache-2.0
// Participants that do not come, do not release, or leave: they are named within the deadline, and
// nothing is corrupted.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/comm/detector_and_wait.hpp"
#include "tests/comm/run_threads.hpp"

namespace tutti {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Faults = test::DetectorAndWait;

// Three participants, each of which calls body(endpoint, rank) after an episode of all.
template <class Body>
void run_three(const communicator_options& options, Body body) {
  communicator comm(3, options);
  run_threads(3, [&](rank_t rank) {
    endpoint& me = comm[rank];
    must(finish(me, true), "all three");
    body(me, rank);
  });
}

TEST_P(Faults, NamesWhoeverDoesNotCome) {
  std::atomic<int> told{0};
  run_three(options(), [&](endpoint& me, rank_t rank) {
    if (rank == 1) {
      while (told < 2) std::this_thread::sleep_for(milliseconds(1));
    } else {
      const timed_idle late = me.idle_for(true, milliseconds(10));
      must(!late, "released without rank 1");
      bool is_named = false;
      for (const absentee& who : late.missing)
        is_named = is_named || (who.rank == 1 && who.why == absence::running);
      must(is_named, "rank 1 is not named");
      for (const absentee& who : late.missing) must(who.rank != rank, "I am not missing");
      ++told;
    }
    // Rank 1 comes after all: nothing is lost or counted twice.
    for (int episode = 0; episode < 20; ++episode) must(finish(me, true), "after the deadline");
  });
}

TEST_P(Faults, NamesWhoeverDoesNotRelease) {
  communicator comm(2, options());
  std::atomic<bool> is_told{false};
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    if (rank == 0) {
      me.send(1, 1);
      me.send(1, 2);
      for (;;) {
        const timed_idle late = me.idle_for(true, milliseconds(20));
        must(!late, "released though rank 1 holds two messages");
        if (late.missing.size() == 1 && late.missing[0].why == absence::holding) {
          must(late.missing[0].rank == 1 && late.missing[0].messages == 2, "who holds what");
          break;
        }
      }
      is_told = true;
    } else {
      must(me.idle(true) == idle_result::message, "no message");
      std::vector<received> held;
      while (held.size() < 2)
        if (me.can_recv()) held.push_back(me.recv());
      while (!is_told)
        must(!me.idle_for(true, milliseconds(5)), "released while I hold two messages");
      for (const received& message : held) me.release(message);
    }
    must(finish(me, true), "after the release");
  });
}

TEST_P(Faults, TellsThoseWhoWaitThatOneHasLeft) {
  std::atomic<int> told{0};
  run_three(options(), [&](endpoint& me, rank_t rank) {
    if (rank == 2) {
      // By now it is asleep, if it sleeps.
      std::this_thread::sleep_for(milliseconds(20));
      return me.leave();
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        me.idle(true);
        must(false, "idle() returned without rank 2");
      } catch (const std::runtime_error& e) {
        must(std::string(e.what()).find("have left: 2") != std::string::npos, e.what());
        ++told;
      }
    }
  });
  EXPECT_EQ(told, 4);
}

// A deadline passes again and again while messages come and go.
TEST_P(Faults, GivesUpAndComesAgainWithoutHarm) {
  constexpr rank_t n = 3;
  communicator comm(n, options());
  run_threads(n, [&](rank_t rank) {
    endpoint& me = comm[rank];
    std::uint64_t got = 0;
    for (int episode = 0; episode < 200; ++episode) {
      // After a deadline a protocol may forbid sending until its report is answered, so everybody
      // sends here.
      for (rank_t to = 0; to < n; ++to) {
        while (!me.can_send(to)) got += drain(me);
        me.send(to, episode);
      }
      // The time is longer each time: a participant that gives up too soon is never idle together
      // with the others.
      for (int tries = 0;;) {
        const timed_idle now =
            me.idle_for(true, std::chrono::microseconds(episode % 7 + tries * tries));
        if (!now) {
          ++tries;
          continue;
        }
        if (now.result == idle_result::unanimous) break;
        got += drain(me, [&](const received& m) {
          must(m.as<int>() == episode, "another episode's message");
        });
      }
      must(got == static_cast<std::uint64_t>(episode + 1) * n, "messages under way at the release");
    }
    must(me.statistics().episodes == 200, "episodes");
  });
}

// A report from before the deadline may end the episode; a participant that has left since stays
// gone.
TEST_P(Faults, WhoLeavesAfterADeadlineIsGone) {
  communicator comm(2, options());
  ASSERT_FALSE(comm[1].idle_for(true, milliseconds(5)));
  comm[1].leave();
  int ends = 0;
  EXPECT_THROW(for (; ends < 2; ++ends)
                   EXPECT_TRUE(comm[0].idle_for(true, std::chrono::seconds(30)).in_time),
               std::runtime_error);
  EXPECT_LT(ends, 2);
}

// A participant that is used to messages gives up. Its report ends the episode, and a message of
// the next one comes. It must see first the end, then the message.
TEST_P(Faults, AnEndIsNotPassedOverForWhatComesAfterIt) {
  communicator comm(2, options());
  std::atomic<int> stage{0};
  const auto wait_for = [&](int wanted) {
    while (stage < wanted) std::this_thread::sleep_for(milliseconds(1));
  };
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    if (rank == 0) {
      for (int episode = 0; episode <= 40; ++episode) {
        for (int i = 0; i < 10 && episode % 2 == 0; ++i) me.send(1, episode);
        finish(me, true);
      }
      wait_for(1);
      // This ends at once if the other's report counts, otherwise when the other comes again.
      stage = 2;
      must(me.idle(true) == idle_result::unanimous, "the end of the episode");
      me.send(1, 2000);
      me.flush();
      stage = 3;
      must(finish(me, true), "the end of the last episode");
      return;
    }
    for (int episode = 0; episode <= 40; ++episode) finish(me, true);
    must(!me.idle_for(true, milliseconds(5)), "an end that nobody else is at");
    stage = 1;
    wait_for(2);
    // Long enough for the other to end the episode and to send, if this rank's report allows it.
    std::this_thread::sleep_for(milliseconds(20));
    must(me.idle(true) == idle_result::unanimous, "a message before the end");
    must(me.idle(true) == idle_result::message, "no message after the end");
    const received message = me.recv();
    must(message.as<int>() == 2000, "another message");
    me.release(message);
    must(finish(me, true), "the end of the last episode");
  });
}

INSTANTIATE_TEST_SUITE_P(All, Faults, test::detectors_and_waits(), test::name_of_both);

// A report cannot be withdrawn: until it is answered the participant may not send, and afterwards
// it may.
TEST(Deadline, HoldsBackMessagesWhileAReportIsUnderWay) {
  communicator comm(2, {.detector = "star"});
  endpoint &root = comm[0], &other = comm[1];
  ASSERT_FALSE(other.idle_for(true, milliseconds(1)));
  EXPECT_FALSE(other.can_send(0));
  const std::uint64_t value = 1;
  EXPECT_FALSE(other.try_send(0, &value, sizeof value));
  // The root is idle with the report, so the episode is over, with the vote of that report.
  std::thread thread([&] { EXPECT_EQ(root.idle(true), idle_result::unanimous); });
  thread.join();
  EXPECT_FALSE(other.can_recv());
  EXPECT_EQ(other.idle(false), idle_result::unanimous);
  EXPECT_TRUE(other.can_send(0));
  EXPECT_EQ(other.statistics().episodes, 1u);
}

}  // namespace
}  // namespace tutti
