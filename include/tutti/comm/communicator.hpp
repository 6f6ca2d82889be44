// SPDX-License-Identifier: Apache-2.0
// Communicator: participants of one process that send each other small messages, and that detect
// when all of them are done even though none knows how many messages are still to come.
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
//   auto pair = comm.group({0, 2});          // idle() among some of them: pair.of(2).idle(true)
//
// endpoint_concept.hpp describes an endpoint.
// Memory: participants^2 rings of ring_bytes.
// Thread-safety: each endpoint belongs to one thread (or fiber) at a time; different endpoints may
// be used at the same time.
// Destruction: after every participant has returned from its last call.
// Hosted only: it needs exceptions and std::vector.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint.hpp"
#include "tutti/comm/options.hpp"
#include "tutti/message/ring_table.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

// The participants 0 .. size()-1 and their endpoints, on any platform; tutti::communicator is the
// one of the native platform.
template <class Memory>
class basic_communicator {
 public:
  using endpoint = detail::endpoint_of<Memory>;

  static constexpr rank_t most_participants = 4095;
  static constexpr std::size_t most_ring_bytes = std::size_t{1} << 30;

  // Throws std::invalid_argument unless there are 1 to 4095 participants, and for an unknown
  // detector or wait policy, for patience with a policy that has none, and for rings larger than
  // most_ring_bytes.
  explicit basic_communicator(rank_t participants, communicator_options options = {})
      : basic_communicator(participants, options, {}) {}

  rank_t size() const noexcept { return static_cast<rank_t>(endpoints_.size()); }

  // Takes effect from the next wait on. Any thread may call it at any time. Returns false if the
  // wait policy has no patience.
  bool set_patience(patience p) noexcept { return wait_points_.set_patience(p); }

  // Throws std::out_of_range if there is no such rank.
  endpoint& operator[](rank_t rank) { return *endpoints_.at(rank); }

  // Makes a separate communicator for some of the participants, with the options of this one.
  // Participant `ranks[i]` has rank i in it. Messages and idle() calls in one communicator do not
  // affect the other.
  // Throws std::invalid_argument if `ranks` is empty, repeats a rank, or names one that does not
  // exist.
  basic_communicator group(std::vector<rank_t> ranks) const {
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
    return basic_communicator(participants, same, std::move(ranks));
  }
  // In a group: the endpoint of the participant that has rank `rank_outside` in the communicator
  // from which the group was made.
  // Throws std::out_of_range if that participant is no member.
  endpoint& of(rank_t rank_outside) {
    for (rank_t rank = 0; rank < size(); ++rank)
      if (members_.at(rank) == rank_outside) return *endpoints_[rank];
    throw std::out_of_range("tutti: rank " + std::to_string(rank_outside) +
                            " is not a member of the group");
  }

 private:
  basic_communicator(rank_t participants, const communicator_options& options,
                     std::vector<rank_t> members)
      : options_(options),
        detector_(options.detector),
        wait_(options.wait),
        members_(std::move(members)),
        rings_(checked(participants), checked_bytes(options.ring_bytes)),
        wait_points_(participants, options.wait, options.patience),
        all_(wait_points_, [&] {
          return detail::endpoint_detector<Memory>(participants, waker(wait_points_),
                                                   options.detector);
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
      refuse("rings of " + std::to_string(ring_bytes) + " bytes are too large: at most " +
             std::to_string(most_ring_bytes) + " are possible");
    return ring_bytes;
  }

  using all_wait_points = wait_points<Memory, detail::endpoint_wait<Memory>>;
  using waker = typename all_wait_points::waker;

  // Its detector and wait names may not outlive the constructor's call; detector_ and wait_ hold
  // copies.
  communicator_options options_;
  std::string detector_, wait_;
  // In a group: the members' ranks in the communicator from which it was made.
  std::vector<rank_t> members_;
  ring_table<Memory> rings_;
  all_wait_points wait_points_;
  typename endpoint::shared all_;
  std::vector<std::unique_ptr<endpoint>> endpoints_;
};

using communicator = basic_communicator<native>;

static_assert(endpoint_like<endpoint>);

}  // namespace tutti
