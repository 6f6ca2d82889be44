// SPDX-License-Identifier: Apache-2.0
// What a vertex that waits for its neighbours keeps: globally asynchronous, locally synchronous.
//
// A vertex sends one message a step to all its neighbours and goes on when it has one from each edge that leads to it. On
// a symmetric graph a neighbour can then be one step ahead, and no more: it cannot go on without this vertex's message. So
// two buckets are enough, one for this step and one for the next. On a graph with an edge that has no reverse they are
// not: the sender hears nothing from the receiver and may be any number of steps ahead. Hence needs_symmetric.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::graph_apps {

template <class Bucket>
struct in_step {
  std::array<Bucket, 2> arrived{};  // by parity of the step
  std::array<std::uint32_t, 2> count{};
  std::uint64_t step = 0;
  bool has_sent = false;

  Bucket& now() noexcept { return arrived[step & 1]; }
  // What a message says of its step.
  std::uint32_t parity() const noexcept { return static_cast<std::uint32_t>(step & 1); }
  // Where a message of a step of that parity belongs.
  Bucket& bucket(std::uint32_t of) noexcept {
    ++count[of];
    return arrived[of];
  }

  bool complete(std::uint32_t in_degree) const noexcept {
    return has_sent && count[step & 1] == in_degree;
  }
  // To the next step; what arrived for the last one is forgotten.
  void advance() noexcept {
    arrived[step & 1] = Bucket{};
    count[step & 1] = 0;
    ++step;
    has_sent = false;
  }
};

}  // namespace tutti::graph_apps
