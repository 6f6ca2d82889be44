// SPDX-License-Identifier: Apache-2.0
// Published tables: what is wrong with a file, the count of pairs in order, and the search.
#include "sim/published.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "tests/support/refusal.hpp"

namespace tutti::sim {
namespace {

const std::string header = "machine,algorithm,threads,ns,use\n";

std::string complaint(const std::string& text) {
  return test::refusal_of<std::invalid_argument>([&] { return parse_published(text, "mine.csv"); });
}

TEST(Published, SaysWhereWhatIsWrongAndWhatWasExpected) {
  const auto expect = [](const std::string& text, const std::string& what) {
    EXPECT_NE(complaint(text).find(what), std::string::npos) << complaint(text);
  };
  expect("", "mine.csv: there is no value in it");
  expect(header, "mine.csv: there is no value in it");
  expect("# a remark\nmachine,ns\n", "mine.csv:2: the first line must be 'machine,algorithm");
  expect(header + "numa8,ticket,4,100\n", "mine.csv:2: five fields were expected");
  expect(header + "numa8,ticket,4.5,100,fit\n", "mine.csv:2: threads must be a whole number");
  expect(header + "numa8,ticket,0,100,fit\n", "mine.csv:2: threads must be a whole number");
  expect(header + "numa8,ticket,4,-1,fit\n", "mine.csv:2: ns must be a number above 0, not '-1'");
  expect(header + "numa8,ticket,4,1x,fit\n", "mine.csv:2: ns must be a number above 0, not '1x'");
  expect(header + "numa8,ticket,4,1,both\n", "mine.csv:2: use must be 'fit', 'check' or 'base'");
  expect(header + "numa8,tiket,4,1,fit\n", "mine.csv:2: there is no barrier 'tiket'");
  expect(header + "knl,ticket,4,1,fit\nvax,ticket,4,1,fit\n",
         "mine.csv:3: there is no machine and no file 'vax'");
  // Names of groups are none of a barrier.
  for (const std::string group : {"all", "papers", "hardware"})
    expect(header + "numa8," + group + ",4,1,fit\n",
           "mine.csv:2: '" + group + "' is a group of barriers");
  const std::string base = header + "numa8,ticket,4,100,base\n";
  expect(base + "numa8,mcs,4,90,base\n", "mine.csv: 'numa8' has two values of use 'base'");
  expect(base + "numa8,mcs,8,90,check\n", "'numa8' has no value of use 'base' for 8 threads");
  expect(base + "knl,mcs,4,90,check\n", "'knl' has no value of use 'base' for 4 threads");
}

TEST(Published, ReadsEveryTable) {
  for (const std::string& name : names_of_published())
    for (const published_value& value : find_published(name))
      EXPECT_GE(find_machine(value.machine).cpus(), value.threads) << name;
  const std::map<std::string, std::size_t> sizes{{"1", 42}, {"2", 42}, {"3", 24}, {"4", 18}};
  for (const auto& [table, size] : sizes)
    EXPECT_EQ(find_published("berger_stamatakis_table_" + table).size(), size) << table;
  EXPECT_THROW(static_cast<void>(find_published("none")), std::invalid_argument);
}

TEST(Published, CountsPairsInOrder) {
  const std::vector<published_value> values{{"a", "x", "spin", 2, 100, true},
                                            {"a", "y", "spin", 2, 200, true},
                                            {"a", "z", "spin", 2, 400, false},
                                            {"a", "u", "spin", 2, 401, false},
                                            {"b", "x", "spin", 2, 900, false}};
  // Both x and y are fitted, z and u differ by little, and b is another machine.
  const pairs_in_order pairs = order_of(values, {100, 300, 200, 400, 1});
  EXPECT_EQ(pairs.all, 4u);
  EXPECT_EQ(pairs.right, 3u);
}

TEST(Published, FindsTheWorkBehindABase) {
  const machine m = find_machine("barcelona");
  const published_value base{.machine = "barcelona",
                             .algorithm = "bs_lock_free_padded",
                             .wait = "spin",
                             .threads = 16,
                             .ns = 70'000,
                             .is_base = true};
  for (const double spread : {0.0, 0.05}) {
    const work_of_rank work = work_behind(m, base, spread, 20, 1);
    EXPECT_NEAR(simulated_ns(m, base, 20, 1, work), base.ns, 0.005 * base.ns) << spread;
    EXPECT_LT(work.ns, base.ns);
  }
  published_value small = base;
  small.ns = 100;
  const std::string told = test::refusal_of<std::invalid_argument>(
      [&] { static_cast<void>(work_behind(m, small, 0, 20, 1)); });
  EXPECT_NE(told.find("takes longer without work"), std::string::npos) << told;
}

TEST(Published, TheMedianOfAnEvenNumberLiesBetweenTwo) {
  const machine m = find_machine("epyc2");
  const published_value value{"epyc2", "flags", "spin", 8, 1};
  const std::vector<double> loop =
      run(m, barrier_named("flags", "spin"), {.threads = 8, .episodes = 2}).loop;
  ASSERT_NE(loop[0], loop[1]);
  EXPECT_DOUBLE_EQ(simulated_ns(m, value, 2, 1), (loop[0] + loop[1]) / 2);
}

// What a machine itself has simulated leads back to its numbers. Readers that are served slowly
// would hide how long the directory is busy.
TEST(Published, FindsTheNumbersOfAMachine) {
  const auto machine_of = [](const std::string& name, settings with) {
    with.emplace("line.read_gap", 1.32);
    return find_machine(name, with);
  };
  std::vector<published_value> values;
  const machine hidden = machine_of("barcelona", {{"home.occupancy", 60}, {"line.hold", 200}});
  for (const char* name : {"bs_lock_free", "bs_recursive_padded", "bs_atomic_inc_add"}) {
    values.push_back({"barcelona", name, "spin", 16, 1, true});
    values.back().ns = simulated_ns(hidden, values.back(), 20, 1);
  }
  double error = 0;
  const search_plan plan{.keys = {"home.occupancy", "line.hold"},
                         .from = {20, 50},
                         .range = 20,
                         .steps = 200,
                         .seed = 2,
                         .machine_of = machine_of};
  const std::vector<double> found = search(values, plan, [&](double each) { error = each; });
  EXPECT_LT(error, 0.02);
  EXPECT_NEAR(found[0], 60, 9);
  EXPECT_NEAR(found[1], 200, 30);
  EXPECT_EQ(search(values, plan, [](double) {}), found);
}

}  // namespace
}  // namespace tutti::sim
