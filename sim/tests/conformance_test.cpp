// SPDX-License-Identifier: Apache-2.0
// Every barrier with every wait policy on simulated machines: simulated threads publish plain data,
// arrive, leave, and check what all the others published, and the trace checker of the conformance
// suite looks at the times.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/simulated.hpp"
#include "sim/tests/some_machine.hpp"
#include "tests/conformance/trace.hpp"
#include "tests/support/refusal.hpp"

namespace tutti::sim {
namespace {

struct conditions {
  rank_t participants = 2;
  std::uint32_t episodes = 3;
  std::uint64_t seed = 1;
  // Whether to work for a random time before arrivals.
  bool random_delays = false;
  // Every second participant comes milliseconds after the others.
  bool late_start = false;
};

// Returns the first error, or an empty string.
std::string hold(const machine& m, const contender& who, const conditions& c) {
  const simulated::making_for here(m);
  const std::unique_ptr<repeated_object> object = who.make(c.participants);
  const rank_t n = c.participants;
  std::vector<std::vector<std::uint64_t>> boards(2, std::vector<std::uint64_t>(n));
  test::trace passages;
  std::string complaint;
  generator random(c.seed);
  world w(m, {.seed = c.seed, .skips_polls = who.polls_without_end});
  const auto attend = [&](rank_t rank) {
    if (c.late_start && rank % 2 == 1) w.spend(picoseconds(2e6 + 1e6 * (rank % 8)));
    for (std::uint64_t episode = 0; episode < c.episodes; ++episode) {
      if (c.random_delays) w.spend(random.below(picoseconds(2000)));
      auto& board = boards[episode % 2];
      board[rank] = episode << 16 | rank;
      test::passage p{rank, episode, w.now(), 0};
      object->episode(rank);
      p.leave = w.now();
      passages.push_back(p);
      for (rank_t other = 0; other < n; ++other)
        if (board[other] != (episode << 16 | other) && complaint.empty())
          complaint = "participant " + std::to_string(rank) + " left episode " +
                      std::to_string(episode) + " before " + std::to_string(other) + " had come";
    }
  };
  w.run([&] {
    for (rank_t rank = 1; rank < n; ++rank) w.start([&attend, rank] { attend(rank); });
    attend(0);
  });
  return complaint.empty() ? test::check(passages, n, c.episodes) : complaint;
}

class Simulated : public testing::TestWithParam<std::string> {
 protected:
  static std::vector<contender> all() { return barriers({"all"}, {GetParam()}); }
};
INSTANTIATE_TEST_SUITE_P(Waits, Simulated,
                         testing::Values("adaptive", "spin", "yield", "park", "monitor"),
                         [](const auto& each) { return each.param; });

TEST_P(Simulated, LetsNobodyLeaveBeforeTheLastArrives) {
  for (const contender& who : all())
    for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 17u, 64u})
      for (const std::uint64_t seed : {1u, 2u})
        EXPECT_EQ(hold(some_machine(2, 16, 2), who,
                       {.participants = n, .episodes = 6, .seed = seed, .random_delays = true}),
                  "")
            << who.name << ", n = " << n;
}

TEST_P(Simulated, WorksWithFiveHundredThreads) {
  for (const contender& who : all())
    EXPECT_EQ(hold(some_machine(8, 32, 2), who, {.participants = 512}), "") << who.name;
}

TEST_P(Simulated, WaitsForThoseWhoStartLate) {
  for (const contender& who : all())
    for (const rank_t n : {2u, 5u, 17u})
      EXPECT_EQ(hold(some_machine(1, 32, 1), who, {.participants = n, .late_start = true}), "")
          << who.name << ", n = " << n;
}

TEST_P(Simulated, SharesCpus) {
  for (const contender& who : all())
    for (const auto& [cores, n] : {std::pair{1u, 2u}, {1u, 5u}, {2u, 5u}, {2u, 16u}, {4u, 64u}})
      EXPECT_EQ(hold(some_machine(1, cores, 1), who, {.participants = n, .random_delays = true}),
                "")
          << who.name << ", n = " << n << " on " << cores;
}

