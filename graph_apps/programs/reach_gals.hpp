// SPDX-License-Identifier: Apache-2.0
// reach.hpp without a barrier between the steps. Every vertex sends in every step, with or without
// news, because its neighbours wait for it; that takes many more messages. The number of steps is
// not known in advance, so steps come in blocks, and after each block all vertices are idle. A
// vertex that had news in the last step of a block begins the next block, and the others follow
// when they hear of it. If no vertex had news, the run ends. It makes up to a block of steps more
// than necessary. The edges must be those of a symmetric graph; edges that were added to make it
// symmetric carry 0, the others 1.
#pragma once

#include "graph_apps/programs/neighbours.hpp"
#include "graph_apps/programs/reach.hpp"

namespace tutti::graph_apps {

template <std::size_t Words>
struct reach_gals {
  static constexpr bool needs_symmetric = true;
  struct state {
    in_step<source_set<Words>> in;
    source_set<Words> known, fresh;
    reached result;
    bool has_news = false;
  };
  using edge = float;
  struct message {
    source_set<Words> set;
    std::uint32_t parity = 0;
  };
  using vertex = graph::vertex<reach_gals>;

  std::span<const graph::vertex_t> sources;
  // The number of steps in a block.
  std::uint32_t block = 16;

  void init(vertex& v) const {
    insert_source(v->fresh, v.id(), sources);
    learn(v);
    if (v->has_news) v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m.set = v->fresh;
    m.parity = v->in.parity();
    v->in.has_sent = true;
    v.ready_to_send(graph::no_pin);
    go_on(v);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    auto& bucket = v->in.bucket(m.parity);
    if (e != 0) bucket |= m.set;
    // A block has begun.
    if (!v->in.has_sent) v.ready_to_send(graph::pin(0));
    go_on(v);
  }
  bool step(vertex& v) const {
    if (v->has_news) v.ready_to_send(graph::pin(0));
    return v->has_news;
  }
  bool finish(vertex& v, message& m) const {
    m.set = packed<Words>(v->result);
    return true;
  }

 private:
  void go_on(vertex& v) const {
    if (!v->in.complete(v.in_degree())) return;
    v->fresh = v->in.now();
    v->in.advance();
    learn(v);
    if (v->in.step % block != 0) v.ready_to_send(graph::pin(0));
  }
  static void learn(vertex& v) {
    const std::uint32_t count = v->fresh.keep_new(v->known);
    v->result.add(count, static_cast<std::uint32_t>(v->in.step));
    v->has_news = count != 0;
  }
};

}  // namespace tutti::graph_apps
