// SPDX-License-Identifier: Apache-2.0
// Runs the conformance suite on hardware barriers: the drivers against the Verilated units, through
// their register maps.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "Vtutti_cosim_ccip.h"
#include "Vtutti_cosim_harp.h"
#include "Vtutti_cosim_hbs.h"
#include "Vtutti_cosim_mask.h"
#include "hardware/cosim/simulated_device.hpp"
#include "hardware/cosim/simulated_platform.hpp"
#include "hardware/driver/accelerator.hpp"
#include "hardware/driver/harp_barrier.hpp"
#include "hardware/driver/hbs_barrier.hpp"
#include "hardware/driver/providers.hpp"
#include "tests/conformance/data_check.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/scratch.hpp"
#include "tutti/barrier/any.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/native.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tutti::hardware;
using tutti::rank_t;
using tutti::test::data_check;
using tutti::test::hold;
using tutti::test::watched_threads;
using harp_device = simulated_device<Vtutti_cosim_harp>;
using mask_device = simulated_device<Vtutti_cosim_mask>;
using ccip_platform = simulated_platform<Vtutti_cosim_ccip>;
using hbs_device = simulated_device<Vtutti_cosim_hbs>;

// The counting unit behind CCI-P: the platform and the driver share files for memory and messages,
// which each maps for itself.
class harp_platform {
 public:
  std::shared_ptr<accelerator> make() {
    const auto platform = std::make_shared<ccip_platform>("simulated platform", memory_, bytes,
                                                          bus_address, messages_);
    auto unit = std::make_shared<accelerator>(platform);
    unit->share(std::make_shared<mapped_memory>(memory_, bytes, bus_address));
    unit->send_by(std::make_shared<mapped_messages>(messages_));
    return unit;
  }

 private:
  static constexpr std::size_t bytes = 16384;
  static constexpr std::uint64_t bus_address = 0x12'3456'4000;
  tutti::test::scratch folder_;
  std::string memory_ = folder_.write("memory", std::string(bytes, '\0'));
  std::string messages_ = folder_.write("messages", std::string(mapped_messages::bytes, '\0'));
};

// A barrier with everything that it uses.
struct stand {
  std::shared_ptr<harp_platform> platform;
  std::shared_ptr<device> shared_unit;
  std::unique_ptr<device> unit;
  std::unique_ptr<hbs_structure> structure;
  std::unique_ptr<tutti::any_barrier> barrier;
};

struct hardware_provider {
  std::string name;
  std::function<stand(rank_t)> make;
};

stand make_harp(rank_t n, harp_options with) {
  stand s;
  s.unit = std::make_unique<harp_device>("simulated harp");
  s.barrier = std::make_unique<harp_barrier>(*s.unit, n, with);
  return s;
}

// The mask unit has the same registers, so the same driver.
stand make_mask(rank_t n) {
  stand s;
  s.unit = std::make_unique<mask_device>("simulated mask unit");
  s.barrier = std::make_unique<harp_barrier>(*s.unit, n);
  return s;
}

// With messages the unit takes four participants at most.
stand make_ccip(rank_t n, harp_options with) {
  stand s;
  s.platform = std::make_shared<harp_platform>();
  s.shared_unit = s.platform->make();
  s.barrier = std::make_unique<harp_barrier>(*s.shared_unit, n, with);
  return s;
}

