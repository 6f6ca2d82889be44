// SPDX-License-Identifier: Apache-2.0
// Bits of a model's port, which Verilator makes an integer or an array of words.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tutti::rtl {

// Returns `width` <= 64 bits from bit `low` of a port.
template <class Port>
std::uint64_t field(const Port& port, unsigned low, unsigned width) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if constexpr (std::is_integral_v<Port>) {
    return (std::uint64_t{port} >> low) & mask;
  } else {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < width; bit += 32 - (low + bit) % 32)
      value |= (std::uint64_t{port[(low + bit) / 32]} >> (low + bit) % 32) << bit;
    return value & mask;
  }
}

template <class Port>
void set_field(Port& port, unsigned low, unsigned width, std::uint64_t value) {
  for (unsigned bit = 0; bit < width; ++bit) {
    const bool one = (value >> bit & 1) != 0;
    if constexpr (std::is_integral_v<Port>) {
      const std::uint64_t at = std::uint64_t{1} << (low + bit);
      port = static_cast<Port>(one ? std::uint64_t{port} | at : std::uint64_t{port} & ~at);
    } else {
      const std::uint32_t at = 1u << (low + bit) % 32;
      auto& word = port[(low + bit) / 32];
      word = one ? word | at : word & ~at;
    }
  }
}

}  // namespace tutti::rtl
