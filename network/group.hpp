// SPDX-License-Identifier: Apache-2.0
// Communicators made at run time: all ranks of a parent agree on identifiers that are free at each
// of them, on an incarnation that none of them has used, and on who is in which group. If one rank
// has no room, all fall back together.
#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <vector>

#include "network/endpoint.hpp"

namespace tutti::network {

// The identifiers of one process. 0 is that of the first communicator, which is configured.
class identifiers {
 public:
  static constexpr std::size_t most = 64 * TUTTI_NET_VALUES;

  // `room` is the number of communicators that the node can hold besides the first.
  explicit identifiers(std::size_t room = TUTTI_NET_SLOTS - 1) : room_(room) { used_.set(0); }

  std::size_t in_use() const { return used_.count() - 1; }

 private:
  friend class group;
  std::bitset<most> used_;
  std::size_t room_;
  // No message of this incarnation or an earlier one counts in a new communicator.
  std::uint32_t incarnation_ = 1;
};

class group {
 public:
  // Where the members are and how messages are told apart, for the endpoint's options.
  struct agreement {
    std::uint16_t communicator = 0;
    std::uint32_t incarnation = 0;
    rank_t rank = 0;
    // Their ranks in the parent.
    std::vector<rank_t> members;
  };
  using factory = std::function<std::unique_ptr<endpoint>(const agreement&)>;

  // All ranks of the parent call it, at most 63, each with a colour below 8; those with the same
  // colour become a group, in the order of their ranks. `make` starts the endpoint and may throw.
  // Returns null at every rank if it does so at one, or if identifiers have run out at one;
  // `why` then says so.
  static std::unique_ptr<group> split(endpoint& parent, identifiers& ids, unsigned colour,
                                      const factory& make, std::string* why = nullptr);
  // All ranks of the parent, which must live longer, do it together: a barrier of the parent tells
  // that nobody needs a message of this group any more, and its identifier becomes free.
  ~group();
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  endpoint& operator*() const { return *endpoint_; }
  endpoint* operator->() const { return endpoint_.get(); }
  const agreement& agreed() const { return agreed_; }

 private:
  group(endpoint& parent, identifiers& ids, agreement agreed, std::unique_ptr<endpoint> e)
      : parent_(parent), ids_(ids), agreed_(std::move(agreed)), endpoint_(std::move(e)) {}

  endpoint& parent_;
  identifiers& ids_;
  agreement agreed_;
  std::unique_ptr<endpoint> endpoint_;
};

}  // namespace tutti::network
