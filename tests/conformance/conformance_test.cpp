// SPDX-License-Identifier: Apache-2.0
// Runs the conformance suite on every algorithm of the registry, the C interface and std::barrier.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/providers.hpp"

namespace {

TEST(WaitPolicies, ThatThisMachineLacks) {
  std::string absent;
  for (const auto& policy : tutti::wait_policies)
    if (!policy.available()) absent += " '" + std::string(policy.name) + "'";
  if (!absent.empty())
    GTEST_SKIP() << "not tested with the wait policies whose instruction this CPU lacks:" << absent;
}

INSTANTIATE_TEST_SUITE_P(Registry, Barrier, testing::ValuesIn(tutti::test::providers()),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(C, Barrier, testing::ValuesIn(tutti::test::c_providers()),
                         tutti::test::name_of_parameter);

INSTANTIATE_TEST_SUITE_P(Registry, Anonymous,
                         testing::ValuesIn(tutti::test::providers_where([](const provider& p) {
                           return p.anonymous;
                         })),
                         tutti::test::name_of_parameter);
std::vector<provider> anonymous_in_c() {
  std::vector<provider> some = tutti::test::c_providers();
  std::erase_if(some, [](const provider& p) { return !p.anonymous; });
  return some;
}
INSTANTIATE_TEST_SUITE_P(C, Anonymous, testing::ValuesIn(anonymous_in_c()),
                         tutti::test::name_of_parameter);

INSTANTIATE_TEST_SUITE_P(Registry, Crowd,
                         testing::ValuesIn(tutti::test::providers_where(takes_crowds)),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(C, Crowd, testing::ValuesIn(anonymous_in_c()),
                         tutti::test::name_of_parameter);

bool is_in_registry(const provider& p) { return p.algorithm != "std_barrier"; }
const auto registered = testing::ValuesIn(tutti::test::providers_where(is_in_registry));
INSTANTIATE_TEST_SUITE_P(Registry, Destruction, registered, tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Registry, PoolDestruction,
                         testing::ValuesIn(tutti::test::providers_where([](const provider& p) {
                           return p.algorithm == "pool";
                         })),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Registry, Episodes, registered, tutti::test::name_of_parameter);

}  // namespace
