// SPDX-License-Identifier: Apache-2.0
// Participants whose deadlines pass and that come again, with every detector and wait policy, in a
// source with checks: the participant that ends an episode compares what all have given to idle()
// while others enter for the second time.
#define TUTTI_CHECKS 1
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/comm/detector_and_wait.hpp"
#include "tests/comm/run_threads.hpp"

namespace tutti {
namespace {

using std::chrono::microseconds;

class IdleFor : public test::DetectorAndWait {};

// Every participant waits with short deadlines, again and again, and sends in between if it may.
// Plain data are published by the messages and by the ends of the episodes.
TEST_P(IdleFor, ComesAgainUntilTheEpisodeEnds) {
  constexpr std::uint32_t episodes = 60, cells = 4096;
  for (const rank_t n : {2u, 3u, 5u}) {
    communicator comm(n, options());
    std::vector<std::uint32_t> wrote(n), said(n * cells);
    std::vector<std::uint64_t> sent(n), got(n), late(n);
    run_threads(n, [&](rank_t rank) {
      endpoint& me = comm[rank];
      std::mt19937 random(rank + 31 * n);
      const auto take = [&](const received& message) {
        must(said[message.source * cells + message.as<std::uint32_t>()] ==
                 message.as<std::uint32_t>() + 7,
             "the data behind a message");
        ++got[rank];
      };
      const auto send = [&] {
        const auto to = static_cast<rank_t>(random() % n);
        if (sent[rank] == cells || !me.can_send(to)) return;
        const auto cell = static_cast<std::uint32_t>(sent[rank]++);
        said[rank * cells + cell] = cell + 7;
        me.send(to, cell);
      };
      for (std::uint32_t episode = 0; episode < episodes; ++episode) {
        wrote[rank] = episode + 1;
        if (random() % 2 == 0) send();
        const bool vote = episode % 2 == 0 || rank != episode % n;
        // The deadlines of the others pass.
        if (episode % 4 == 0 && rank == episode / 4 % n)
          std::this_thread::sleep_for(microseconds(500));
        // The deadlines grow, because an episode ends only if all are idle at the same time.
        for (unsigned attempt = 0;; ++attempt) {
          const timed_idle now =
              me.idle_for(vote, microseconds(random() % (20u << std::min(attempt, 10u))));
          if (!now) {
            ++late[rank];
            // A participant that may send is not idle, so the episode is not over.
            if (random() % 4 == 0) send();
            drain(me, take);
            continue;
          }
          if (now.result == idle_result::message) {
            drain(me, take);
            continue;
          }
          must((now.result == idle_result::unanimous) == (episode % 2 == 0), "the votes");
          break;
        }
        for (rank_t other = 0; other < n; ++other) must(wrote[other] > episode, "released early");
        finish(me, true, take);
      }
    });
    std::uint64_t all_sent = 0, all_got = 0, all_late = 0;
    for (rank_t rank = 0; rank < n; ++rank) {
      all_sent += sent[rank];
      all_got += got[rank];
      all_late += late[rank];
    }
    EXPECT_EQ(all_sent, all_got);
    EXPECT_GT(all_late, 0u);
  }
}

// A rank whose deadline has passed as well is no rank that runs.
TEST_P(IdleFor, TellsTheLateFromTheRunning) {
  communicator comm(3, options());
  ASSERT_FALSE(comm[1].idle_for(true, microseconds(50)));
  const timed_idle late = comm[0].idle_for(true, microseconds(50));
  ASSERT_FALSE(late);
  ASSERT_EQ(late.missing.size(), 2u);
  EXPECT_EQ(late.missing[0].rank, 1u);
  EXPECT_EQ(late.missing[0].why, absence::late);
  EXPECT_EQ(late.missing[1].rank, 2u);
  EXPECT_EQ(late.missing[1].why, absence::running);
}

// A report of before a deadline may end the episode without the value that comes after.
TEST_P(IdleFor, TakesNoValueWhileAReportIsUnderWay) {
  const auto& names = test::protocol_names();
  if (std::find(names.begin(), names.end(), std::get<0>(GetParam())) == names.end())
    GTEST_SKIP() << "this detector takes a report back";
  communicator comm(2, options());
  static std::string report;
  const misuse_handler before = on_misuse;
  on_misuse = [](const std::string& what, const source_place&) { report = what; };
  // The ring's token has to come from rank 0; in the other protocols rank 1 reports unasked.
  EXPECT_FALSE(comm[0].idle_for(true, microseconds(50)));
  EXPECT_FALSE(comm[1].idle_for(true, microseconds(50)));
  EXPECT_THROW((void)comm[1].idle(true, 1, plus{}), std::invalid_argument);
  EXPECT_NE(report.find("gives a value to idle(), but an idle_for()"), std::string::npos) << report;
  on_misuse = before;
}

INSTANTIATE_TEST_SUITE_P(All, IdleFor, test::detectors_and_waits(), test::name_of_both);

}  // namespace
}  // namespace tutti
