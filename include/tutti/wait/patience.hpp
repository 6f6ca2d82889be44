// SPDX-License-Identifier: Apache-2.0
// Patience: how long a wait keeps the processor before it sleeps. Every object that waits (barrier,
// team, reduction, communicator) has a patience. Its options choose it, and its set_patience()
// changes it.
//
//   active      never sleeps: it polls, and yields between polls on a core that other threads need
//   balanced    learns how long the waits of each side take; docs/waiting.md gives the rule and its
//               worst case
//   passive     sleeps after the first few polls
//   a time      polls or yields for this time, then sleeps
//
//   tutti::barrier sync(2, tutti::barrier_options{.patience = 200us});  // any chrono duration
//   sync.set_patience("passive");
//
// Options, the C interface and the environment take a patience as text: "active", "balanced",
// "passive", or a number with its unit (ns, us, ms, s), such as "200us" or "1.5ms". If the program
// leaves the patience open, the environment variable TUTTI_PATIENCE decides, for programs that
// cannot be rebuilt; without it the patience is balanced. TUTTI_PATIENCE is the only environment
// variable that the library reads, and it reads it once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/found_once.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/plain_files.hpp"

#if TUTTI_HOSTED
#include <cstdlib>
#include <string>
#include <string_view>
#endif

namespace tutti {

class patience {
 public:
  // Leaves the choice open: TUTTI_PATIENCE decides, or it is balanced.
  constexpr patience() noexcept = default;

  static constexpr patience active() noexcept { return {raw{}, active_word}; }
  static constexpr patience balanced() noexcept { return {raw{}, balanced_word}; }
  static constexpr patience passive() noexcept { return {raw{}, 0}; }
  // Makes a patience of a time in nanoseconds. 0 is passive.
  static constexpr patience of_ns(std::uint64_t ns) noexcept {
    return {raw{}, ns < longest_ns ? ns : longest_ns};
  }

  // Converts a std::chrono::duration without including <chrono>. Throws std::invalid_argument if
  // the duration is negative or not a number.
  template <class Duration>
  requires requires(const Duration& d) {
    d.count();
    Duration::period::num;
  }
  constexpr patience(const Duration& time) {
    const double ns =
        static_cast<double>(time.count()) * (1e9 * static_cast<double>(Duration::period::num) /
                                             static_cast<double>(Duration::period::den));
    require(ns >= 0, "a patience must not be a negative time");
    word_ = ns < static_cast<double>(longest_ns) ? static_cast<std::uint64_t>(ns) : longest_ns;
  }

#if TUTTI_HOSTED
  // Throws std::invalid_argument if the text is no patience.
  patience(std::string_view text) {
    if (!parse(text.data(), text.size(), *this)) refuse(what_is_wrong_with(text));
  }
  patience(const char* text) : patience(std::string_view(text)) {}
  patience(const std::string& text) : patience(std::string_view(text)) {}

  // Returns the sentence for a text that is no patience.
  static std::string what_is_wrong_with(std::string_view text) {
    return "patience '" + std::string(text) +
           "' is neither active, balanced or passive, nor a time of at least 0 with its unit, such "
           "as 200us or 1.5ms";
  }
#endif

  // Reads the `size` characters at `text`. Returns false, and leaves `out` unchanged, if they are
  // no patience.
  static constexpr bool parse(const char* text, std::size_t size, patience& out) noexcept {
    if (is(text, size, "active")) return out = active(), true;
    if (is(text, size, "balanced")) return out = balanced(), true;
    if (is(text, size, "passive")) return out = passive(), true;
    return parse_time(text, size, out);
  }

  constexpr bool is_open() const noexcept { return word_ == open_word; }
  constexpr bool is_active() const noexcept { return word_ == active_word; }
  constexpr bool is_balanced() const noexcept { return word_ == balanced_word; }
  constexpr bool is_passive() const noexcept { return word_ == 0; }
  // Returns the nanoseconds of a time, or 0 for passive.
  constexpr std::uint64_t ns() const noexcept { return word_; }

