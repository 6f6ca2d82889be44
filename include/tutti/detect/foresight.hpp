// SPDX-License-Identifier: Apache-2.0
// Foresight: will a message come soon? Entering idle() and being refuted at once costs two updates of a line that everybody
// wants; a participant that expects a message had better look for it a little longer. A program's pattern repeats (a
// message and then the end; messages without end), so the last four endings tell the next: a branch predictor with one
// branch.
#pragma once

#include <array>
#include <cstdint>

namespace tutti {

class foresight {
 public:
  bool expects_message() const noexcept { return leaning_[history_] >= 2; }

  void learn(bool was_message) noexcept {
    std::uint8_t& leaning = leaning_[history_];
    if (was_message)
      leaning = leaning < 3 ? static_cast<std::uint8_t>(leaning + 1) : leaning;
    else
      leaning = leaning > 0 ? static_cast<std::uint8_t>(leaning - 1) : leaning;
    history_ = (history_ << 1 | (was_message ? 1u : 0u)) % endings;
  }

 private:
  static constexpr std::uint32_t endings = 16;  // of four in a row

  std::array<std::uint8_t, endings> leaning_{};  // 0, 1: no; 2, 3: yes
  std::uint32_t history_ = 0;                    // the last endings, a bit each
};

}  // namespace tutti
