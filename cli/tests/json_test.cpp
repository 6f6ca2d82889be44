// SPDX-License-Identifier: Apache-2.0
// Tests of JSON values: text and back, members and elements, structs, and what they refuse.
#include "cli/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "cli/json_fields.hpp"

namespace tutti::cli {
namespace {

enum class colour { red, green };
constexpr std::array<std::string_view, 2> json_names(colour) { return {"red", "green"}; }

struct point {
  std::vector<int> at;
  colour is = colour::red;
};
TUTTI_JSON_FIELDS(point, at, is)

TEST(Json, WritesValuesInTheirOrder) {
  json value{{"z", 1}, {"a", -1}, {"real", 0.1}, {"whole", 2.0}, {"yes", true}, {"none", nullptr}};
  value["text"] = std::string("a \"b\"\n");
  value["list"] = std::vector<std::string>{"x", "y"};
  value["inner"]["key"] = "value";
  value["objects"].push_back({{"k", std::uint8_t{3}}});
  value["empty"] = json::array();
  value["infinite"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value.dump(),
            R"({"z":1,"a":-1,"real":0.1,"whole":2.0,"yes":true,"none":null,"text":"a \"b\"\n",)"
            R"("list":["x","y"],"inner":{"key":"value"},"objects":[{"k":3}],"empty":[],)"
            R"("infinite":null})");
}

TEST(Json, ReadsWhatItWrites) {
  const std::string text =
      R"({"least":-9223372036854775808,"most":18446744073709551615,"third":0.3333333333333333,)"
      R"("list":[1,[],{},"é",null,false]})";
  const json value = json::parse(text);
  EXPECT_EQ(value.dump(), text);
  EXPECT_EQ(value, json::parse(value.dump()));
  EXPECT_EQ(value.at("least").get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(value.at("most").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(value.at("third").get<double>(), 1.0 / 3);
  EXPECT_EQ(value.at("list").size(), 6u);
  EXPECT_TRUE(value.at("list")[1].empty());
  EXPECT_STREQ(value.at("list")[5].type_name(), "boolean");
}

TEST(Json, WritesBytesThatAreNoText) {
  EXPECT_EQ(json("caf\xe9.el").dump(), "\"caf\xef\xbf\xbd.el\"");
}

TEST(Json, ComparesNumbersByTheirValues) {
  EXPECT_EQ(json(2), json(2.0));
  EXPECT_EQ(json(2), json(std::uint64_t{2}));
  EXPECT_NE(json(-1), json(UINT64_MAX));
  EXPECT_NE(json(1), json(true));
  EXPECT_NE(json("1"), json(1));
  EXPECT_EQ(json("a"), "a");
}

TEST(Json, ConvertsStructsAndEnumerations) {
  const json value{{"point", point{{1, 2}, colour::green}}};
  EXPECT_EQ(value.dump(), R"({"point":{"at":[1,2],"is":"green"}})");
  const auto back = value.at("point").get<point>();
  EXPECT_EQ(back.at, (std::vector<int>{1, 2}));
  EXPECT_EQ(back.is, colour::green);
  EXPECT_THROW((void)json::parse(R"({"at":[]})").get<point>(), std::out_of_range);
  EXPECT_THROW((void)json("blue").get<colour>(), std::invalid_argument);
}

TEST(Json, ChangesMembers) {
  json value{{"a", 1}, {"b", 2}};
  value.update({{"b", 3}, {"c", 4}});
  value.erase("a");
  EXPECT_EQ(value.dump(), R"({"b":3,"c":4})");
  EXPECT_TRUE(value.contains("c"));
  EXPECT_FALSE(value.contains("a"));
}

TEST(Json, RefusesWhatIsNotThere) {
  const json value{{"a", 1}};
  EXPECT_THROW((void)value.at("b"), std::out_of_range);
  EXPECT_THROW((void)value["a"].at("b"), std::invalid_argument);
  EXPECT_THROW((void)value["a"].get<std::string>(), std::invalid_argument);
  EXPECT_THROW((void)value["a"].get<bool>(), std::invalid_argument);
  EXPECT_THROW((void)json("1").get<int>(), std::invalid_argument);
  EXPECT_THROW((void)json::array()[0], std::out_of_range);
  EXPECT_THROW((void)json::parse("{"), std::invalid_argument);
  EXPECT_FALSE(json::parsed_if_valid("{\"a\":}").has_value());
  const std::string deep(200'000, '[');
  EXPECT_FALSE(json::parsed_if_valid(deep + std::string(deep.size(), ']')).has_value());
}

}  // namespace
}  // namespace tutti::cli
