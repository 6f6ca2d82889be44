// SPDX-License-Identifier: Apache-2.0
// How software uses the counting unit, or the mask unit, which has the same registers.
//
// An arrival is one write; a departure takes at least one read. The unit's two copies take turns.
// Departure is seen by the copy's number of completed episodes, not by its departure flag: with
// arrivals by memory the flag may still show the copy's previous use.
//
// Word is the type of words that the unit and other threads access too: that of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hardware/driver/device.hpp"
#include "hardware/driver/registers.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::hardware {

struct harp_options {
  arrival_path arrival = arrival_path::csr;
  departure_path departure = departure_path::csr;
};

template <class Word>
class harp_protocol {
 public:
  // Identifies, resets and configures the device. Throws std::runtime_error if the device is not
  // such a unit, has another version, or lacks a path, and std::invalid_argument if there are no
  // participants or more than the unit supports.
  harp_protocol(basic_device<Word>& unit, rank_t participants, harp_options with = {});
  ~harp_protocol() { unit_.write(control, control_reset); }
  harp_protocol(const harp_protocol&) = delete;
  harp_protocol& operator=(const harp_protocol&) = delete;

  rank_t participants() const noexcept { return n_; }
  void arrive(rank_t rank);
  // Whether the episode at which the rank has arrived is complete.
  bool may_depart(rank_t rank);
  // Returns the ranks that have not arrived at the episode in which `rank` waits.
  std::vector<rank_t> missing(rank_t rank) const;
  // Returns the unit's error register; 0 means that the unit has seen no misuse.
  std::uint64_t errors() { return unit_.read(error); }

 private:
  // The layout of the participants' lines in the shared memory: arrivals first, then departures.
  static constexpr std::size_t arrivals_at = 0, departures_at = 64 * 128,
                               memory_bytes = 2 * departures_at;
  // A message's address is copy * 4 + rank.
  static constexpr unsigned messages_of_a_copy = 4, message_addresses = 2 * messages_of_a_copy;

  struct alignas(cache_line) rank_state {
    Word arrivals{0};
  };

  // Returns the participants if the device is such a unit and supports so many.
  static rank_t vetted(basic_device<Word>& unit, rank_t participants);

  Word& line(std::size_t first_byte, rank_t rank) {
    return memory_.words[(first_byte + rank * std::size_t{64}) / 8];
  }

  basic_device<Word>& unit_;
  const rank_t n_;
  const harp_options with_;
  basic_shared_memory<Word> memory_;
  std::uint64_t generation_mask_ = 0;
  array<rank_state> rank_states_;
};

template <class Word>
rank_t harp_protocol<Word>::vetted(basic_device<Word>& unit, rank_t participants) {
  if (const std::uint64_t found = unit.read(id); found != id_value)
    fail(unit.name(), found == ~std::uint64_t{0}
                          ? "does not answer"
                          : "is no barrier unit: its identity is " + std::to_string(found));
  const std::uint64_t found = unit.read(version);
  if ((found >> 16 & 0xFFFF) != version_major)
    fail(unit.name(), "is of version " + std::to_string(found >> 16 & 0xFFFF) + "." +
                          std::to_string(found & 0xFFFF) + "; this driver is for version " +
                          std::to_string(version_major));
  require_window(unit, window_bytes);
  const auto most = static_cast<rank_t>(unit.read(capability) & 0xFFFF);
  if (participants < 1 || participants > most)
    refuse("hardware device '" + unit.name() + "' takes 1 to " + std::to_string(most) +
           " participants, not " + std::to_string(participants));
  return participants;
}

