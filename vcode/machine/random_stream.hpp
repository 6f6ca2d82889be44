// SPDX-License-Identifier: Apache-2.0
// The generator that RAND draws from: additive feedback over 31 words, x[i] = x[i-3] + x[i-31] modulo 2^32,
// whose output is x[i] without its lowest bit. It is the one of the C library on which the outputs of the
// original were recorded; here it can also jump, so that blocks of one stream are made at the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

class random_stream {
 public:
  static constexpr std::size_t degree = 31;

  explicit random_stream(std::uint32_t seed = 1) { restart(seed); }
  void restart(std::uint32_t seed);

  // Non-negative, 31 bits.
  std::int32_t next();
  // As if next() had been called `count` times; costs about 30 microseconds, however many.
  void jump(std::uint64_t count);

 private:
  std::array<std::uint32_t, degree> words_{};  // the last 31, the oldest at at_
  std::size_t at_ = 0;
};

}  // namespace tutti::vcode
