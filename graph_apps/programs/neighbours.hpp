// SPDX-License-Identifier: Apache-2.0
// The state of a vertex that waits for its neighbours (globally asynchronous, locally synchronous:
// GALS).
//
// A vertex sends one message per step to all its neighbours, and goes on when it has one from each
// edge that leads to it. On a symmetric graph a neighbour can then be at most one step ahead,
// because it cannot go on without this vertex's message. So two buckets are enough, one for this
// step and one for the next. If an edge has no reverse they are not enough: its sender hears
// nothing from its receiver and may be any number of steps ahead. That is the reason for
// needs_symmetric.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::graph_apps {

template <class Bucket>
struct in_step {
  // One bucket per parity of the step.
  std::array<Bucket, 2> arrived{};
  std::array<std::uint32_t, 2> count{};
  std::uint64_t step = 0;
  bool has_sent = false;

  Bucket& now() noexcept { return arrived[step & 1]; }
  // The parity of the step, which a message carries.
  std::uint32_t parity() const noexcept { return static_cast<std::uint32_t>(step & 1); }
  // The bucket for a message whose step has parity `of`.
  Bucket& bucket(std::uint32_t of) noexcept {
    ++count[of];
    return arrived[of];
  }

  bool complete(std::uint32_t in_degree) const noexcept {
    return has_sent && count[step & 1] == in_degree;
  }
  // Moves to the next step and clears the bucket of the last one.
  void advance() noexcept {
    arrived[step & 1] = Bucket{};
    count[step & 1] = 0;
    ++step;
    has_sent = false;
  }
};

}  // namespace tutti::graph_apps
