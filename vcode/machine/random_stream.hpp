// SPDX-License-Identifier: Apache-2.0
// The generator that RAND draws from: additive feedback over 31 words, x[i] = x[i-3] + x[i-31]
// modulo 2^32. The output is x[i] without its lowest bit. The C library with which the original's
// outputs were recorded has the same generator; this one can also jump, so that several threads
// make blocks of one stream at the same time.
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

  // Returns a non-negative number of 31 bits.
  std::int32_t next();
  // Advances as `count` calls of next() would; costs about 30 microseconds for any count.
  void jump(std::uint64_t count);

 private:
  // The last 31 words, the oldest at at_.
  std::array<std::uint32_t, degree> words_{};
  std::size_t at_ = 0;
};

}  // namespace tutti::vcode
