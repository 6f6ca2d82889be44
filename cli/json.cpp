// SPDX-License-Identifier: Apache-2.0
#include "cli/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace tutti::cli {
namespace {

using library_json = nlohmann::ordered_json;

// Makes an array or an object of what convert(part) returns for each part of another, and null of
// any other value.
template <class To, class From, class Convert>
To of_parts(const From& value, Convert convert) {
  To made;
  if (value.is_array()) {
    made = To::array();
    for (const From& each : value) made.push_back(convert(each));
  } else if (value.is_object()) {
    made = To::object();
    for (const auto& [key, each] : value.items()) made[key] = convert(each);
  }
  return made;
}

json from_library(const library_json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return of_parts<json>(value, from_library);
}

library_json to_library(const json& value) {
  if (value.is_bool()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_negative()) return value.get<std::int64_t>();
  if (value.is_integer()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  return of_parts<library_json>(value, to_library);
}

}  // namespace

json::json() noexcept = default;
json::json(std::nullptr_t) noexcept {}
json::json(const char* text) : kind_(kind::text), text_(text) {}
json::json(std::string_view text) : kind_(kind::text), text_(text) {}
json::json(std::string text) : kind_(kind::text), text_(std::move(text)) {}
json::json(std::initializer_list<json_member> members) : kind_(kind::object), members_(members) {}
json::json(const json&) = default;
json::json(json&&) noexcept = default;
json& json::operator=(const json&) = default;
json& json::operator=(json&&) noexcept = default;
json::~json() = default;

json json::array() {
  json made;
  made.kind_ = kind::array;
  return made;
}

json json::parse(std::string_view text) {
  if (std::optional<json> read = parsed_if_valid(text)) return *std::move(read);
  throw std::invalid_argument("'" + std::string(text) + "' is not JSON");
}

json json::object() { return std::initializer_list<json_member>{}; }

std::optional<json> json::parsed_if_valid(std::string_view text) {
  // What is nested more deeply would exhaust the stack below.
  constexpr int most_depth = 256;
  bool is_too_deep = false;
  const auto stop = [&](int depth, library_json::parse_event_t, library_json&) {
    return !(is_too_deep = is_too_deep || depth > most_depth);
  };
  const auto read = library_json::parse(text, stop, false);
  if (read.is_discarded() || is_too_deep) return std::nullopt;
  return from_library(read);
}

std::string json::dump() const {
  // A byte that is no UTF-8, as in the name of a file, becomes U+FFFD.
  return to_library(*this).dump(-1, ' ', false, library_json::error_handler_t::replace);
}

const char* json::type_name() const noexcept {
  switch (kind_) {
    case kind::null: return "null";
    case kind::boolean: return "boolean";
    case kind::text: return "string";
    case kind::array: return "array";
    case kind::object: return "object";
    default: return "number";
  }
}

void json::set_bool(bool value) noexcept {
  kind_ = kind::boolean;
  boolean_ = value;
}

void json::set_natural(std::uint64_t value) noexcept {
  kind_ = kind::natural;
  natural_ = value;
}

void json::set_negative(std::int64_t value) noexcept {
  kind_ = kind::negative;
  negative_ = value;
}

void json::set_real(double value) noexcept {
  kind_ = kind::real;
  real_ = value;
}

void json::refuse(const char* wanted) const {
  throw std::invalid_argument(dump() + " is not " + wanted);
}

bool json::as_bool() const {
  if (!is_bool()) refuse("a boolean");
  return boolean_;
}

double json::as_real() const {
  if (kind_ != kind::real) refuse("a number");
  return real_;
}

const std::string& json::as_string() const {
  if (!is_string()) refuse("a string");
  return text_;
}

const std::vector<json>& json::elements() const {
  if (!is_array()) refuse("an array");
  return elements_;
}

const json& json::operator[](std::size_t index) const { return elements().at(index); }
json& json::operator[](std::size_t index) { return const_cast<json&>(std::as_const(*this)[index]); }

void json::push_back(json value) {
  if (is_null()) kind_ = kind::array;
  if (!is_array()) refuse("an array");
  elements_.push_back(std::move(value));
}

const json* json::begin() const { return elements().data(); }
const json* json::end() const { return begin() + elements().size(); }

const json* json::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [key](const json_member& each) { return each.key == key; });
  return found == members_.end() ? nullptr : &found->value;
}

const json& json::at(std::string_view key) const {
  if (!is_object()) refuse("an object");
  const json* const found = find(key);
  if (found == nullptr)
    throw std::out_of_range(dump() + " has no key \"" + std::string(key) + "\"");
  return *found;
}

json& json::operator[](std::string_view key) {
  if (is_null()) kind_ = kind::object;
  if (!is_object()) refuse("an object");
  if (const json* const found = find(key)) return const_cast<json&>(*found);
  return members_.emplace_back(json_member{std::string(key), {}}).value;
}

bool json::contains(std::string_view key) const noexcept { return find(key) != nullptr; }

void json::erase(std::string_view key) {
  std::erase_if(members_, [key](const json_member& each) { return each.key == key; });
}

void json::update(const json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

const std::vector<json_member>& json::items() const {
  if (!is_object()) refuse("an object");
  return members_;
}

std::size_t json::size() const noexcept {
  return is_array() ? elements_.size() : is_object() ? members_.size() : 0;
}

bool operator==(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer())
      return a.kind_ == b.kind_ && a.get<std::uint64_t>() == b.get<std::uint64_t>();
    return a.get<double>() == b.get<double>();
  }
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case json::kind::boolean: return a.boolean_ == b.boolean_;
    case json::kind::text: return a.text_ == b.text_;
    case json::kind::array: return a.elements_ == b.elements_;
    case json::kind::object:
      return std::equal(a.members_.begin(), a.members_.end(), b.members_.begin(), b.members_.end(),
                        [](const json_member& x, const json_member& y) {
                          return x.key == y.key && x.value == y.value;
                        });
    default: return true;
  }
}

std::ostream& operator<<(std::ostream& to, const json& value) { return to << value.dump(); }

}  // namespace tutti::cli