std::vector<rank_t> first(rank_t n) {
  std::vector<rank_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

stand make_hbs(rank_t n) {
  stand s;
  s.unit = std::make_unique<hbs_device>("simulated hbs");
  s.structure = std::make_unique<hbs_structure>(*s.unit);
  s.barrier = std::make_unique<hbs_barrier>(*s.structure, first(n));
  return s;
}

std::vector<hardware_provider> providers() {
  const auto harp = [](arrival_path a, departure_path d) {
    return [a, d](rank_t n) { return make_harp(n, {a, d}); };
  };
  const auto ccip = [](arrival_path a, departure_path d) {
    return [a, d](rank_t n) { return make_ccip(n, {a, d}); };
  };
  return {{"harp_registers", harp(arrival_path::csr, departure_path::csr)},
          {"harp_write_lines", harp(arrival_path::csr, departure_path::lines)},
          {"harp_write_line", harp(arrival_path::csr, departure_path::line)},
          {"harp_poll_registers", harp(arrival_path::memory, departure_path::csr)},
          {"harp_poll_lines", harp(arrival_path::memory, departure_path::lines)},
          {"harp_on_the_mask_unit", make_mask},
          {"ccip_registers", ccip(arrival_path::csr, departure_path::csr)},
          {"ccip_write_lines", ccip(arrival_path::csr, departure_path::lines)},
          {"ccip_poll_line", ccip(arrival_path::memory, departure_path::line)},
          {"hbs", make_hbs}};
}

class Hardware : public testing::TestWithParam<hardware_provider> {
 protected:
  static void expect_to_pass(const data_check& plan) {
    const stand s = GetParam().make(plan.participants);
    const auto arrive = [&](rank_t rank) { s.barrier->arrive_and_wait(rank); };
    EXPECT_EQ(hold(plan, arrive), "") << GetParam().name << ", n = " << plan.participants;
  }
};

INSTANTIATE_TEST_SUITE_P(Cosim, Hardware, testing::ValuesIn(providers()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Hardware, PublishesEverybodysData) {
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 17u, 64u})
    expect_to_pass({.participants = n, .time = 50ms});
}

TEST_P(Hardware, LetsNobodyLeaveBeforeTheLastArrives) {
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 17u, 64u})
    expect_to_pass({.participants = n, .time = 50ms, .random_delays = true, .traced = true});
}

TEST_P(Hardware, WaitsForThoseWhoStartLate) {
  for (const rank_t n : {2u, 7u, 28u})
    expect_to_pass({.participants = n, .most_episodes = 5, .late_start = true, .traced = true});
}

TEST_P(Hardware, WorksOnOneCore) {
  for (const rank_t n : {2u, 5u})
    expect_to_pass({.participants = n, .time = 30ms, .one_core = true});
}

