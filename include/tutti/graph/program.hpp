// SPDX-License-Identifier: Apache-2.0
// Vertex programs, and what their handlers see of a vertex.
//
// A program is written from the point of view of one vertex. It has five handlers, each called when
// something happens to the vertex.
//
//   struct shortest_paths {
//     struct state { float distance; };
//     using edge = float;      // what an edge carries; graph::nothing if it carries nothing
//     using message = float;
//     using vertex = tutti::graph::vertex<shortest_paths>;
//     tutti::graph::vertex_t source;
//
//     void init(vertex& v) const;                // called once, before anything else
//     void send(vertex& v, message& m) const;    // there is room: write the message
//     void recv(vertex& v, const message& m, const edge& e) const;  // a message came along e
//     bool step(vertex& v) const;                // all are idle: does v want to go on?
//     bool finish(vertex& v, message& m) const;  // all said no: a last message to the host?
//   };
//
// * After a vertex has called v.ready_to_send(pin(0)), the engine calls its send() once, some time
//   later. The message goes to the pin that the vertex named *before* send() was called. After
//   send() the vertex is still ready, unless send() calls v.ready_to_send(no_pin). recv() may
//   change or cancel a send that has not happened yet.
// * When no vertex wants to send and no message is under way, the engine calls step() of all
//   vertices. The run continues if any of them returns true or wants to send. step() runs at least
//   once.
// * When that happens again and the last step() of every vertex returned false, the engine calls
//   finish() of all vertices, and the run ends. A send requested by a step() that returned false is
//   sent and received before that.
// * The handlers of one vertex never run at the same time. Handlers of different vertices may; they
//   share only the program, which is constant. The order in which messages of different senders
//   arrive is not defined. Messages from one vertex to another arrive in the order in which they
//   were sent.
//
// The semantics are those of Naylor et al. 2020, section IV.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tutti/graph/pin.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

// The edge type of programs whose edges carry nothing; it takes no memory.
struct nothing {};

template <class Program>
class vertex;

// A program whose vertices only add up what arrives until the next step may declare that: it
// defines an `inbox` type, separate from the state, in which a vertex adds up, and gather() in
// place of recv(). The vertex reads and clears v.inbox() in step().
//
//     using inbox = double;
//     void gather(inbox& sum, const message& m, const edge& e) const { sum += m; }
//
// gather() cannot ask to send, so the engine calls it when all participants are idle, vertex by
// vertex, and need not bring each message to its vertex at random. This is for synchronous
// programs; a program whose vertices act on arrival needs recv().
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

// A program may say how two messages to the same vertex become one, in any order:
//
//     void combine(message& kept, const message& more) const { kept = std::min(kept, more); }
//
// If its edges carry values, it also says what a message has become at the end of an edge; then
// recv(v, along(m, e), edge{}) must do what recv(v, m, e) does:
//
//     message along(const message& m, const edge& e) const { return m + e; }
//
// With engine_options::combine a participant combines messages to the same vertex of another one
// before it sends them (combine.hpp). What travels together must mean the same apart: the receiver
// cannot count messages, and learns their order no more.
template <class P>
concept combining_program = vertex_program<P> &&
    requires(const P& p, typename P::message& kept, const typename P::message& more) {
  p.combine(kept, more);
} &&(std::is_empty_v<typename P::edge> ||
     requires(const P& p, const typename P::message& m, const typename P::edge& e) {
       { p.along(m, e) } -> std::same_as<typename P::message>;
     });

// A program whose vertices wait for their neighbours (globally asynchronous, locally synchronous:
// GALS) declares `static constexpr bool needs_symmetric = true;`. If an edge has no reverse, its
// sender hears nothing from its receiver and could run ahead of it. The engine refuses such a
// graph; symmetrized(graph, 0.0f) adds the missing edges.
template <class P>
constexpr bool needs_symmetric_graph() noexcept {
  if constexpr (requires { P::needs_symmetric; })
    return P::needs_symmetric;
  else
    return false;
}

}  // namespace tutti::graph
