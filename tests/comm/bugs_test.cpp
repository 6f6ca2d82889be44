// SPDX-License-Identifier: Apache-2.0
// Mistakes of other libraries, as programs that expose them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/comm/detectors.hpp"
#include "tests/comm/run_threads.hpp"

namespace tutti {
namespace {

class Bugs : public testing::TestWithParam<std::string> {
 protected:
  static communicator_options options() {
    communicator_options chosen;
    chosen.detector = GetParam();
    chosen.ring_bytes = 1024;
    return chosen;
  }
};

// YGM PR 224, libMesh PR 1684: one rank leaves the barrier early and sends; a rank that is still
// inside takes the message for one of this round. "More frequent with more ranks than cores."
TEST_P(Bugs, WhoeverLeavesFirstDisturbsNobodyInside) {
  for (const rank_t n : {2u, 3u, 6u}) {
    communicator comm(n, options());
    const std::uint32_t episodes = n == 2 ? 3000 : 300;
    run_threads(n, [&](rank_t rank) {
      endpoint& me = comm[rank];
      for (std::uint32_t episode = 0; episode < episodes; ++episode) {
        // Sends to everybody at once after the release.
        for (rank_t to = 0; to < n; ++to) {
          while (!me.can_send(to)) drain(me);
          me.send(to, episode);
        }
        me.flush();
        std::uint32_t got = 0;
        finish(me, true, [&](const received& m) {
          must(m.as<std::uint32_t>() == episode, "a message of another episode");
          ++got;
        });
        must(got == n, "an episode without all its messages");
      }
    });
  }
}

// charm 1658: quiescence is announced between two waves because the messages processed are counted,
// not the messages created. Here every message creates others, so at most instants nearly all
// participants are idle and something is under way.
TEST_P(Bugs, WorkThatBegetsWorkIsWaitedFor) {
  constexpr rank_t n = 4;
  communicator comm(n, options());
  struct task {
    std::uint32_t depth, seed;
  };
  constexpr std::uint32_t depth = 8;
  // The number of nodes of a binary tree.
  constexpr std::uint64_t tasks = (1u << (depth + 1)) - 1;
  std::vector<std::uint64_t> done(n);
  run_threads(n, [&](rank_t rank) {
    endpoint& me = comm[rank];
    for (std::uint32_t episode = 0; episode < 30; ++episode) {
      std::vector<task> todo;
      std::uint64_t mine = 0;
      if (rank == episode % n) me.send((rank + 1) % n, task{depth, episode});
      for (;;) {
        if (me.idle(true) != idle_result::message) break;
        drain(me, [&](const received& m) { todo.push_back(m.as<task>()); });
        for (; !todo.empty(); ++mine) {
          const task t = todo.back();
          todo.pop_back();
          for (std::uint32_t child = 0; t.depth > 0 && child < 2; ++child) {
            const std::uint32_t seed = (t.seed * 2654435761u + child + 1) ^ (t.seed >> 13);
            while (!me.can_send(seed % n))
              drain(me, [&](const received& m) { todo.push_back(m.as<task>()); });
            me.send(seed % n, task{t.depth - 1, seed});
          }
        }
      }
      done[rank] = mine;
      // The sum over all in the episode before; no participant writes it again before all are in
      // the second one.
      must(me.idle(true, mine, plus{}).value == tasks, "the release came before the work was done");
    }
  });
}

// HPX PR 7506: a token is passed on with its bearer's colour instead of the one that it came with.
// Messages that pass behind the token, against its direction and across it, expose this.
TEST_P(Bugs, MessagesBehindTheTokenAreSeen) {
  constexpr rank_t n = 5;
  communicator comm(n, options());
  for (const rank_t stride : {rank_t{n - 1}, rank_t{2}, rank_t{1}}) {
    // Plain, because each hop happens before the next.
    std::uint64_t hops = 0;
    run_threads(n, [&](rank_t rank) {
      endpoint& me = comm[rank];
      for (std::uint32_t episode = 1; episode <= 40; ++episode) {
        if (rank == n - 1) me.send((rank + stride) % n, 37u);
        finish(me, true, [&](const received& m) {
          const auto left = m.as<std::uint32_t>();
          ++hops;
          if (left > 1) me.send((rank + stride) % n, left - 1);
        });
        must(hops == 37u * episode, "released while a message walked");
        must(finish(me, true), "an empty episode");
      }
    });
  }
}

// An earlier bug of tutti: idle() had only seen a message, and recv() took it from a place where
// there was none.
TEST_P(Bugs, AMessageCanBeReceivedAtOnceAfterIdle) {
  constexpr rank_t n = 3;
  communicator comm(n, options());
  run_threads(n, [&](rank_t rank) {
    endpoint& me = comm[rank];
    for (std::uint64_t episode = 0; episode < 200; ++episode) {
      for (rank_t to = 0; to < n; ++to) me.send(to, episode);
      std::uint64_t got = 0;
      while (me.idle(true) == idle_result::message) {
        const received message = me.recv();
        must(message.size == sizeof episode && message.as<std::uint64_t>() == episode,
             "something else");
        me.release(message);
        ++got;
      }
      must(got == n, "messages are lost");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, Bugs, testing::ValuesIn(test::detector_names()),
                         [](const auto& tested) { return tested.param; });

// deal.II 14405: the 2^24-th round deadlocks. Nothing here counts with fewer than 39 bits.
TEST(Bug, RoundsDoNotRunOut) {
  communicator comm(1, {.detector = "counter"});
  endpoint& me = comm[0];
  constexpr std::uint64_t rounds = (1u << 24) + 1000;
  for (std::uint64_t i = 0; i < rounds; ++i) ASSERT_EQ(me.idle(true), idle_result::unanimous);
  EXPECT_EQ(me.statistics().episodes, rounds);
}

// vt 500: a detector of hangs reports a hang when there are more threads than cores.
TEST(Bug, ALongDeadlineDoesNotPassBecauseCoresAreFew) {
  constexpr rank_t n = 12;
  communicator comm(n);
  run_threads(n, [&](rank_t rank) {
    for (int episode = 0; episode < 200; ++episode) {
      const timed_idle now = comm[rank].idle_for(true, std::chrono::minutes(5));
      must(now.in_time && now.result == idle_result::unanimous, "late");
    }
  });
}

}  // namespace
}  // namespace tutti