// More episodes than the generation's 8 bits can count.
TEST_P(Hardware, IsReusedManyTimes) {
  expect_to_pass(
      {.participants = 1, .most_episodes = 2'000, .fewest_episodes = 1'000, .time = 50ms});
  expect_to_pass({.participants = 2, .most_episodes = 2'000, .fewest_episodes = 700, .time = 50ms});
}

TEST_P(Hardware, ManyEpisodesInOneCall) {
  const stand s = GetParam().make(3);
  EXPECT_EQ(s.barrier->participants(), 3u);
  std::atomic<rank_t> done{0};
  watched_threads(100s).run(
      3,
      [&](rank_t rank) {
        s.barrier->episodes(rank, 100);
        ++done;
      },
      [&] { return GetParam().name + " in many episodes"; });
  EXPECT_EQ(done, 3u);
}

TEST_P(Hardware, GivesUpAtTheDeadlineAndSaysWhoIsMissing) {
  const stand s = GetParam().make(3);
  std::atomic<rank_t> in_time{0};
  const auto meet = [&](std::vector<rank_t> present, std::uint64_t ns) {
    in_time = 0;
    watched_threads(100s).run(
        static_cast<rank_t>(present.size()),
        [&](rank_t i) {
          const tutti::deadline until(tutti::native::now_ns() + ns);
          in_time += s.barrier->arrive_and_wait(present[i], until);
        },
        [&] { return GetParam().name + " with a deadline"; });
  };
  meet({0, 1, 2}, 60'000'000'000);
  EXPECT_EQ(in_time, 3u);
  meet({0, 2}, 20'000'000);
  EXPECT_EQ(in_time, 0u);
  if (auto* harp = dynamic_cast<harp_barrier*>(s.barrier.get())) {
    EXPECT_EQ(harp->missing(0), std::vector<rank_t>{1});
    EXPECT_EQ(harp->errors(), 0u);
  }
  if (auto* hbs = dynamic_cast<hbs_barrier*>(s.barrier.get())) {
    EXPECT_EQ(hbs->missing(), std::vector<rank_t>{1});
  }
}

// Tests tutti::barrier itself, including its ranks for threads that give none, and its deadlines.
struct by_name {
  const char* name;
  std::function<tutti::barrier_provider()> make;
};

class ByName : public testing::TestWithParam<by_name> {
 protected:
  provider units_{GetParam().name, GetParam().make()};
  tutti::barrier_options with_{.algorithm = GetParam().name};
};

INSTANTIATE_TEST_SUITE_P(
    Cosim, ByName,
    testing::Values(
        by_name{"harp",
                [] { return harp_barriers(std::make_shared<harp_device>("simulated harp")); }},
        by_name{"harp_mask",
                [] { return harp_barriers(std::make_shared<mask_device>("simulated mask unit")); }},
        by_name{"hbs", [] { return hbs_barriers(std::make_shared<hbs_device>("simulated hbs")); }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(ByName, TheBarrierPassesTheSuite) {
  for (const rank_t n : {1u, 2u, 5u, 28u}) {
    const data_check plan{
        .participants = n, .time = 50ms, .late_start = true, .random_delays = true, .traced = true};
    tutti::barrier named(n, with_);
    EXPECT_EQ(hold(plan, [&](rank_t rank) { named.arrive_and_wait(rank); }), "");
  }
  tutti::barrier nameless(5, with_);
  EXPECT_EQ(hold(data_check{.participants = 5, .time = 50ms, .traced = true},
                 [&](rank_t) { nameless.arrive_and_wait(); }),
            "");
}

TEST_P(ByName, TheBarrierSaysWhoIsMissing) {
  tutti::barrier sync(3, with_);
  tutti::timed_result results[3];
  watched_threads(100s).run(
      2, [&](rank_t i) { results[i] = sync.arrive_and_wait_for(2 * i, 20ms); },
      [] { return "a barrier with a deadline"; });
  for (int i : {0, 1}) EXPECT_EQ(results[i].missing_ranks, std::vector<rank_t>{1});
}

TEST_P(ByName, IsGoneWithItsProvider) {
  auto kept = tutti::make_barrier(with_.algorithm, 1);
  EXPECT_THROW(provider(GetParam().name, GetParam().make()), std::invalid_argument);
  EXPECT_THROW(tutti::make_barrier(with_.algorithm, 1, "spin"), std::invalid_argument);
  tutti::remove_barrier_provider(with_.algorithm);
  EXPECT_THROW(tutti::make_barrier(with_.algorithm, 1), std::invalid_argument);
  kept->arrive_and_wait(0);
}

TEST(Provider, AUnitHasOneBarrierAtATime) {
  const provider units("one_unit", harp_barriers(std::make_shared<harp_device>("simulated harp")));
  auto first = tutti::make_barrier("one_unit", 2);
  EXPECT_THROW(tutti::make_barrier("one_unit", 2), std::runtime_error);
  first.reset();
  EXPECT_NO_THROW(tutti::make_barrier("one_unit", 2));
  EXPECT_THROW(tutti::make_barrier("one_unit", 65), std::invalid_argument);
  EXPECT_NO_THROW(tutti::make_barrier("one_unit", 64));
}

// Messages take four participants at most, so that the suite's sizes do not fit.
class Messages : public testing::TestWithParam<departure_path> {};

std::string name_of(departure_path path) {
  return path == departure_path::csr ? "csr" : path == departure_path::lines ? "lines" : "line";
}
INSTANTIATE_TEST_SUITE_P(Cosim, Messages,
                         testing::Values(departure_path::csr, departure_path::lines,
                                         departure_path::line),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(Messages, PassTheSuite) {
  for (const rank_t n : {1u, 2u, 3u, 4u}) {
    const stand s = make_ccip(n, {arrival_path::message, GetParam()});
    const auto arrive = [&](rank_t rank) { s.barrier->arrive_and_wait(rank); };
    EXPECT_EQ(hold(data_check{.participants = n,
                              .time = 50ms,
                              .late_start = true,
                              .random_delays = true,
                              .traced = true},
                   arrive),
              "");
    EXPECT_EQ(dynamic_cast<harp_barrier&>(*s.barrier).errors(), 0u);
    EXPECT_EQ(dynamic_cast<accelerator&>(*s.shared_unit).refused_requests(), 0u);
  }
}

TEST(MessagesOfAUnit, AreForFour) {
  harp_platform platform;
  tutti::test::expect_refused<std::invalid_argument>(
      [&] { harp_barrier(*platform.make(), 5, {.arrival = arrival_path::message}); },
      "takes messages of 1 to 4 participants, not of 5");
}

TEST(MessagesOfAUnit, NeedAPlatformThatSendsThem) {
  harp_device unit("simulated harp");
  tutti::test::expect_refused<std::runtime_error>(
      [&] { harp_barrier(unit, 2, {.arrival = arrival_path::message}); }, "sends no messages");
}

TEST(Platform, HasTheAcceleratorAndNoOther) {
  const auto platform = std::make_shared<ccip_platform>("simulated platform", "", 0, 0, "");
  EXPECT_EQ(find_accelerator(*platform, counting_accelerator), 0u);
  tutti::test::expect_refused<std::runtime_error>(
      [&] {
        accelerator(platform, {1, 2});
      },
      "has no accelerator 00000000-0000-0001-0000-000000000002; it has "
      "aa60c3ce-770e-577e-93ff-c255400aa53c");
}

// Checks that the suite fails on a driver with a known error.
TEST(Control, AUnitToldTooFewFails) {
  harp_device unit("simulated harp");
  harp_barrier barrier(unit, 4);
  unit.write(tutti::hardware::size, 3);
  std::atomic<bool> late{false};
  std::atomic<rank_t> early{0};
  watched_threads(100s).run(
      4,
      [&](rank_t rank) {
        if (rank == 3) {
          std::this_thread::sleep_for(50ms);
          late = true;
          return;
        }
        const tutti::deadline until(tutti::native::now_ns() + 10'000'000'000);
        barrier.arrive_and_wait(rank, until);
        early += !late;
      },
      [] { return "a unit told too few"; });
  EXPECT_EQ(early, 3u);
}

TEST(Structure, BarriersDoNotDisturbEachOther) {
  hbs_device unit("simulated hbs");
  hbs_structure structure(unit);
  hbs_barrier one(structure, {0, 5, 63}), two(structure, {1, 2}), three(structure, {7});
  std::string wrong[2];
  std::thread other([&] {
    wrong[1] =
        hold(data_check{.participants = 2, .time = 60ms, .random_delays = true, .traced = true},
             [&](rank_t rank) { two.arrive_and_wait(rank); });
  });
  wrong[0] =
      hold(data_check{.participants = 3, .time = 60ms, .random_delays = true, .traced = true},
           [&](rank_t rank) { one.arrive_and_wait(rank); });
  other.join();
  EXPECT_EQ(wrong[0], "");
  EXPECT_EQ(wrong[1], "");
  three.arrive_and_wait(0);
  EXPECT_EQ(unit.read(hbs::error), 0u);
}

TEST(Structure, GivesOutWhatItHas) {
  hbs_device unit("simulated hbs");
  hbs_structure structure(unit);
  EXPECT_EQ(structure.capable().local, 64u);
  EXPECT_EQ(structure.capable().barriers, 4u);
  std::vector<std::unique_ptr<hbs_barrier>> all;
  for (rank_t b = 0; b < 4; ++b)
    all.push_back(std::make_unique<hbs_barrier>(structure, std::vector<rank_t>{b}));
  EXPECT_THROW(hbs_barrier(structure, {9}), std::runtime_error);
  all.pop_back();
  hbs_barrier again(structure, {9});
  again.arrive_and_wait(0);
  EXPECT_THROW(hbs_barrier(structure, {}), std::invalid_argument);
  EXPECT_THROW(hbs_barrier(structure, {64}), std::invalid_argument);
  EXPECT_THROW(hbs_barrier(structure, {1, 1}), std::invalid_argument);
}

}  // namespace
