// SPDX-License-Identifier: Apache-2.0
// Tests the kernel's programs for long: barriers under loss, and communicators that come and go.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;
using namespace std::chrono_literals;

// The numbers of the long tests, unless the environment gives others.
unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::stoul(text));
}

// The percentage of packets that are lost, and the topology. Without loss there are ten times as
// many barriers.
class long_loss : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(long_loss, no_barrier_is_lost_or_early) {
  NEEDS_TESTBED();
  const auto [percent, topology] = GetParam();
  const std::string name(topology_names[topology]);
  const unsigned barriers =
      from_environment("TUTTI_NETWORK_BARRIERS", 100'000) * (percent == 0 ? 10 : 1);
  testbed bed(4);
  if (percent != 0)
    bed.inject_faults({.lose = percent / 100.0, .repeat = 0.02, .reorder = 0.02, .seed = 7});
  const auto begin = clock::now();
  EXPECT_EQ(run_barriers(bed, topology, barriers, 0, 3600s), "") << name;
  const std::chrono::duration<double> took = clock::now() - begin;
  std::printf("%s: %u barriers of 4, %u%% lost, %.1f s\n", name.c_str(), barriers, percent,
              took.count());
  std::fflush(stdout);
}

std::string name_of(const testing::TestParamInfo<long_loss::ParamType>& info) {
  const auto [percent, topology] = info.param;
  return "percent_" + std::to_string(percent) + "_" + std::string(topology_names[topology]);
}

INSTANTIATE_TEST_SUITE_P(lost, long_loss,
                         testing::Combine(testing::Values(0u, 1u, 5u, 20u),
                                          testing::Range(first_topology, last_topology + 1)),
                         name_of);

// All ranks draw the same numbers, and free the communicators in the same order.
TEST(long_communicators, are_made_and_freed_at_random) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4;
  constexpr unsigned most = TUTTI_NET_MEMBERS - 1;
  const unsigned steps = from_environment("TUTTI_NETWORK_COMMUNICATORS", 60'000);
  testbed bed(n);
  bed.inject_faults({.lose = 0.01, .repeat = 0.01, .reorder = 0.01, .seed = 11});
  const shared_array<std::atomic<unsigned>> fullest(1);
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        xdp_endpoint world("eth0", bed.options(TUTTI_NET_TREE, r));
        ready.wait();
        identifiers ids(most);
        const auto make = [&](const group::agreement& a) {
          return endpoint_of(bed,
                             a.communicator % 2 == 0 ? TUTTI_NET_DISSEMINATION : TUTTI_NET_RING, a);
        };
        std::mt19937 random(5);
        std::vector<std::unique_ptr<group>> all;
        for (unsigned step = 0; step < steps; ++step) {
          const bool is_full = all.size() == most;
          if (all.empty() || (!is_full && random() % 16 < (step / 200 % 2 == 0 ? 12 : 4))) {
            const unsigned colours = 1 + random() % 2;
            all.push_back(group::split(world, ids, r % colours, make));
            if (!all.back()) throw std::runtime_error("no communicator, though there is room");
            if (r == 0 && all.size() > fullest[0]) fullest[0] = static_cast<unsigned>(all.size());
          } else {
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
          }
          if (all.empty()) continue;
          group& used = *all[random() % all.size()];
          std::array<std::uint64_t, 1> members{1ull << r};
          (*used).allreduce(TUTTI_NET_OR, members, clock::now() + 300s);
          std::uint64_t expected = 0;
          for (const rank_t m : used.agreed().members) expected |= 1ull << m;
          if (members[0] != expected) throw std::runtime_error("values of another communicator");
        }
        while (!all.empty()) all.pop_back();
        if (ids.in_use() != 0) throw std::runtime_error("identifiers stay in use");
        world.barrier(clock::now() + 300s);
        std::this_thread::sleep_for(200ms);
      },
      3600s);
  EXPECT_EQ(error, "");
  std::printf("%u steps, at most %u communicators at once\n", steps, fullest[0].load());
}

}  // namespace
