// SPDX-License-Identifier: Apache-2.0
// The private state of a participant between episodes, on a cache line of its own, and the words of
// participants that count their arrivals.
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"

namespace tutti {

template <class Wait>
struct alignas(cache_line) participant {
  // The episode that the participant is in, counted from 1. It wraps around.
  std::uint32_t episode = 0;
  // The wait policy's state for waits for the release.
  typename Wait::wait_state wait_state{};
  // The wait policy's state for waits for the arrivals of others. It is separate because the two
  // kinds of waits usually take different times.
  typename Wait::wait_state collecting{};
};

// The words of a group of participants that count their arrivals and are released together, on a
// cache line each.
template <class Memory>
struct counted_arrivals {
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived{0};
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> released{0};
};

// Returns a condition on a word that holds the number of the last episode in which something
// happened: has it happened in `episode`? It compares by difference, so the number may wrap around.
constexpr auto reached(std::uint32_t episode) noexcept {
  return [episode](std::uint32_t last) noexcept {
    return static_cast<std::int32_t>(last - episode) >= 0;
  };
}

}  // namespace tutti
