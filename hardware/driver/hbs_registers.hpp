// SPDX-License-Identifier: Apache-2.0
// The register map of the Hardware Barrier Structure; hbs/rtl/tutti_hbs_pkg.sv has the same
// numbers.
#pragma once

#include <cstdint>

namespace tutti::hardware::hbs {

// ASCII "TUTTIHBS".
inline constexpr std::uint64_t id_value = 0x5455'5454'4948'4253;
inline constexpr std::uint32_t version_value = 0x0001'0000;
inline constexpr std::uint64_t id = 0x0000, version = 0x0040, capability = 0x0080, error = 0x00C0;
inline constexpr std::uint64_t window_bytes = 0x80'0000;

// The contents of the capability register: bits n, barriers m, 64-bit words of a cluster, threads
// of this socket, and bits of a sense.
struct capabilities {
  std::uint32_t bits, barriers, words, local, generation_bits;
  static constexpr capabilities of(std::uint64_t value) noexcept {
    return {static_cast<std::uint32_t>(value & 0xFFFF),
            static_cast<std::uint32_t>(value >> 16 & 0xFFFF),
            static_cast<std::uint32_t>(value >> 32 & 0xFF),
            static_cast<std::uint32_t>(value >> 40 & 0xFFFF),
            static_cast<std::uint32_t>(value >> 56)};
  }
};

constexpr std::uint64_t cluster(std::uint64_t barrier, std::uint64_t word,
                                std::uint64_t words) noexcept {
  return 0x1'0000 + (barrier * words + word) * 8;
}
constexpr std::uint64_t state(std::uint64_t barrier, std::uint64_t word,
                              std::uint64_t words) noexcept {
  return 0x2'0000 + (barrier * words + word) * 8;
}
constexpr std::uint64_t trigger(std::uint64_t barrier, std::uint64_t thread) noexcept {
  return 0x20'0000 + barrier * 0x4000 + thread * 64;
}
constexpr std::uint64_t sense(std::uint64_t barrier, std::uint64_t thread) noexcept {
  return 0x40'0000 + barrier * 0x4000 + thread * 64;
}
constexpr std::uint64_t init(std::uint64_t barrier, std::uint64_t thread) noexcept {
  return 0x60'0000 + barrier * 0x4000 + thread * 64;
}

// Bits of `error`.
enum error_bit : std::uint64_t {
  foreign = 1,
  arrived_again = 2,
  bad_create = 4,
  out_of_range = 8,
  late_init = 16
};

}  // namespace tutti::hardware::hbs
