// SPDX-License-Identifier: Apache-2.0
// JSON values: what --json prints, what a harness and its workers say to each other, and what tests
// read.
//
//   cli::json line{{"type", "machine"}, {"cpus", 2}};
//   line["load"] = std::vector{0.5, 0.25};
//   fmt::print("{}\n", line.dump());
//   const auto cpus = cli::json::parse(text).at("cpus").get<int>();
//
// Objects keep their keys in the order in which they were added. The JSON library, which converts
// between values and text, stands in json.cpp alone: its header costs each source that includes it
// more than a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti::cli {

struct json_member;

// A struct becomes an object, and back, if its namespace has a function visit_fields(value, visit)
// that calls visit(name, member) for each member, for constant and other values; an enumeration
// becomes a string if its namespace has json_names(value), an array of the names of 0, 1, ...
template <class T>
concept has_fields = requires(T& value) {
  visit_fields(value, [](const char*, auto&) {});
};
template <class T>
concept has_names = std::is_enum_v<T> && requires(T value) {
  json_names(value);
};

class json {
 public:
  // Makes null.
  json() noexcept;
  json(std::nullptr_t) noexcept;
  template <class T>
  requires std::is_arithmetic_v<T> json(T value)
  noexcept : json() {
    if constexpr (std::is_same_v<T, bool>)
      set_bool(value);
    else if constexpr (std::is_floating_point_v<T>)
      set_real(static_cast<double>(value));
    else if (value < 0)
      set_negative(static_cast<std::int64_t>(value));
    else
      set_natural(static_cast<std::uint64_t>(value));
  }
  json(const char* text);
  json(std::string_view text);
  json(std::string text);
  // Makes an array.
  template <class T>
  json(const std::vector<T>& values) : json(array()) {
    for (const T& each : values) push_back(each);
  }
  template <has_fields T>
  json(const T& value) : json() {
    visit_fields(value, [this](const char* name, const auto& member) { (*this)[name] = member; });
  }
  template <has_names T>
  json(T value) : json(json_names(value).at(static_cast<std::size_t>(value))) {}
  // Makes an object.
  json(std::initializer_list<json_member> members);
  static json array();
  static json object();

  json(const json&);
  json(json&&) noexcept;
  json& operator=(const json&);
  json& operator=(json&&) noexcept;
  ~json();

  // Reads a text. parse throws std::invalid_argument if it is not JSON; parsed_if_valid returns
  // nothing.
  static json parse(std::string_view text);
  static std::optional<json> parsed_if_valid(std::string_view text);
  // Writes the value on one line, with the fewest digits that give the same numbers again. Writes
  // null for a number that is not finite.
  std::string dump() const;

  bool is_null() const noexcept { return kind_ == kind::null; }
  bool is_bool() const noexcept { return kind_ == kind::boolean; }
  bool is_number() const noexcept { return kind_ == kind::real || is_integer(); }
  bool is_integer() const noexcept { return kind_ == kind::natural || is_negative(); }
  // Returns whether it is an integer below zero.
  bool is_negative() const noexcept { return kind_ == kind::negative; }
  bool is_string() const noexcept { return kind_ == kind::text; }
  bool is_array() const noexcept { return kind_ == kind::array; }
  bool is_object() const noexcept { return kind_ == kind::object; }
  // Returns JSON's name of the type: null, boolean, number, string, array or object.
  const char* type_name() const noexcept;

  // Returns the value as a bool, a number, a std::string, a struct or an enumeration as above, or a
  // std::vector of those. Throws std::invalid_argument if the value is of another type, and
  // std::out_of_range if a member is missing. A number is converted as static_cast does.
  template <class T>
  T get() const {
    if constexpr (std::is_same_v<T, bool>) {
      return as_bool();
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (kind_ == kind::natural) return static_cast<T>(natural_);
      if (kind_ == kind::negative) return static_cast<T>(negative_);
      return static_cast<T>(as_real());
    } else if constexpr (std::is_same_v<T, std::string>) {
      return as_string();
    } else if constexpr (has_fields<T>) {
      T made;
      visit_fields(made, [this]<class M>(const char* name, M& member) {
        member = at(name).template get<M>();
      });
      return made;
    } else if constexpr (has_names<T>) {
      constexpr auto names = json_names(T{});
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == as_string()) return static_cast<T>(i);
      refuse("one of the names");
    } else {
      T all;
      for (const json& each : elements()) all.push_back(each.get<typename T::value_type>());
      return all;
    }
  }

  // Elements of an array, in their order. They throw std::invalid_argument for other values, and
  // std::out_of_range for an index beyond the end. push_back makes null an array.
  const json& operator[](std::size_t index) const;
  json& operator[](std::size_t index);
  void push_back(json value);
  const json* begin() const;
  const json* end() const;

  // Members of an object. The reading ones throw std::invalid_argument if the value is no object,
  // and std::out_of_range if it lacks the key. The writing operator adds the key if it is missing,
  // and makes null an object.
  const json& at(std::string_view key) const;
  const json& operator[](std::string_view key) const { return at(key); }
  json& operator[](std::string_view key);
  bool contains(std::string_view key) const noexcept;
  void erase(std::string_view key);
  // Sets each key that `other` has.
  void update(const json& other);
  const std::vector<json_member>& items() const;

  // Returns the number of elements or members; other values have none.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  // Numbers are equal if their values are, and objects only if their keys have the same order.
  friend bool operator==(const json& a, const json& b);
  friend std::ostream& operator<<(std::ostream& to, const json& value);

 private:
  enum class kind : unsigned char { null, boolean, natural, negative, real, text, array, object };

  void set_bool(bool value) noexcept;
  void set_natural(std::uint64_t value) noexcept;
  void set_negative(std::int64_t value) noexcept;
  void set_real(double value) noexcept;
  [[noreturn]] void refuse(const char* wanted) const;
  bool as_bool() const;
  double as_real() const;
  const std::string& as_string() const;
  const std::vector<json>& elements() const;
  const json* find(std::string_view key) const noexcept;

  kind kind_ = kind::null;
  union {
    bool boolean_;
    std::uint64_t natural_ = 0;
    std::int64_t negative_;
    double real_;
  };
  std::string text_;
  std::vector<json> elements_;
  std::vector<json_member> members_;
};

struct json_member {
  std::string key;
  json value;
};

}  // namespace tutti::cli
