// SPDX-License-Identifier: Apache-2.0
// The traffic of a message trial, the same for every provider: each participant sends its messages
// to destinations drawn at random and takes what has come after every sixteenth.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "tutti/platform/config.hpp"

namespace tutti::bench {

template <std::size_t Bytes>
struct payload {
  std::uint64_t words[Bytes / 8];
};

class destinations {
 public:
  destinations(rank_t rank, rank_t participants, bool with_self)
      : rank_(rank),
        n_(participants),
        with_self_(with_self),
        state_(rank * 0x9e3779b97f4a7c15u + 1) {}

  // xorshift64: a few instructions, so that the messages are what is timed.
  rank_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const std::uint64_t high = state_ >> 32;
    if (with_self_) return static_cast<rank_t>(high * n_ >> 32);
    const auto other = static_cast<rank_t>(high * (n_ - 1) >> 32);
    return other < rank_ ? other : other + 1;
  }

 private:
  rank_t rank_, n_;
  bool with_self_;
  std::uint64_t state_;
};

// One participant's part. Port: try_send(to, const payload&), drain(sum) -> messages taken,
// end(taken, drain) until all is delivered. Adds what it sent and took, so that a lost or altered
// message is found.
template <std::size_t Bytes, class Port>
void run_traffic(Port& port, rank_t rank, rank_t participants, bool with_self, std::uint64_t count,
                 std::uint64_t& sent_sum, std::uint64_t& taken_sum) {
  destinations where(rank, participants, with_self);
  std::uint64_t sent = 0, taken = 0;
  payload<Bytes> message{};
  for (std::uint64_t i = 0; i < count; ++i) {
    const rank_t to = where.next();
    message.words[0] = i * 3 + to;
    while (!port.try_send(to, message)) port.drain(taken);
    sent += message.words[0];
    if (i % 16 == 15) port.drain(taken);
  }
  port.end(taken);
  sent_sum = sent;
  taken_sum = taken;
}

inline void check_sums(const std::uint64_t* sent, const std::uint64_t* taken, rank_t n) {
  std::uint64_t difference = 0;
  for (rank_t rank = 0; rank < n; ++rank) difference += sent[rank] - taken[rank];
  if (difference != 0) throw std::runtime_error("messages were lost or altered");
}

}  // namespace tutti::bench
