// SPDX-License-Identifier: Apache-2.0
// What a participant keeps to itself between episodes, on a line of its own.
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"

namespace tutti {

template <class Wait>
struct alignas(cache_line) participant {
  std::uint32_t episode = 0;  // the one it is in, counted from 1; wraps
  typename Wait::seat seat{};
  // The state of waits for others' arrivals, where a participant also waits for what they lead to: the two kinds of
  // waits have usual lengths of their own.
  typename Wait::seat collecting{};
};

// For words that hold the number of the last episode in which something happened: has it happened in `episode`?
// Compared as a difference, so that the count may wrap.
constexpr auto reached(std::uint32_t episode) noexcept {
  return [episode](std::uint32_t last) noexcept {
    return static_cast<std::int32_t>(last - episode) >= 0;
  };
}

}  // namespace tutti
