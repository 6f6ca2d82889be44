// SPDX-License-Identifier: Apache-2.0
// Runs the conformance suite on one algorithm of the registry (TUTTI_TEST_ALGORITHM) with each wait
// policy of this machine. It needs the algorithm's header but not the compiled library, so that it
// is built seconds after a change.

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "src/registry_make.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/conformance/providers.hpp"

namespace {

using algorithm = tutti::registry::TUTTI_TEST_ALGORITHM;

template <class... Wait>
std::vector<provider> with_each(std::tuple<Wait...>*) {
  std::vector<provider> all;
  (void)((Wait::info.available() &&
          (all.push_back(tutti::test::from_maker(algorithm::info.name, Wait::info,
                                                 algorithm::info.anonymous,
                                                 &tutti::detail::make_one<algorithm, Wait>)),
           false)) ||
         ...);
  return all;
}
const auto all = with_each(static_cast<tutti::registry::waits*>(nullptr));

std::vector<provider> all_if(bool applies) { return applies ? all : std::vector<provider>{}; }

INSTANTIATE_TEST_SUITE_P(One, Barrier, testing::ValuesIn(all), tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(One, Anonymous, testing::ValuesIn(all_if(algorithm::info.anonymous)),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(One, Crowd, testing::ValuesIn(all_if(takes_crowds(all.front()))),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(One, Destruction, testing::ValuesIn(all), tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(One, PoolDestruction,
                         testing::ValuesIn(all_if(algorithm::info.name == "pool")),
                         tutti::test::name_of_parameter);
INSTANTIATE_TEST_SUITE_P(One, Episodes, testing::ValuesIn(all), tutti::test::name_of_parameter);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Anonymous);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Crowd);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PoolDestruction);

}  // namespace
