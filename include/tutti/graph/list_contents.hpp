// SPDX-License-Identifier: Apache-2.0
// The contents of the lists of participants that share memory, for programs that gather. In their
// turns the participants write what they send where its receiver will read it: nothing is copied,
// and no message travels.
//
// Nothing here is atomic. Turns are counted; between two of them all participants are in idle(),
// and what each does before it happens before what any does after it (endpoint_concept.hpp). Each
// list has two contents, and so has the note of what is written: turn k writes those of k modulo 2,
// while contents of turn k - 1 are read. A list has one sender.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/platform/config.hpp"

namespace tutti::graph::detail {

// The lists from `begin` up to `end`.
struct list_range {
  std::uint32_t begin, end;
};
// Adds lists. If they follow the last ones, they become one range with them.
inline void extend(std::vector<list_range>& ranges, list_range more) {
  if (ranges.empty() || ranges.back().end != more.begin)
    ranges.push_back(more);
  else
    ranges.back().end = more.end;
}

template <class Message>
class list_contents {
 public:
  // Participant first + i has lists[i] lists.
  list_contents(rank_t first, std::span<const std::uint32_t> lists)
      : first_(first), participants_(lists.size()) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      for (auto& each : participants_[i].contents)
        // Not initialised: who writes first touches the memory first.
        each = std::make_unique_for_overwrite<Message[]>(lists[i]);
      participants_[i].written.resize(lists.size());
    }
  }

  rank_t first() const noexcept { return first_; }
  rank_t participants() const noexcept { return static_cast<rank_t>(participants_.size()); }

  // The contents of all lists of a participant; the senders' vertices write them in that turn.
  Message* of(rank_t participant, std::uint64_t turn) noexcept {
    return participants_[participant - first_].contents[turn % 2].get();
  }
  // The lists of `to` whose contents `from` has written in that turn.
  std::vector<list_range>& written(rank_t from, rank_t to, std::uint64_t turn) noexcept {
    return participants_[from - first_].written[to - first_][turn % 2];
  }

 private:
  struct part {
    std::array<std::unique_ptr<Message[]>, 2> contents;
    // By receiver.
    std::vector<std::array<std::vector<list_range>, 2>> written;
  };

  rank_t first_;
  std::vector<part> participants_;
};

}  // namespace tutti::graph::detail
