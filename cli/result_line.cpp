// SPDX-License-Identifier: Apache-2.0
// The schema is compiled in, so that an installed program needs no file.
#include "cli/result_line.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/json.hpp"
#include "result_line_schema.hpp"

namespace tutti::cli {
namespace {

bool is_of_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_integer();
  if (type == "number") return value.is_number();
  return value.type_name() == type;
}

// The rules of JSON Schema that result_line.json uses.
bool fits(const json& value, const json& rule) {
  if (rule.contains("const")) return value == rule["const"];
  if (rule.contains("enum")) {
    return std::find(rule["enum"].begin(), rule["enum"].end(), value) != rule["enum"].end();
  }
  const json& type = rule.at("type");
  const auto has_type = [&](const json& each) {
    return is_of_type(value, each.get<std::string>());
  };
  if (type.is_array() ? std::none_of(type.begin(), type.end(), has_type) : !has_type(type)) {
    return false;
  }
  if (!value.is_number()) return true;
  const double number = value.get<double>();
  return (!rule.contains("minimum") || number >= rule["minimum"].get<double>()) &&
         (!rule.contains("maximum") || number <= rule["maximum"].get<double>());
}

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
  throw std::logic_error("a result line: the key \"" + key + "\" " + why);
}

void check(const json& line) {
  static const json schema = json::parse(result_line_schema);
  const json& rules = schema.at("properties");
  for (const json& required : schema.at("required")) {
    const auto key = required.get<std::string>();
    if (!line.contains(key)) refuse(key, "is missing");
  }
  for (const auto& [key, value] : line.items()) {
    if (!rules.contains(key)) refuse(key, "is not in cli/result_line.json");
    if (!fits(value, rules[key])) refuse(key, "must not be " + value.dump());
  }
}

}  // namespace

std::string result_line(const json& keys) {
  json line{{"type", "result"}};
  line.update(keys);
  if (!line.contains("unit")) line["unit"] = "ns";
  check(line);
  return line.dump() + "\n";
}

std::string skipped_line(const json& keys, const std::string& reason) {
  json line{{"type", "skipped"}};
  line.update(keys);
  line["reason"] = reason;
  return line.dump() + "\n";
}

}  // namespace tutti::cli