  // Returns this patience, or, if it is open, the one of the environment. The result is never open,
  // except at compile time, which has no environment.
  constexpr patience chosen() const noexcept {
    if (!is_open() || std::is_constant_evaluated()) return *this;
#if TUTTI_HOSTED
    return of_environment();
#else
    return balanced();
#endif
  }

  // Convert to and from one word, so that an object can publish its patience to other threads.
  constexpr std::uint64_t word() const noexcept { return word_; }
  static constexpr patience of_word(std::uint64_t word) noexcept { return {raw{}, word}; }

  friend constexpr bool operator==(patience a, patience b) noexcept { return a.word_ == b.word_; }

#if TUTTI_HOSTED
  // Returns the patience that TUTTI_PATIENCE named at the first call, or balanced if it is not set.
  // A text that is no patience is reported on stderr, once unless several threads make the first
  // call at the same moment, and counts as balanced. Thread-safe.
  TUTTI_API static patience of_environment() noexcept {
    static constinit platform::found_once<std::uint64_t> said{open_word};
    return of_word(said.get([] { return read_environment().word_; }));
  }
#endif

 private:
  static constexpr std::uint64_t open_word = UINT64_MAX;
  static constexpr std::uint64_t balanced_word = UINT64_MAX - 1;
  static constexpr std::uint64_t active_word = UINT64_MAX - 2;
  static constexpr std::uint64_t longest_ns = INT64_MAX;

  struct raw {};
  constexpr patience(raw, std::uint64_t word) noexcept : word_(word) {}

  static constexpr bool is(const char* text, std::size_t size, const char* name) noexcept {
    std::size_t i = 0;
    while (i < size && name[i] != '\0' && text[i] == name[i]) ++i;
    return i == size && name[i] == '\0';
  }

  static constexpr bool parse_time(const char* text, std::size_t size, patience& out) noexcept {
    constexpr std::uint64_t most = longest_ns / 10;
    std::size_t i = 0;
    // The number is digits / tenths.
    std::uint64_t digits = 0, tenths = 1;
    bool has_digit = false, has_point = false;
    for (; i < size; ++i) {
      const char c = text[i];
      if (c == '.' && !has_point) {
        has_point = true;
        continue;
      }
      if (c < '0' || c > '9') break;
      has_digit = true;
      // Further digits are less than a nanosecond in every unit.
      if (has_point && tenths >= 1'000'000'000) continue;
      if (digits >= most) return false;
      digits = 10 * digits + static_cast<std::uint64_t>(c - '0');
      if (has_point) tenths *= 10;
    }
    if (!has_digit) return false;
    const char* const unit = text + i;
    const std::size_t unit_size = size - i;
    const std::uint64_t unit_ns = is(unit, unit_size, "ns")   ? 1
                                  : is(unit, unit_size, "us") ? 1'000
                                  : is(unit, unit_size, "ms") ? 1'000'000
                                  : is(unit, unit_size, "s")  ? 1'000'000'000
                                                              : 0;
    if (unit_ns == 0) return false;
    const std::uint64_t whole = digits / tenths, rest = digits % tenths;
    if (whole > (longest_ns - unit_ns) / unit_ns) return false;
    out = of_ns(whole * unit_ns + rest * unit_ns / tenths);
    return true;
  }

#if TUTTI_HOSTED
  static patience read_environment() noexcept {
    const char* const text = std::getenv("TUTTI_PATIENCE");
    if (text == nullptr) return balanced();
    patience said = balanced();
    if (!parse(text, std::string_view(text).size(), said)) {
      const std::string line =
          "tutti: TUTTI_PATIENCE: " + what_is_wrong_with(text) + "; tutti uses balanced\n";
      // The first wait comes here, and fprintf is a cancellation point.
      platform::write_plainly(2, line.data(), static_cast<long>(line.size()));
    }
    return said;
  }
#endif

  std::uint64_t word_ = open_word;
};

// Sets the patience of a wait policy for every wait that begins later. Returns false if the policy
// has no patience.
template <class Wait>
constexpr bool set_patience_of([[maybe_unused]] Wait& wait, [[maybe_unused]] patience p) noexcept {
  if constexpr (requires { wait.set_patience(p); })
    return wait.set_patience(p);
  else
    return false;
}

}  // namespace tutti
