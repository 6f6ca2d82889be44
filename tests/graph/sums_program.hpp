// SPDX-License-Identifier: Apache-2.0
// A vertex program that shows a message that is lost, doubled, or comes a step late or early: each
// vertex adds what arrives and multiplies its sum. It comes in two forms, with recv() and with an
// inbox.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/graph/pin.hpp"
#include "tutti/graph/program.hpp"

namespace tutti::test {

// In each step the vertices that the step and their number choose send on one of two pins.
template <class Edge>
struct sums {
  using edge = Edge;
  using message = std::uint64_t;
  std::uint64_t steps = 6;
  // One vertex in this many sends.
  std::uint64_t one_in = 1;
  // Whether vertices of even number send a second message.
  bool twice = false;

  static std::uint64_t factor(graph::nothing) { return 1; }
  static std::uint64_t factor(int value) { return static_cast<std::uint64_t>(value) + 1; }

  void choose(auto& v) const {
    if (v.time() < steps && (v.id() + 3 * v.time()) % one_in == 0)
      v.ready_to_send(graph::pin(v.time() % 2));
  }
  void init(auto& v) const {
    v->sum = v.id() + 1;
    choose(v);
  }
  void send(auto& v, message& m) const {
    m = v->sum + v->sent;
    v->sent = twice && v->sent == 0 && v.id() % 2 == 0 ? 1 : 0;
    if (v->sent == 0) v.ready_to_send(graph::no_pin);
  }
  bool finish(auto& v, message& m) const {
    m = v->sum;
    return true;
  }
  bool next(auto& v, std::uint64_t& arrived) const {
    v->sum = 3 * v->sum + std::exchange(arrived, 0);
    if (v.time() + 1 >= steps) return false;
    choose(v);
    return true;
  }
};

template <class Edge>
struct sums_by_recv : sums<Edge> {
  struct state {
    std::uint64_t sum = 0, arrived = 0, sent = 0;
  };
  void recv(auto& v, const std::uint64_t& m, const Edge& e) const {
    v->arrived += m * this->factor(e);
  }
  bool step(auto& v) const { return this->next(v, v->arrived); }
};

template <class Edge>
struct sums_by_gather : sums<Edge> {
  struct state {
    std::uint64_t sum = 0, sent = 0;
  };
  using inbox = std::uint64_t;
  void gather(inbox& arrived, const std::uint64_t& m, const Edge& e) const {
    arrived += m * this->factor(e);
  }
  bool step(auto& v) const { return this->next(v, v.inbox()); }
};

}  // namespace tutti::test
