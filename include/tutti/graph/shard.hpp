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
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/in_lists.hpp"
#include "tutti/graph/out_lists.hpp"
#include "tutti/graph/route.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

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
  // The lists that lead to each vertex. Empty if not asked for.
  graph::in_lists in_lists;
  // The routes once more, by block and receiver. Empty if in_lists was not asked for, or if there
  // are several pins.
  graph::out_lists out_lists;

  // If messages are combined (combine.hpp), the lists of this participant's own vertices are the
  // last ones, and a target from vertices.size() on is a slot: a message to it is combined with
  // others that go to the same vertex of another participant. In each list the slots come last.
  // Where the combined message of each slot goes.
  std::vector<route> slots;
  // The lists from first_combined up to first_own have one target each, for which others combine.
  std::uint32_t first_combined = no_list, first_own = no_list;
  // The lists that lead to each slot: for one slot after another, slot_list_counts entries each.
  // Empty if in_lists is.
  std::vector<std::uint32_t> slot_lists, slot_list_counts;

  static constexpr std::uint32_t no_list = (std::numeric_limits<std::uint32_t>::max)();

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
