// SPDX-License-Identifier: Apache-2.0
// A faulty cable: it loses, repeats, reorders and corrupts packets, by a seed.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tutti::network {

struct cable_faults {
  // Probabilities of a packet.
  double lose = 0, repeat = 0, reorder = 0, corrupt = 0;
  std::uint64_t seed = 1;

  bool any() const { return lose + repeat + reorder + corrupt > 0; }
  // The probability that a packet is repeated, held back or corrupted.
  double worse() const { return 1 - (1 - repeat) * (1 - reorder) * (1 - corrupt); }
};

// `Where` says to which cable's end a packet goes.
template <class Where>
class faulty_cable {
 public:
  using bytes = std::vector<std::uint8_t>;

  // With `only_worse` it gets only the share worse() of the packets, by chance, and does something
  // to each: together that is what the plan says.
  explicit faulty_cable(const cable_faults& plan, bool only_worse = false)
      : plan_(plan), only_worse_(only_worse && plan.worse() > 0), random_(plan.seed) {}

  // Calls send(bytes, where) for what comes out of the cable when this goes in: nothing, the
  // packet, or more. A packet that is held back comes out behind one of the next packets.
  template <class Send>
  void pass(bytes packet, const Where& where, Send send) {
    if (!plan_.any()) {
      send(packet, where);
      return;
    }
    bool corrupts, holds, repeats;
    do {
      corrupts = chance(plan_.corrupt);
      holds = chance(plan_.reorder);
      repeats = chance(plan_.repeat);
    } while (only_worse_ && !corrupts && !holds && !repeats);
    if (corrupts && !packet.empty())
      packet[random_() % packet.size()] ^= static_cast<std::uint8_t>(1u << random_() % 8);
    if (chance(plan_.lose)) {
      if (random_() % 2 == 0) release(send);
      return;
    }
    if (repeats) held_.emplace_back(packet, where);
    if (holds) {
      held_.emplace_back(std::move(packet), where);
      return;
    }
    send(packet, where);
    if (random_() % 2 == 0) release(send);
  }
  // Lets one packet out that is held back.
  template <class Send>
  void release(Send send) {
    if (held_.empty()) return;
    const auto [packet, where] = std::move(held_.front());
    held_.erase(held_.begin());
    send(packet, where);
  }

 private:
  bool chance(double p) { return std::uniform_real_distribution<double>()(random_) < p; }

  cable_faults plan_;
  bool only_worse_;
  std::mt19937_64 random_;
  std::vector<std::pair<bytes, Where>> held_;
};

}  // namespace tutti::network
