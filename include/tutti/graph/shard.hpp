// SPDX-License-Identifier: Apache-2.0
// The part of the graphs that one participant holds: its vertices, the participants to which their
// messages go, and the targets of the messages that arrive.
//
// A message travels once to each participant that has targets of it, not once along each edge. It
// carries the number of a list, and the receiver has the targets of that list. So a message of 8
// bytes can stand for any number of edges, and the lists, which are numbered in the order of their
// senders, are read one after another.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

// A target of a vertex's messages.
struct route {
  // A participant.
  rank_t to;
  // One of that participant's lists.
  std::uint32_t list;
};

// One participant's part of the graphs.
template <class Edge>
struct shard {
  static constexpr bool has_values = !std::is_empty_v<Edge>;

  rank_t rank = 0;
  std::uint32_t pins = 1;
  // The vertices of this participant, ascending. A vertex's index here is its local number.
  std::vector<vertex_t> vertices;

  // The routes of these vertices. A set is one vertex's out-edges on one pin: set = local number *
  // pins + pin.
  // sets + 1 entries. The route of a set to this participant itself, if any, comes last.
  std::vector<edge_t> first_route;
  std::vector<route> routes;
  // The out-degree of each set.
  std::vector<std::uint32_t> out_degrees;
  // The in-degree of each vertex, all pins together.
  std::vector<std::uint32_t> in_degrees;

  // The lists that lead here.
  // lists + 1 entries.
  std::vector<edge_t> first_target;
  // Local numbers.
  std::vector<vertex_t> targets;
  // The value of each target. Empty if the edge type is empty.
  std::vector<Edge> values;
  // The lists that lead to each vertex: for one vertex after another, in_degrees entries each.
  // Empty if not asked for.
  std::vector<std::uint32_t> in_lists;

  std::uint32_t lists() const noexcept {
    return static_cast<std::uint32_t>(first_target.size() - 1);
  }

  std::span<const route> routes_of(vertex_t local, std::uint32_t pin) const noexcept {
    const std::size_t set = std::size_t{local} * pins + pin;
    return {routes.data() + first_route[set],
            static_cast<std::size_t>(first_route[set + 1] - first_route[set])};
  }
  std::uint32_t out_degree(vertex_t local, std::uint32_t pin) const noexcept {
    return pin < pins ? out_degrees[std::size_t{local} * pins + pin] : 0;
  }
};

}  // namespace tutti::graph
