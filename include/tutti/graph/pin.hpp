// SPDX-License-Identifier: Apache-2.0
// Where a vertex wants to send: nowhere, along one of its sets of out-edges, or to the host.
#pragma once

#include <cstdint>

namespace tutti::graph {

// A pin is a set of out-edges: pin(n) stands for the edges of the n-th graph that the engine was
// given. A message sent on a pin travels along all its edges.
class pin {
 public:
  // The pin of the engine's graph with this number, from 0. Numbers that no engine has are one pin,
  // which every engine refuses.
  constexpr explicit pin(std::uint32_t number) noexcept
      : code_(number < most_code - 2 ? number + 2 : most_code) {}

  static constexpr pin none() noexcept { return from_code(0); }
  static constexpr pin host() noexcept { return from_code(1); }
  static constexpr pin from_code(std::uint32_t code) noexcept {
    pin p(0);
    p.code_ = code;
    return p;
  }

  // Whether this is a set of out-edges, neither no_pin nor host_pin.
  constexpr bool is_edges() const noexcept { return code_ >= 2; }
  // Precondition: is_edges().
  constexpr std::uint32_t number() const noexcept { return code_ - 2; }
  constexpr std::uint32_t code() const noexcept { return code_; }

  constexpr bool operator==(const pin&) const = default;

 private:
  // The queue of senders has a use for the highest bit.
  static constexpr std::uint32_t most_code = 0x7fffffff;
  std::uint32_t code_;
};

// The vertex does not want to send.
inline constexpr pin no_pin = pin::none();
// The vertex wants to send to the program's host.
inline constexpr pin host_pin = pin::host();

}  // namespace tutti::graph
