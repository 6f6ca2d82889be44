// SPDX-License-Identifier: Apache-2.0
// Runs a protocol of termination/protocol/ between threads. Each participant has its state machine,
// and control messages travel through separate rings. A participant runs its machine only while it
// is idle, as a token in Naylor et al. 2020 waits for its owner.
//
// Cost       Two line transfers per control message; protocol/algorithms.hpp says how many messages
//            an episode takes.
// When       To compare protocols, or to try within one process what runs between processes.
//            counter.hpp and snapshot.hpp use shared memory better.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tutti/message/mailbox.hpp"
#include "tutti/message/ring_table.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/termination/detector.hpp"
#include "tutti/termination/protocol/machine.hpp"

namespace tutti {

// `Wake(to)` is called after a control message was published for participant `to`.
template <class Memory, class Wake>
class protocol_detector {
 public:
  // Throws std::invalid_argument for a name that protocol::algorithms does not list.
  protocol_detector(std::string_view name, rank_t participants, Wake wake)
      : rings_(participants, ring_bytes) {
    for (rank_t rank = 0; rank < participants; ++rank)
      nodes_.push_back(std::make_unique<node>(name, rank, participants, rings_, wake));
  }

  detection enter(rank_t rank, const idle_entry& entry) {
    node& mine = *nodes_[rank];
    const protocol::contribution given{
        .value = {}, .combine = nullptr, .operation = 0, .vote = entry.vote};
    return told(mine.machine.passive({entry.sent, entry.released}, given, sender{mine}));
  }

  bool has_work(rank_t rank) const noexcept { return nodes_[rank]->box.has_news(); }

  // Handles all control messages that are here, until the episode is over.
  detection work(rank_t rank) {
    node& mine = *nodes_[rank];
    detection found;
    while (!found.is_over && mine.box.has_message()) {
      const received message = mine.box.recv();
      const auto control = message.as<protocol::control>();
      mine.box.release(message);
      found = told(mine.machine.receive(control, sender{mine}));
    }
    return found;
  }

  // Publishes the machine's messages. Call it once those who will hear of a release can see it.
  void tell(rank_t rank) { nodes_[rank]->box.flush(); }

  void refute(rank_t rank, bool /*vote*/) { nodes_[rank]->machine.active(); }

  // Always succeeds. If the report is under way, may_send() says when the participant is free
  // again.
  bool withdraw(rank_t rank, bool /*vote*/, std::uint64_t /*episode*/) {
    nodes_[rank]->machine.withdraw();
    return true;
  }
  static constexpr void begin(std::uint64_t /*episodes*/) noexcept {}
  static constexpr bool releases_one_by_one() noexcept { return true; }
  bool may_send(rank_t rank) const { return nodes_[rank]->machine.sends_allowed(); }

 private:
  // Room for a dozen control messages between two participants. Never more than a release, a probe
  // and a report are under way.
  static constexpr std::size_t ring_bytes = 1024;

  struct alignas(cache_line) node {
    node(std::string_view name, rank_t rank, rank_t participants, ring_table<Memory>& rings,
         Wake wake)
        : machine(name, rank, participants),
          box(rank, rings.from(rank), rings.to(rank), ring_bytes, wake) {}
    protocol::machine machine;
    mailbox<Memory, Wake> box;
  };

  struct sender {
    node& from;
    void operator()(rank_t to, const protocol::control& message) const {
      while (!from.box.try_send(to, &message, sizeof message)) {
      }
    }
  };

  static detection told(const protocol::outcome& out) noexcept {
    return {.is_over = out.released, .is_unanimous = out.unanimous, .waves = out.waves};
  }

  ring_table<Memory> rings_;
  std::vector<std::unique_ptr<node>> nodes_;
};

}  // namespace tutti
