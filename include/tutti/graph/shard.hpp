// SPDX-License-Identifier: Apache-2.0
// What one participant has of the graphs: its vertices, where their messages go, and for whom those of others are.
//
// A message goes once to each participant that has targets of it, not once along each edge: it carries the number of a
// list, and the receiver has the targets of that list. So a message of 8 bytes can stand for any number of edges, and the
// lists, numbered in the order of their senders, are read one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

struct route {
  rank_t to;           // a participant
  std::uint32_t list;  // which of its lists
};

template <class Edge>
struct shard {
  static constexpr bool has_values = !std::is_empty_v<Edge>;

  rank_t rank = 0;
  std::uint32_t pins = 1;
  std::vector<vertex_t> vertices;  // mine, ascending; their index here is their local number

  // Of my vertices; `set` = local number * pins + pin.
  std::vector<edge_t> first_route;  // sets + 1; the one to myself, if any, comes last
  std::vector<route> routes;
  std::vector<std::uint32_t> out_degrees;  // of each set
  std::vector<std::uint32_t> in_degrees;   // of each vertex, all pins together

  // Of the lists that lead here.
  std::vector<edge_t> first_target;  // lists + 1
  std::vector<vertex_t> targets;     // local numbers
  std::vector<Edge> values;          // of each target; empty if the type is
  // The lists that lead to each vertex, a vertex after the other, in_degrees each. Empty if not asked for.
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
