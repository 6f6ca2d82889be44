// SPDX-License-Identifier: Apache-2.0
// The graphs of graphs.cpp. The machine and the host make the same one, each in its own containers:
// a ring with chords to vertices nearby. Each edge leads both ways, with the same weight.
#pragma once

#include <cstdint>

namespace tutti::rtl {

struct small_graph {
  std::uint32_t vertices = 64;
  // Chords that begin at each vertex, each in a part of the window of its own: no edge occurs
  // twice. The window is less than half of the ring.
  std::uint32_t chords = 3;
  std::uint32_t window = 30;
  std::uint32_t seed = 1;

  // Calls f(from, to, weight) for each edge, in both directions.
  template <class F>
  void for_each_edge(F f) const {
    std::uint32_t x = seed * 2654435761u | 1;
    const auto next = [&x] {
      x ^= x << 13;
      x ^= x >> 17;
      return x ^= x << 5;
    };
    const auto both = [&](std::uint32_t from, std::uint32_t offset) {
      const std::uint32_t to = (from + offset) % vertices;
      // Few bits, so that paths of equal length occur.
      const float weight = static_cast<float>(1 + next() % 16) / 4;
      f(from, to, weight);
      f(to, from, weight);
    };
    const std::uint32_t part = chords == 0 ? 1 : (window - 1) / chords;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      both(v, 1);
      for (std::uint32_t i = 0; i < chords; ++i) both(v, 2 + i * part + next() % part);
    }
  }
};

// Which vertex program graphs.cpp runs, and how the end of a time step is found.
enum class graph_program : std::uint32_t { paths, paths_sync, pagerank, pagerank_gals };
enum class detection : std::uint32_t { hardware, tree };
inline constexpr std::uint32_t pagerank_iterations = 6;

}  // namespace tutti::rtl
