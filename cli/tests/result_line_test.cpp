// SPDX-License-Identifier: Apache-2.0
// Result lines are written as the schema wants them, or not at all.
#include "cli/result_line.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tutti::cli {
namespace {

json right_keys() {
  return {{"benchmark", "barrier"}, {"provider", "tutti"}, {"name", "default"}, {"threads", 2},
          {"session", nullptr},     {"metric", "loop"},    {"median", 34.5},    {"samples", 8}};
}

std::string fault_of(const json& keys) {
  try {
    (void)result_line(keys);
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "";
}

TEST(ResultLine, HasItsTypeItsUnitAndItsKeysInTheirOrder) {
  EXPECT_EQ(result_line(right_keys()),
            R"({"type":"result","benchmark":"barrier","provider":"tutti","name":"default",)"
            R"("threads":2,"session":null,"metric":"loop","median":34.5,"samples":8,"unit":"ns"})"
            "\n");
}

TEST(ResultLine, NamesTheKeyThatTheSchemaRefuses) {
  const std::pair<const char*, json> wrong[] = {
      {"colour", "blue"},   {"threads", 0},    {"threads", 2.5}, {"median", "fast"},
      {"median", nullptr},  {"pinned", "yes"}, {"session", 1},   {"unit", "s"},
      {"samples", -1},      {"wait", nullptr}, {"values", 1},    {"in_barriers", 1.5},
      {"in_barriers", -0.5}};
  for (const auto& [key, value] : wrong) {
    json keys = right_keys();
    keys[key] = value;
    EXPECT_NE(fault_of(keys).find("\"" + std::string(key) + "\""), std::string::npos) << key;
  }
  EXPECT_EQ(fault_of(right_keys()), "");
}

TEST(ResultLine, NamesTheKeyThatIsMissing) {
  for (const char* key : {"provider", "name", "metric", "threads", "median"}) {
    json keys = right_keys();
    keys.erase(key);
    EXPECT_NE(fault_of(keys).find(key), std::string::npos) << key;
  }
}

TEST(SkippedLine, EndsWithTheReason) {
  EXPECT_EQ(skipped_line({{"benchmark", "barrier"}, {"provider", "boost"}}, "absent"),
            "{\"type\":\"skipped\",\"benchmark\":\"barrier\",\"provider\":\"boost\","
            "\"reason\":\"absent\"}\n");
}

}  // namespace
}  // namespace tutti::cli
