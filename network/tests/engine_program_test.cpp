// SPDX-License-Identifier: Apache-2.0
// The command line of tutti-network-engine. No case makes a device, so none needs root.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_program.hpp"
#include "tests/support/wrong_usage.hpp"

namespace {

const tutti::test::program engine(TUTTI_TEST_ENGINE);

TEST(EngineProgram, ExplainsItsOptions) {
  const tutti::test::output help = engine.standard_output("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(engine.standard_error("--help").text, "");
  EXPECT_NE(help.text.find("Usage: tutti-network-engine [OPTIONS]"), std::string::npos)
      << help.text;
  for (const char* option : {"--device NAME", "--address ADDRESS", "--towards ADDRESS",
                             "--cable PORT,DEVICE,ADDRESS,PORT"})
    EXPECT_NE(help.text.find(option), std::string::npos) << option << " in\n" << help.text;
}

struct refusal {
  const char *arguments, *named;
};

class WrongUsage : public testing::TestWithParam<refusal> {};

TEST_P(WrongUsage, IsNamedInOneSentence) {
  const auto& [arguments, named] = GetParam();
  tutti::test::expect_wrong_usage(engine, "tutti-network-engine", arguments);
  const std::string sentence = engine.standard_error(arguments).text;
  EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
}

INSTANTIATE_TEST_SUITE_P(
    EngineProgram, WrongUsage,
    testing::Values(
        refusal{"", "--address"}, refusal{"--address 10.78.0.1", "--towards"},
        refusal{"--addres 10.78.0.1", "--addres"}, refusal{"--device", "--device needs a value"},
        refusal{"--address nowhere --towards 10.78.0.254", "'nowhere' is no IPv4 address"},
        refusal{"--address 10.78.0.1 --towards 10.78.0.254 --cable 0,c0", "'0,c0' is not PORT"},
        refusal{"--address 10.78.0.1 --towards 10.78.0.254 --cable 9,c0,10.78.0.2,1",
                "'9' is no port from 0 to"},
        refusal{"--address 10.78.0.1 --towards 10.78.0.254 --cable 0,c0,10.78.0.2,1,2",
                "more than four parts"},
        refusal{"--address 10.78.0.1 --towards 10.78.0.254 extra", "extra"}));

}  // namespace
