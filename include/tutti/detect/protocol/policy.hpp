// SPDX-License-Identifier: Apache-2.0
// What the machines of termination detection take as their template parameter: nothing at all in what ships.
//
// A choice that the correctness of a protocol hangs on has a name, as the memory orders have: choose(site, right, wrong). The
// explorer (tests/detect_protocol) makes one site at a time answer with `wrong`, which is a bug that somebody once had, and
// fails unless it finds the execution in which that bug shows.
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"

namespace tutti::protocol {

struct shipping {
  template <class T>
  static constexpr T choose(const char* /*site*/, T right, T /*wrong*/) noexcept {
    return right;
  }
  // Waves are numbered within this mask; the explorer's is small, so that it meets finitely many states.
  static constexpr std::uint32_t wave_mask = ~std::uint32_t{0};
  template <class T>
  using slots = array<T>;
};

}  // namespace tutti::protocol