template <class Word>
harp_protocol<Word>::harp_protocol(basic_device<Word>& unit, rank_t participants, harp_options with)
    : unit_(unit), n_(participants), with_(with), rank_states_(vetted(unit, participants)) {
  const std::uint64_t capable = unit.read(capability);
  generation_mask_ = (std::uint64_t{1} << (capable >> 24 & 0xFF)) - 1;
  const bool by_memory =
      with.arrival == arrival_path::memory || with.departure != departure_path::csr;
  if (by_memory) {
    memory_ = unit.memory();
    if ((capable >> 32 & 1) == 0 || memory_.words == nullptr || memory_.bytes < memory_bytes)
      fail(unit.name(), "reaches no shared memory of " + std::to_string(memory_bytes) +
                            " bytes; only the paths through registers can be chosen");
  }
  if (with.arrival == arrival_path::message) {
    const unsigned addresses =
        std::min(unit.message_addresses(), static_cast<unsigned>(capable >> 16 & 0xFF));
    if (addresses < message_addresses)
      fail(unit.name(), "sends no messages; choose arrival by register or memory");
    if (n_ > messages_of_a_copy)
      refuse("hardware device '" + unit.name() + "' takes messages of 1 to " +
             std::to_string(messages_of_a_copy) + " participants, not of " + std::to_string(n_));
  }

  // Clear the memory between the reset and the enabling, since the unit may write or poll until it
  // is reset.
  unit.write(control, control_reset);
  // What the unit objects to from here on is about this configuration.
  unit.write(error, ~std::uint64_t{0});
  unit.write(size, 1);
  unit.write(arrival, static_cast<std::uint64_t>(with.arrival));
  unit.write(departure, static_cast<std::uint64_t>(with.departure));
  if (by_memory) {
    unit.write(arrival_base, memory_.bus_address + arrivals_at);
    unit.write(departure_base, memory_.bus_address + departures_at);
  }
  unit.write(size, n_);
  // The answer comes after all writes to registers. On AXI it also comes after the unit's writes to
  // memory; behind CCI-P these go out before it, and count on the platform's order.
  unit.read(status);
  // relaxed: no other thread uses the memory yet.
  for (std::size_t i = 0; by_memory && i < memory_bytes / 8; ++i)
    memory_.words[i].store(0, relaxed);
  unit.write(control, control_enable);
  const bool has_taken_size = unit.read(size) == n_;
  const std::uint64_t objections = unit.read(error);
  if (!has_taken_size || objections != 0) {
    // Without an object there is no destructor, and the unit would go on polling or writing the
    // memory.
    unit.write(control, control_reset);
    fail(unit.name(), "refuses its configuration: error register " + std::to_string(objections));
  }
}

template <class Word>
void harp_protocol<Word>::arrive(rank_t rank) {
  // relaxed: this rank's own count; others read it only for messages.
  const std::uint64_t mine = rank_states_[rank].arrivals.load(relaxed);
  // relaxed: this rank's own count; others read it only for messages.
  rank_states_[rank].arrivals.store(mine + 1, relaxed);
  if (with_.arrival == arrival_path::memory) {
    // release: publishes what this rank wrote; pairs with the acquire on the unit's side, whose
    // departure all ranks read.
    line(arrivals_at, rank).store(mine + 1, std::memory_order_release);
    return;
  }
  if (with_.arrival == arrival_path::message) {
    unit_.send(static_cast<unsigned>(mine % 2) * messages_of_a_copy + rank);
    return;
  }
  unit_.write(trigger(mine % 2, rank), 1);
}

template <class Word>
bool harp_protocol<Word>::may_depart(rank_t rank) {
  // relaxed: this rank's own count.
  const std::uint64_t done = rank_states_[rank].arrivals.load(relaxed);
  if (with_.departure == departure_path::csr) {
    // The uses of this episode's copy, this one included.
    const std::uint64_t uses = (done + 1) / 2;
    return (unit_.read(sense((done - 1) % 2, rank)) >> 32) == (uses & generation_mask_);
  }
  const rank_t mine = with_.departure == departure_path::lines ? rank : 0;
  // acquire: pairs with the unit's write, which came after all arrivals.
  const std::uint64_t episodes = line(departures_at, mine).load(std::memory_order_acquire);
  return static_cast<std::uint32_t>(episodes - done) < 0x8000'0000;
}

template <class Word>
std::vector<rank_t> harp_protocol<Word>::missing(rank_t rank) const {
  // relaxed: a snapshot for a message; ranks may arrive while it is taken.
  const std::uint64_t mine = rank_states_[rank].arrivals.load(relaxed);
  std::vector<rank_t> absent;
  for (rank_t r = 0; r < n_; ++r)
    // relaxed: part of the same snapshot.
    if (rank_states_[r].arrivals.load(relaxed) < mine) absent.push_back(r);
  return absent;
}

}  // namespace tutti::hardware
