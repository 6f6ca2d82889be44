// SPDX-License-Identifier: Apache-2.0
// A detector chosen by name at run time. The counter is a plain member because most programs use
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/termination/counter.hpp"
#include "tutti/termination/detector.hpp"
#include "tutti/termination/protocol_detector.hpp"
#include "tutti/termination/snapshot.hpp"

namespace tutti {

template <class Memory, class Wake>
class any_detector {
 public:
  // An empty name lets tutti choose. Throws std::invalid_argument for an unknown name.
  any_detector(rank_t participants, Wake wake, std::string_view name = {})
      : counter_(participants) {
    if (name.empty()) name = choose(participants);
    if (name == "counter") return;
    if (name == "snapshot")
      snapshot_ = std::make_unique<snapshot_detector<Memory>>(participants);
    else if (protocol::find_algorithm(name) < protocol::algorithms.size())
      protocol_ = std::make_unique<protocol_detector<Memory, Wake>>(name, participants, wake);
    else
      refuse("detector '" + std::string(name) +
             "' is not one of counter, snapshot, star, tree, ring, waves");
  }

  // Chooses one counter for few participants, or if the participants share cores; else the
  // snapshot.
  static std::string_view choose(rank_t participants) {
    constexpr rank_t few = 8;
    const bool is_counter = participants <= few || participants > Memory::cpus();
    return is_counter ? "counter" : "snapshot";
  }

  detection enter(rank_t rank, const idle_entry& entry) {
    if (protocol_ != nullptr) [[unlikely]]
      return protocol_->enter(rank, entry);
    if (snapshot_ == nullptr) [[likely]]
      return counter_.enter(rank, entry);
    return snapshot_->enter(rank, entry);
  }
  bool has_work(rank_t rank) noexcept {
    if (protocol_ != nullptr) return protocol_->has_work(rank);
    return snapshot_ != nullptr && snapshot_->has_work(rank);
  }
  detection work(rank_t rank) {
    if (protocol_ != nullptr) return protocol_->work(rank);
    return snapshot_ != nullptr ? snapshot_->work(rank) : detection{};
  }
  void tell(rank_t rank) {
    if (protocol_ != nullptr) [[unlikely]]
      protocol_->tell(rank);
  }
  void refute(rank_t rank, bool vote) {
    if (protocol_ != nullptr) return protocol_->refute(rank, vote);
    snapshot_ != nullptr ? snapshot_->refute(rank, vote) : counter_.refute(rank, vote);
  }
  bool withdraw(rank_t rank, bool vote, std::uint64_t episode) {
    if (protocol_ != nullptr) return protocol_->withdraw(rank);
    return snapshot_ != nullptr ? snapshot_->withdraw(rank, vote, episode)
                                : counter_.withdraw(rank, vote, episode);
  }
  void begin(std::uint64_t episodes) noexcept { counter_.begin(episodes); }

  // Whether each participant learns of the end of an episode from its own state machine rather than
  // from the release word alone.
  bool releases_one_by_one() const noexcept { return protocol_ != nullptr; }
  bool may_send(rank_t rank) const { return protocol_ == nullptr || protocol_->may_send(rank); }

 private:
  counter_detector<Memory> counter_;
  std::unique_ptr<snapshot_detector<Memory>> snapshot_;
  std::unique_ptr<protocol_detector<Memory, Wake>> protocol_;
};

// Adds to a detector class the functions that it needs to take the place of any_detector.
template <class Detector>
struct fixed_detector : Detector {
  using Detector::Detector;
  static constexpr void tell(rank_t) noexcept {}
  static constexpr bool releases_one_by_one() noexcept { return false; }
  static constexpr bool may_send(rank_t) noexcept { return true; }
};

}  // namespace tutti
