// SPDX-License-Identifier: Apache-2.0
// A vertex as its handlers see it, and the vertices of one participant as the engine stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/inbox.hpp"
#include "tutti/graph/list_contents.hpp"
#include "tutti/graph/pin.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/send_queue.hpp"
#include "tutti/graph/shard.hpp"
#include "tutti/graph/slot_table.hpp"

namespace tutti::graph {
namespace detail {

template <class Program>
using inboxes_of = typename part_if_needed<gathering_program<Program>, inboxes, Program>::type;

// The states are stored separately from what else the engine keeps about a vertex, because recv()
// accesses them at random.
template <class Program>
struct local_vertices {
  local_vertices(const Program& program, const shard<typename Program::edge>& mine,
                 vertex_t vertices, send_order order,
                 list_contents<typename Program::message>* shared = nullptr)
      : graph(mine),
        total(vertices),
        states(mine.vertices.size()),
        slots(mine),
        inboxes(program, mine, slots, shared),
        senders(static_cast<vertex_t>(mine.vertices.size()), order) {}

  const shard<typename Program::edge>& graph;
  const vertex_t total;
  std::vector<typename Program::state> states;
  slots_of<Program> slots;
  inboxes_of<Program> inboxes;
  send_queue senders;
  std::uint64_t time = 0;
};

}  // namespace detail

// A handle to a vertex. It is valid during the call of a handler.
template <class Program>
class vertex {
 public:
  using state_type = typename Program::state;

  vertex(detail::local_vertices<Program>& all, vertex_t local) noexcept
      : all_(&all), local_(local) {}
  // What the vertex asks for stays in `wish`: it sends before any other vertex has its turn.
  vertex(detail::local_vertices<Program>& all, vertex_t local,
         pin& wish) noexcept requires gathering_program<Program>
      : all_(&all), local_(local), wish_(&wish) {}

  state_type& state() noexcept { return all_->states[local_]; }
  state_type* operator->() noexcept { return &all_->states[local_]; }

  // What has arrived for the vertex, if the program gathers.
  auto& inbox() noexcept requires gathering_program<Program> { return all_->inboxes.of(local_); }

  // The pin that was last asked for. After send() it stays the same, unless send() asks for another
  // one. If a vertex wants to send on a pin that the engine was not given, the run ends with
  // std::invalid_argument.
  pin ready_to_send() const noexcept {
    if constexpr (gathering_program<Program>)
      if (wish_ != nullptr) return *wish_;
    return all_->senders.wanted(local_);
  }
  // Asks to send on `where`, or cancels with no_pin. It may be called any number of times; one
  // send() follows.
  void ready_to_send(pin where) noexcept {
    if constexpr (gathering_program<Program>)
      if (wish_ != nullptr) return static_cast<void>(*wish_ = where);
    all_->senders.want(local_, where);
  }

  // The number of the vertex in the graph, 0 .. vertices()-1, whichever participant holds it.
  vertex_t id() const noexcept { return all_->graph.vertices[local_]; }
  vertex_t vertices() const noexcept { return all_->total; }
  // The number of steps that all vertices have made: 0 in init() and in the first step().
  std::uint64_t time() const noexcept { return all_->time; }

  // The number of edges in that set of out-edges; 0 if there is no such set.
  std::uint32_t out_degree(pin set = pin(0)) const noexcept {
    return all_->graph.out_degree(local_, set.number());
  }
  // The number of edges in all sets that lead here.
  std::uint32_t in_degree() const noexcept { return all_->graph.in_degrees[local_]; }

 private:
  detail::local_vertices<Program>* all_;
  vertex_t local_;
  // Null: the wish is in the queue of senders. Only programs that gather have others.
  pin* wish_ = nullptr;
};

}  // namespace tutti::graph
