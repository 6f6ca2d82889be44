// SPDX-License-Identifier: Apache-2.0
// Every detector runs a million episodes with messages in each, without a hang.
#include <gtest/gtest.h>

#include <string>

#include "tests/comm/detectors.hpp"
#include "tests/comm/run_threads.hpp"

namespace tutti {
namespace {

class Million : public testing::TestWithParam<std::string> {};

TEST_P(Million, EpisodesWithAMessageEach) {
  communicator_options options;
  options.detector = GetParam();
  communicator comm(2, options);
  constexpr std::uint32_t episodes = 1'000'000;
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    for (std::uint32_t episode = 0; episode < episodes; ++episode) {
      me.send(1 - rank, episode);
      std::uint32_t got = 0;
      finish(me, true, [&](const received& m) {
        must(m.as<std::uint32_t>() == episode, "another episode's message");
        ++got;
      });
      must(got == 1, "the message");
    }
  });
}

TEST_P(Million, EpisodesOfFourInAll) {
  communicator_options options;
  options.detector = GetParam();
  communicator comm(4, options);
  run_threads(4, [&](rank_t rank) {
    for (std::uint32_t episode = 0; episode < 250'000; ++episode)
      must(finish(comm[rank], true), "the vote");
  });
}

INSTANTIATE_TEST_SUITE_P(All, Million, testing::ValuesIn(test::detector_names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace tutti
