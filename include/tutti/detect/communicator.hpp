// SPDX-License-Identifier: Apache-2.0
// Communicator: participants of one process that send each other small messages, and can tell when all of them are done
// though nobody knows how many messages will come.
//
//   tutti::communicator comm(4);
//   // on thread r, or virtual rank r of a team:
//   auto& me = comm[r];
//   if (me.can_send(1)) me.send(1, 42);
//   while (me.idle(true) == tutti::idle_result::message) {
//     const auto message = me.recv();
//     use(message.as<int>());
//     me.release(message);
//   }
//   auto pair = comm.group({0, 2});          // idle() among some: pair.of(2).idle(true)
//
// endpoint_concept.hpp describes an endpoint. Memory: participants^2 rings of ring_bytes.
// Destruction: when every participant has returned from its last call.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/detect/endpoint.hpp"
#include "tutti/detect/options.hpp"
#include "tutti/message/ring_table.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

class communicator {
 public:
  static constexpr rank_t most_participants = 4095;
  static constexpr std::size_t most_ring_bytes = std::size_t{1} << 30;

  // Throws std::invalid_argument for 0 or more than 4095 participants, and for options that are none.
  explicit communicator(rank_t participants, communicator_options options = {})
      : communicator(participants, options, {}) {}

  rank_t size() const noexcept { return static_cast<rank_t>(endpoints_.size()); }

  // From the next wait on; at any time, by any thread. False: the wait policy has no patience.
  bool set_patience(patience p) noexcept { return doors_.set_patience(p); }

  // Throws std::out_of_range.
  endpoint& operator[](rank_t rank) { return *endpoints_.at(rank); }

  // A communicator of its own for some of the participants, the i-th of `ranks` being rank i there: what is sent and who is
  // idle elsewhere does not matter to it, nor does it matter elsewhere. Options are those of this one.
  // Throws std::invalid_argument for no rank, one twice, or one that there is not.
  communicator group(std::vector<rank_t> ranks) const {
    std::vector<bool> is_member(size(), false);
    for (const rank_t rank : ranks) {
      if (rank >= size() || is_member[rank])
        refuse("a group of a communicator of " + std::to_string(size()) +
               " participants cannot have rank " + std::to_string(rank) +
               (rank < size() ? " twice" : ""));
      is_member[rank] = true;
    }
    const auto participants = static_cast<rank_t>(ranks.size());
    communicator_options same = options_;
    same.detector = detector_;
    same.wait = wait_;
    return communicator(participants, same, std::move(ranks));
  }
  // Of a group: the endpoint of the participant that has this rank in the communicator the group was made from.
  // Throws std::out_of_range if it is no member.
  endpoint& of(rank_t rank_outside) {
    for (rank_t rank = 0; rank < size(); ++rank)
      if (members_.at(rank) == rank_outside) return *endpoints_[rank];
    throw std::out_of_range("tutti: rank " + std::to_string(rank_outside) +
                            " is no member of the group");
  }

 private:
  communicator(rank_t participants, const communicator_options& options,
               std::vector<rank_t> members)
      : options_(options),
        detector_(options.detector),
        wait_(options.wait),
        members_(std::move(members)),
        rings_(checked(participants), checked_bytes(options.ring_bytes)),
        doors_(participants, options.wait, options.patience),
        all_(doors_, [&] {
          return detail::endpoint_detector(participants, door_caller(doors_), options.detector);
        }) {
    for (rank_t rank = 0; rank < participants; ++rank)
      endpoints_.push_back(std::make_unique<endpoint>(
          rank, all_, rings_.from(rank), rings_.to(rank), options.batch_bytes, options.time_idle));
  }

  static rank_t checked(rank_t participants) {
    if (participants < 1 || participants > most_participants)
      refuse("a communicator is for 1 to " + std::to_string(most_participants) +
             " participants, not " + std::to_string(participants));
    return participants;
  }

  static std::size_t checked_bytes(std::size_t ring_bytes) {
    if (ring_bytes > most_ring_bytes)
      refuse("rings of " + std::to_string(ring_bytes) + " bytes: at most " +
             std::to_string(most_ring_bytes) + " are possible");
    return ring_bytes;
  }

  using all_doors = doors<native, detail::endpoint_wait>;
  using door_caller = all_doors::caller;

  communicator_options options_;  // but for the names, which may not outlive the call
  std::string detector_, wait_;
  std::vector<rank_t> members_;  // of a group: ranks outside
  ring_table<native> rings_;
  all_doors doors_;
  endpoint::shared all_;
  std::vector<std::unique_ptr<endpoint>> endpoints_;
};

static_assert(endpoint_like<endpoint>);

}  // namespace tutti
