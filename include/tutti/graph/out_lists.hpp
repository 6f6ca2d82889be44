// SPDX-License-Identifier: Apache-2.0
// The lists to which one participant's vertices lead: block by block and, within a block, receiver
// by receiver. In this order the participant writes what a block sends if all of its vertices that
// have out-edges send. A loop over the routes of one vertex ends at a number that a processor
// cannot guess, and reads eight bytes for each route and each vertex. Here a loop writes what all
// vertices of a block send to one receiver; the lists have consecutive numbers.
//
// Cost       A byte per list, 12 bytes per block and receiver, and 24 per block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/in_lists.hpp"
#include "tutti/graph/route.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

class out_lists {
 public:
  // Lists of one receiver with consecutive numbers, to which vertices of one block lead.
  struct stretch {
    rank_t to;
    // The number of the first list.
    std::uint32_t first;
    std::uint32_t count;

    bool operator==(const stretch&) const = default;
  };
  struct block {
    // By receiver.
    std::span<const stretch> stretches;
    // The vertex in the block that leads to each list, for one stretch after another.
    const std::uint8_t* senders;
    // The vertices that lead to any list.
    std::uint32_t leading;
  };

  out_lists() = default;
  // Vertex v has the routes from first_route[v] up to first_route[v + 1], no two of them to the
  // same receiver. Throws std::invalid_argument unless the lists of each receiver to which a block
  // leads have consecutive numbers in the order of the vertices.
  out_lists(std::span<const edge_t> first_route, std::span<const route> routes, rank_t receivers)
      : senders_(routes.size()) {
    require(!first_route.empty() && first_route.front() == 0 && first_route.back() == routes.size(),
            "the numbers of the vertices' routes do not add up to the routes");
    const std::size_t vertices = first_route.size() - 1;
    std::vector<std::uint32_t> by_receiver(receivers, 0);
    for (std::size_t begin = 0; begin < vertices; begin += in_lists::vertices_of_a_block) {
      const std::size_t most =
          std::min<std::size_t>(in_lists::vertices_of_a_block, vertices - begin);
      add_block(first_route.subspan(begin, most + 1), routes, by_receiver);
    }
    blocks_.push_back({stretches_.size(), routes.size(), 0});
  }

  bool operator==(const out_lists&) const = default;
  // Whether there are no blocks.
  bool empty() const noexcept { return blocks_.size() < 2; }

  block of(std::size_t number) const noexcept {
    const entry &here = blocks_[number], &next = blocks_[number + 1];
    return {{stretches_.data() + here.first_stretch, next.first_stretch - here.first_stretch},
            senders_.data() + here.first_sender,
            here.leading};
  }

  // Adds to the numbers of each receiver's lists, but for those of `own`.
  void renumber(rank_t own, std::span<const std::uint32_t> more) noexcept {
    for (stretch& each : stretches_)
      if (each.to != own) each.first += more[each.to];
  }

 private:
  struct entry {
    std::size_t first_stretch, first_sender;
    std::uint32_t leading;

    bool operator==(const entry&) const = default;
  };

  // `by_receiver` has zeros, before and after. Meanwhile it has 1 + the number of the receiver's
  // stretch in the block, and then where the next sender's place is.
  void add_block(std::span<const edge_t> first_route, std::span<const route> routes,
                 std::vector<std::uint32_t>& by_receiver) {
    const std::size_t first_stretch = stretches_.size(), first_sender = first_route.front();
    for (const route& r : routes.subspan(first_sender, first_route.back() - first_sender)) {
      require(r.to < by_receiver.size(), "a route leads to a participant that does not exist");
      if (by_receiver[r.to] == 0) {
        stretches_.push_back({r.to, r.list, 0});
        by_receiver[r.to] = static_cast<std::uint32_t>(stretches_.size() - first_stretch);
      }
      stretch& found = stretches_[first_stretch + by_receiver[r.to] - 1];
      require(r.list == found.first + found.count++,
              "the lists to which a block of vertices leads are not numbered in their order");
    }
    const std::span made = std::span(stretches_).subspan(first_stretch);
    std::sort(made.begin(), made.end(),
              [](const stretch& a, const stretch& b) { return a.to < b.to; });
    std::uint32_t senders = 0;
    for (const stretch& each : made) {
      by_receiver[each.to] = senders;
      senders += each.count;
    }
    std::uint32_t leading = 0;
    for (std::size_t v = 0; v + 1 < first_route.size(); ++v) {
      for (edge_t r = first_route[v]; r < first_route[v + 1]; ++r)
        senders_[first_sender + by_receiver[routes[r].to]++] = static_cast<std::uint8_t>(v);
      leading += first_route[v] != first_route[v + 1] ? 1 : 0;
    }
    for (const stretch& each : made) by_receiver[each.to] = 0;
    blocks_.push_back({first_stretch, first_sender, leading});
  }

  // One more than there are blocks.
  std::vector<entry> blocks_;
  std::vector<stretch> stretches_;
  std::vector<std::uint8_t> senders_;
};

}  // namespace tutti::graph
