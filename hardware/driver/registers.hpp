// SPDX-License-Identifier: Apache-2.0
// The register map of the counting, mask and tree units; counting/rtl/tutti_counting_pkg.sv has the
// same numbers.
#pragma once

#include <cstdint>

namespace tutti::hardware {

// ASCII "TUTTIBAR".
inline constexpr std::uint64_t id_value = 0x5455'5454'4942'4152;
inline constexpr std::uint32_t version_major = 1;

enum class variant : std::uint8_t { counting = 1, mask = 2, tree = 3 };
enum class arrival_path : std::uint8_t { csr = 0, message = 1, memory = 2 };
enum class departure_path : std::uint8_t { csr = 0, lines = 1, line = 2 };

inline constexpr std::uint64_t id = 0x0000, version = 0x0040, capability = 0x0080, control = 0x00C0,
                               size = 0x0100, arrival = 0x0140, departure = 0x0180,
                               arrival_base = 0x01C0, departure_base = 0x0200, status = 0x0240,
                               error = 0x0280, arrived0 = 0x02C0, arrived1 = 0x0300;
inline constexpr std::uint64_t window_bytes = 0x1'0000;
inline constexpr std::uint64_t control_enable = 1, control_reset = 2;

constexpr std::uint64_t trigger(std::uint64_t copy, std::uint64_t thread) noexcept {
  return 0x4000 + copy * 0x2000 + thread * 64;
}
constexpr std::uint64_t sense(std::uint64_t copy, std::uint64_t thread) noexcept {
  return 0x8000 + copy * 0x2000 + thread * 64;
}

// Bits of `error`.
enum error_bit : std::uint64_t {
  bad_size = 1,
  bad_path = 2,
  foreign_arrival = 4,
  wrong_path = 8,
  arrived_again = 16,
  // A participant's line did not hold the next number, or the unit could not read it.
  poll_sequence = 32,
  notify_overrun = 64,
};

}  // namespace tutti::hardware