// Siblings of a core see each other's writes without losing their copy.
TEST_P(Simulated, WorksBetweenSiblings) {
  machine m = some_machine(1, 4, 4);
  m.numbering = cpu_numbering::siblings_adjacent;
  for (const contender& who : all())
    for (const rank_t n : {2u, 4u, 16u})
      EXPECT_EQ(hold(m, who, {.participants = n, .episodes = 10}), "") << who.name << ", n = " << n;
}

TEST_P(Simulated, WorksOnOtherKindsOfMachines) {
  machine pairs = some_machine(2, 16, 2), banks = some_machine(2, 16, 1),
          small = some_machine(1, 16, 2);
  pairs.exclusive_pairs = true;
  banks.banks = 8;
  banks.bank_access = picoseconds(4);
  banks.bank_atomic = picoseconds(6);
  small.numbering = cpu_numbering::siblings_adjacent;
  small.small_clusters = small.small_cores = 2;
  small.small_slower = 2;
  small.transfer.hops = small.invalidate.hops = {picoseconds(60), picoseconds(70)};
  for (const contender& who : all())
    for (const machine& m : {pairs, banks, small})
      for (const rank_t n : {2u, 5u, 32u})
        EXPECT_EQ(hold(m, who, {.participants = n, .episodes = 6, .random_delays = true}), "")
            << who.name << ", n = " << n;
}

TEST(PartsOfMachines, MakeBarriers) {
  machine m = some_machine(2, 8, 1);
  m.has_barrier_units = m.has_interrupts = true;
  m.unit_arrive = m.unit_leave = m.interrupt_enter = picoseconds(20);
  m.interrupt_way = m.transfer;
  add_accelerator(m, 16);
  add_structures(m, 20, 90);
  const std::vector<contender> all = barriers({"hardware"}, {"spin"});
  EXPECT_EQ(all.size(), 18u);
  for (const contender& who : all)
    for (const rank_t n : {1u, 2u, 3u, 4u, 8u, 9u, 16u})
      for (const std::uint64_t seed : {1u, 2u}) {
        if (is_for_fewer(who, n, {})) continue;
        EXPECT_EQ(
            hold(m, who, {.participants = n, .episodes = 6, .seed = seed, .random_delays = true}),
            "")
            << who.name << ", n = " << n;
      }
}

TEST(PartsOfMachines, AreNeeded) {
  const machine m = some_machine(1, 2, 1);
  for (const contender& who : barriers({"hardware"}, {"spin"})) {
    const std::string said =
        test::refusal_of<std::invalid_argument>([&] { static_cast<void>(run(m, who, {})); });
    EXPECT_NE(said.find("'" + who.name + "' needs "), std::string::npos) << said;
  }
  std::vector<contender> some = barriers({"hardware", "ticket"}, {"spin"});
  remove_without_part(some, {"hardware", "ticket"}, m);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some.front().name, "ticket");
  some = barriers({"hardware"}, {"spin"});
  EXPECT_THROW(remove_without_part(some, {"hardware"}, m), std::invalid_argument);
}

// The suite fails for broken barriers.
class leaves_at_once final : public repeated_object {
 public:
  void episode(rank_t) override { simulated::yield(); }
};
// The last arrival releases; the others do not wait for its release of the present episode.
class forgets_the_episode final : public repeated_object {
 public:
  explicit forgets_the_episode(rank_t n) : n_(n) {}
  void episode(rank_t) override {
    if (count_.fetch_add(1, acq_rel) + 1 == n_) go_.store(1, release);
    while (go_.load(acquire) == 0) simulated::relax();
  }

 private:
  rank_t n_;
  simulated_atomic<rank_t> count_{0}, go_{0};
};

TEST(BrokenBarriers, AreFound) {
  contender leaves, forgets;
  leaves.name = "leaves_at_once";
  leaves.make = [](rank_t) { return std::make_unique<leaves_at_once>(); };
  forgets.name = "forgets_the_episode";
  forgets.make = [](rank_t n) { return std::make_unique<forgets_the_episode>(n); };
  for (const contender& who : {leaves, forgets})
    EXPECT_NE(hold(some_machine(1, 8, 1), who, {.participants = 8, .random_delays = true}), "")
        << who.name;
}

}  // namespace
}  // namespace tutti::sim
