// SPDX-License-Identifier: Apache-2.0
// What a vertex program is, and what its handlers see of a vertex.
//
// A program is written from the point of view of one vertex: five handlers, each called when something happens to it.
//
//   struct shortest_paths {
//     struct state { float distance; };
//     using edge = float;                        // what an edge carries; graph::nothing if it carries nothing
//     using message = float;
//     using vertex = tutti::graph::vertex<shortest_paths>;
//     tutti::graph::vertex_t source;
//
//     void init(vertex& v) const;                                   // once, before anything else
//     void send(vertex& v, message& m) const;                       // there is room: write the message
//     void recv(vertex& v, const message& m, const edge& e) const;  // a message came along e
//     bool step(vertex& v) const;                                   // everybody is idle: go on?
//     bool finish(vertex& v, message& m) const;                     // all said no: a last message to the host?
//   };
//
// * A vertex says v.ready_to_send(pin(0)) and some time later its send() is called, once. The message goes where the
//   vertex said *before* send() was called. After send() it is still ready, unless send() says v.ready_to_send(no_pin).
//   recv() may change or cancel a send that has not happened yet.
// * When no vertex wants to send and no message is on its way, step() is called for all vertices; if any of them returns
//   true, or wants to send, it goes on. step() runs at least once.
// * When that happens again and the last step() of every vertex returned false, finish() is called for all vertices, and
//   the run ends. A send asked for by a step() that returned false is still sent and received before.
// * The handlers of one vertex are never called at the same time. Those of different vertices may be; they share nothing
//   but the program, which is constant. In which order messages of different senders arrive is not defined; those from one
//   vertex to another arrive in the order in which they were sent.
//
// The semantics are those of the vertices of paper 004, section IV.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tutti/graph/pin.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

// The edge type of programs that need none; takes no memory.
struct nothing {};

template <class Program>
class vertex;

// A program whose vertices only add up what arrives, until the step, may say so: it declares what a vertex adds up in, an
// `inbox` apart from its state, and gather() in place of recv(). The vertex reads and clears v.inbox() in step().
//
//     using inbox = double;
//     void gather(inbox& sum, const message& m, const edge& e) const { sum += m; }
//
// gather() cannot ask to send, and so the engine calls it when everybody is idle, vertex by vertex: what arrives need not be
// brought to its vertex at random. For synchronous programs; one whose vertices act on arrival needs recv().
template <class P>
concept gathering_program = requires(const P& p, typename P::inbox& box,
                                     const typename P::message& m, const typename P::edge& e) {
  requires std::copyable<typename P::inbox>;
  requires std::default_initializable<typename P::inbox>;
  p.gather(box, m, e);
};

template <class P>
concept receiving_program = requires(const P& p, vertex<P>& v, const typename P::message& m,
                                     const typename P::edge& e) {
  p.recv(v, m, e);
};

template <class P>
concept vertex_program = std::is_trivially_copyable_v<typename P::message> &&
    std::is_trivially_copyable_v<typename P::edge> &&
    std::default_initializable<typename P::message> &&
    std::default_initializable<typename P::state> &&
    (gathering_program<P> != receiving_program<P>)&&requires(const P& p, vertex<P>& v,
                                                             typename P::message& m) {
  p.init(v);
  p.send(v, m);
  { p.step(v) } -> std::same_as<bool>;
  { p.finish(v, m) } -> std::same_as<bool>;
};

// A program whose vertices wait for their neighbours (GALS) declares `static constexpr bool needs_symmetric = true;`. On a
// graph with an edge that has no reverse a vertex could run ahead of those that it hears nothing from; the engine refuses
// such a graph instead. symmetrized(graph, 0.0f) adds what is missing.
template <class P>
constexpr bool needs_symmetric_graph() noexcept {
  if constexpr (requires { P::needs_symmetric; })
    return P::needs_symmetric;
  else
    return false;
}

}  // namespace tutti::graph
