// SPDX-License-Identifier: Apache-2.0
// What the handlers of a vertex program see of a vertex, on this machine. Programs of graph_apps
// include it by this name, in place of include/tutti/graph/vertex.hpp, which keeps its vertices in
// the library's containers; the two classes `vertex` have the same members.
#pragma once

#include <cstdint>

#include "hardware/machine/software/messages.hpp"
#include "tutti/graph/pin.hpp"
#include "tutti/graph/program.hpp"

namespace tutti::graph {

using vertex_t = std::uint32_t;
inline constexpr vertex_t no_vertex = ~vertex_t{0};

// The out-edges of vertex v are those from first[v] to first[v + 1].
struct csr {
  vertex_t vertices = 0;
  std::uint32_t* first = nullptr;
  vertex_t* targets = nullptr;
  float* weights = nullptr;

  std::uint32_t degree(vertex_t v) const noexcept { return first[v + 1] - first[v]; }
};

namespace detail {

struct no_inbox {};
template <class Program>
struct inbox_of {
  using type = no_inbox;
};
template <gathering_program Program>
struct inbox_of<Program> {
  using type = typename Program::inbox;
};

// With an aggregator: what the vertices have given in this step, and the total of what all gave in
// the last one.
struct no_totals {};
struct totals {
  std::uint32_t given = 0, total = 0;
};
template <class Program>
struct totals_of {
  using type = no_totals;
};
template <class Program>
requires requires { Program::total; }
struct totals_of<Program> {
  using type = totals;
};

// The vertices of one core: a contiguous part of the graph's.
template <class Program>
struct local_vertices : totals_of<Program>::type {
  const csr* graph = nullptr;
  vertex_t first = 0, count = 0;
  typename Program::state* states = nullptr;
  typename inbox_of<Program>::type* inboxes = nullptr;
  std::uint32_t* in_degrees = nullptr;
  // The codes of the pins that they asked for, and whether they are in the ring of senders, which
  // has room for all.
  std::uint32_t* wanted = nullptr;
  bool* is_queued = nullptr;
  vertex_t* ring = nullptr;
  std::uint32_t ring_size = 0, begin = 0, waiting = 0;
  // The vertex that asked last sends first, as on the machine of Naylor et al. 2020.
  bool newest_first = false;
  std::uint64_t time = 0;

  void want(vertex_t local, pin where) noexcept {
    wanted[local] = where.code();
    if (where == no_pin || is_queued[local]) return;
    is_queued[local] = true;
    std::uint32_t at = begin + waiting++;
    if (at >= ring_size) at -= ring_size;
    ring[at] = local;
  }
  // The next sender; it may not want to send any more.
  vertex_t take() noexcept {
    --waiting;
    vertex_t local = ring[begin];
    if (newest_first) {
      const std::uint32_t last = begin + waiting;
      local = ring[last < ring_size ? last : last - ring_size];
    } else {
      begin = begin + 1 == ring_size ? 0 : begin + 1;
    }
    is_queued[local] = false;
    return local;
  }
};

}  // namespace detail

template <class Program>
class vertex {
 public:
  using state_type = typename Program::state;

  vertex(detail::local_vertices<Program>& all, vertex_t local) noexcept
      : all_(&all), local_(local) {}

  state_type& state() noexcept { return all_->states[local_]; }
  state_type* operator->() noexcept { return &all_->states[local_]; }
  auto& inbox() noexcept requires gathering_program<Program> { return all_->inboxes[local_]; }

  pin ready_to_send() const noexcept { return pin::from_code(all_->wanted[local_]); }
  void ready_to_send(pin where) noexcept { all_->want(local_, where); }

  vertex_t id() const noexcept { return all_->first + local_; }
  vertex_t vertices() const noexcept { return all_->graph->vertices; }
  std::uint64_t time() const noexcept { return all_->time; }

  std::uint32_t out_degree(pin set = pin(0)) const noexcept {
    return set == pin(0) ? all_->graph->degree(id()) : 0;
  }
  std::uint32_t in_degree() const noexcept { return all_->in_degrees[local_]; }

  // For programs with an aggregator (engine.hpp), which the library's vertices do not have: adds a
  // value, in step(); and the total of what all vertices gave in the last step, 0 in the first one.
  void give(std::uint32_t value) noexcept {
    all_->given = rtl::combined(Program::total, all_->given, value);
  }
  std::uint32_t total() const noexcept { return all_->total; }

 private:
  detail::local_vertices<Program>* all_;
  vertex_t local_;
};

}  // namespace tutti::graph
