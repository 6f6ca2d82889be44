// SPDX-License-Identifier: Apache-2.0
#include "network/group.hpp"

#include <array>

namespace tutti::network {

std::unique_ptr<group> group::split(endpoint& parent, identifiers& ids, unsigned colour,
                                    const factory& make, std::string* why) {
  const rank_t n = parent.size();
  if (colour >= 8) throw std::invalid_argument("a colour must be below 8");
  if (n >= TUTTI_NET_SLOTS) throw std::invalid_argument("a parent has at most 63 ranks");
  // Identifiers that are free at all ranks; none, if one rank has no room.
  std::array<std::uint64_t, TUTTI_NET_VALUES> available{};
  if (ids.in_use() < ids.room_)
    for (std::size_t i = 0; i < identifiers::most; ++i)
      if (!ids.used_[i]) available[i / 64] |= std::uint64_t{1} << i % 64;
  parent.allreduce(TUTTI_NET_AND, available);
  std::array<std::uint64_t, 1> newest{ids.incarnation_};
  parent.allreduce(TUTTI_NET_MAX, newest);
  ids.incarnation_ = static_cast<std::uint32_t>(newest[0]) + 1;
  // A byte a rank: its colour, plus 1.
  std::array<std::uint64_t, 8> colours{};
  colours[parent.rank() / 8] = std::uint64_t{colour + 1} << parent.rank() % 8 * 8;
  parent.allreduce(TUTTI_NET_OR, colours);
  agreement a;
  a.incarnation = ids.incarnation_;
  for (rank_t r = 0; r < n; ++r)
    if ((colours[r / 8] >> r % 8 * 8 & 0xff) == colour + 1) {
      if (r == parent.rank()) a.rank = static_cast<rank_t>(a.members.size());
      a.members.push_back(r);
    }
  // Groups of different colours have different identifiers: a switch sees all of them.
  std::size_t skip = colour, id = 0;
  for (std::size_t i = 0; i < identifiers::most && id == 0; ++i)
    if ((available[i / 64] >> i % 64 & 1) != 0 && skip-- == 0) id = i;
  std::unique_ptr<endpoint> e;
  std::string trouble = "identifiers have run out at a rank";
  if (id != 0) {
    a.communicator = static_cast<std::uint16_t>(id);
    try {
      e = make(a);
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  }
  // When all have their tables, or one has none.
  std::array<std::uint64_t, 1> all_have{e ? ~std::uint64_t{0} : 0};
  parent.allreduce(TUTTI_NET_AND, all_have);
  if (all_have[0] == 0) {
    if (why != nullptr) *why = e ? "another rank could not start the communicator" : trouble;
    return nullptr;
  }
  ids.used_.set(id);
  return std::unique_ptr<group>(new group(parent, ids, std::move(a), std::move(e)));
}

group::~group() {
  try {
    parent_.barrier(clock::now() + std::chrono::seconds(10));
  } catch (const std::exception&) {
    // A rank is gone; the identifier stays in use here, so that none of its messages can count.
    return;
  }
  endpoint_.reset();
  ids_.used_.reset(agreed_.communicator);
}

}  // namespace tutti::network
