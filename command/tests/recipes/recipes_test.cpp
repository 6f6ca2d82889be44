// SPDX-License-Identifier: Apache-2.0
// What a test has added by a header and an entry (CMakeLists.txt) is found by everything that reads
// the lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/harness/names.hpp"
#include "cli/json.hpp"
#include "command/library_lists.hpp"
#include "tests/comm/detectors.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/conformance/providers.hpp"
#include "tests/support/reductions.hpp"
#include "tests/termination/explore.hpp"
#include "tests/termination/scenarios.hpp"
#include "tutti.h"
#include "tutti/comm/communicator.hpp"
#include "tutti/reduce/reduction.hpp"

namespace {

using tutti::rank_t;

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

template <class F>
void as_each_of_three(F f) {
  std::vector<std::thread> threads;
  for (rank_t rank = 0; rank < 3; ++rank) threads.emplace_back(f, rank);
  for (std::thread& each : threads) each.join();
}

// The algorithm "echo" with the wait policy "doze" is one of the suite's providers, and passes.
const auto added = [](const provider& p) { return p.algorithm == "echo" && p.wait == "doze"; };
INSTANTIATE_TEST_SUITE_P(Added, Barrier, testing::ValuesIn(tutti::test::providers_where(added)),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Added, Crowd,
                         testing::ValuesIn(tutti::test::providers_where([](const provider& p) {
                           return added(p) && takes_crowds(p);
                         })),
                         tutti::test::name_of_parameter);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Anonymous);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Crowd);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Destruction);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PoolDestruction);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Episodes);

TEST(Recipes, TheSuiteHasEveryPairOfTheNewOnes) {
  std::vector<std::string> names;
  for (const provider& p : tutti::test::providers()) names.push_back(p.name());
  for (const char* name : {"echo_doze", "echo_adaptive", "echo_park", "ticket_doze"})
    EXPECT_TRUE(has(names, name)) << name;
  EXPECT_FALSE(tutti::test::burns_the_core("doze"));
}

TEST(Recipes, TheInterfaceForCNamesThem) {
  std::vector<std::string> algorithms, waits;
  for (std::size_t i = 0; const char* name = tutti_barrier_algorithm(i); ++i)
    algorithms.emplace_back(name);
  for (std::size_t i = 0; const char* name = tutti_wait_policy(i); ++i) waits.emplace_back(name);
  EXPECT_TRUE(has(algorithms, "echo"));
  EXPECT_TRUE(has(waits, "doze"));
  tutti_barrier* barrier = nullptr;
  EXPECT_EQ(tutti_barrier_create(&barrier, 1, "echo", "doze"), TUTTI_OK);
  EXPECT_EQ(tutti_barrier_wait(barrier, 0), TUTTI_OK);
  tutti_barrier_destroy(barrier);
}

TEST(Recipes, TheCommandListsThem) {
  tutti::cli::json info;
  tutti::command::add_lists(info);
  const auto listed = [&](const char* list, const char* name) {
    return std::any_of(info[list].begin(), info[list].end(),
                       [&](const auto& entry) { return entry["name"] == name; });
  };
  EXPECT_TRUE(listed("algorithms", "echo"));
  EXPECT_TRUE(listed("wait_policies", "doze"));
  EXPECT_TRUE(listed("reductions", "relay"));
  EXPECT_TRUE(listed("detectors", "roll_call"));
  EXPECT_TRUE(listed("detectors", "lap"));
}

TEST(Recipes, TheTablesOfTheDocumentationListThem) {
  for (const auto& [table, row] :
       {std::pair{"algorithms", "| `echo` |"}, std::pair{"waits", "| `doze` |"},
        std::pair{"reductions", "| relay |"}, std::pair{"detectors", "| `roll_call` |"},
        std::pair{"detectors", "| `lap` |"}}) {
    testing::internal::CaptureStdout();
    tutti::command::print_markdown(table);
    std::fflush(stdout);
    EXPECT_NE(testing::internal::GetCapturedStdout().find(row), std::string::npos) << row;
  }
}

TEST(Recipes, TheBenchTakesThem) {
  EXPECT_TRUE(has(tutti::bench::wait_names(), "doze"));
  EXPECT_EQ(tutti::bench::choose_waits({"doze"}), std::vector<std::string>{"doze"});
  EXPECT_TRUE(has(tutti::bench::detector_names(), "roll_call"));
  EXPECT_TRUE(has(tutti::bench::detector_names(), "lap"));
  EXPECT_EQ(tutti::bench::summary_of("echo", ""), "a summary");
}

TEST(Recipes, CommunicatorsTakeThem) {
  EXPECT_TRUE(has(tutti::test::detector_names(), "roll_call"));
  EXPECT_TRUE(has(tutti::test::protocol_names(), "lap"));
  EXPECT_TRUE(has(tutti::test::sharing_wait_names(), "doze"));
  for (const char* detector : {"roll_call", "lap"}) {
    tutti::communicator comm(3, {.detector = detector, .wait = "doze"});
    as_each_of_three([&](rank_t rank) {
      tutti::endpoint& me = comm[rank];
      me.send((rank + 1) % 3, 7);
      int got = 0;
      while (me.idle(true) == tutti::idle_result::message) {
        got += me.can_recv() ? 1 : 0;
        me.release(me.recv());
      }
      EXPECT_EQ(got, 1);
    });
  }
  try {
    tutti::communicator comm(3, {.detector = "nope"});
    FAIL() << "an unknown detector was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("roll_call"), std::string::npos) << e.what();
  }
}

// Every state of two participants, with one message.
TEST(Recipes, TheExplorerTakesTheProtocol) {
  using namespace tutti::protocol;
  const auto scenarios = test::quick_scenarios();
  EXPECT_TRUE(std::any_of(scenarios.begin(), scenarios.end(),
                          [](const test::scenario& s) { return s.name == "lap"; }));
  const auto found =
      test::explore(test::of("lap", release_scheme::epochs, 2, 1, true), false, 1'000'000);
  EXPECT_EQ(found.violation, "");
  EXPECT_TRUE(found.complete);
  EXPECT_GT(found.states, 100u);
}

TEST(Recipes, ReductionsTakeThem) {
  EXPECT_TRUE(has(tutti::test::reduction_names(3), "relay"));
  tutti::reduction<int> total(3, {}, "relay");
  tutti::reduction<int> after(3, {}, "echo");
  as_each_of_three([&](rank_t rank) {
    EXPECT_EQ(total.all(rank, static_cast<int>(rank) + 1), 6);
    EXPECT_EQ(after.all(rank, 2), 6);
  });
}

}  // namespace
