// SPDX-License-Identifier: Apache-2.0
// The template parameter of the termination-detection machines. The shipped policy changes nothing.
//
// Every choice on which a protocol's correctness depends has a name, as every memory order has:
// choose(site, right, wrong). The explorer (tests/termination) makes one site at a time return
// `wrong`, which is a bug that another implementation had or could have. It fails unless it finds
// an execution that exposes the bug.
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"

namespace tutti::protocol {

struct shipping {
  template <class T>
  static constexpr T choose(const char* /*site*/, T right, T /*wrong*/) noexcept {
    return right;
  }
  // Waves are numbered modulo this mask plus one. The explorer uses a small mask, so that the
  // number of states is finite.
  static constexpr std::uint32_t wave_mask = ~std::uint32_t{0};
  template <class T>
  using slots = array<T>;
};

}  // namespace tutti::protocol
