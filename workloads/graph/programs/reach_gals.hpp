// SPDX-License-Identifier: Apache-2.0
// reach.hpp without a barrier between the steps. Every vertex sends in every step, whether it has news or not, as its
// neighbours wait for it: many more messages. Nobody knows how many steps there are to be; so they come in blocks, and
// after each all are idle. A vertex that had news in the last step of a block begins the next one, the others do so when
// they hear of it; if nobody had any, that was the end: up to a block of steps more than needed. Its edges are those of a symmetric graph; edges that were added to make it so carry 0, the others 1.
#pragma once

#include "graph/programs/neighbours.hpp"
#include "graph/programs/reach.hpp"

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
  std::uint32_t block = 16;  // steps

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
    if (!v->in.has_sent) v.ready_to_send(graph::pin(0));  // a block has begun
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
