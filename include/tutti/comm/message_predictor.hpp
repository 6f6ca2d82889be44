// SPDX-License-Identifier: Apache-2.0
// Predicts whether a message will come soon. A participant that enters idle() and is refuted at
// once updates twice a line that all participants share. A participant that expects a message saves
// both updates if it looks for the message a little longer first. Programs repeat their patterns (a
// message and then the end, or messages without end), so the last four results of idle() predict
// the next: this is a branch predictor for one branch.
#pragma once

#include <array>
#include <cstdint>

namespace tutti {

class message_predictor {
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
  // The number of different sequences of four results.
  static constexpr std::uint32_t endings = 16;

  // Two-bit counters. 0 and 1 predict no message; 2 and 3 predict a message.
  std::array<std::uint8_t, endings> leaning_{};
  // The last results, one bit each.
  std::uint32_t history_ = 0;
};

}  // namespace tutti
