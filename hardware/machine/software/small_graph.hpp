// SPDX-License-Identifier: Apache-2.0
// The graphs of graphs.cpp. The machine and the host make the same one, each in its own containers.
// One is a ring with chords to vertices nearby; each edge leads both ways, with the same weight.
// The other is the worst case of asynchronous shortest paths, the library's generator `detours`:
// chords is 0, and component k leads from vertex 2k to vertex 2k + 2 by a long edge and by two of
// weight 0.
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

  // Calls f(from, to, weight) for each edge.
  template <class F>
  void for_each_edge(F f) const {
    if (chords == 0) return for_each_detour(f);
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
    const std::uint32_t part = (window - 1) / chords;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      both(v, 1);
      for (std::uint32_t i = 0; i < chords; ++i) both(v, 2 + i * part + next() % part);
    }
  }

 private:
  template <class F>
  void for_each_detour(F f) const {
    const std::uint32_t components = vertices / 2;
    for (std::uint32_t v = 0; v + 1 < vertices; ++v) {
      f(v, v + 1, 0.0f);
      if (v % 2 == 0) f(v, v + 2, static_cast<float>(1u << (components - 1 - v / 2)));
    }
  }
};

// Which vertex program graphs.cpp runs, and how the end of a time step is found.
enum class graph_program : std::uint32_t {
  paths,
  paths_sync,
  pagerank,
  pagerank_gals,
  heat,
  pagerank_residual
};
enum class detection : std::uint32_t { hardware, tree };
inline constexpr std::uint32_t pagerank_iterations = 6;
// When pagerank_residual ends, in units of 2^-30: a hundredth.
inline constexpr std::uint32_t pagerank_tolerance = 10'737'418;
// Heat: steps, their length, the temperature of a vertex at the start, and a bound of temperature
// times weights, whose sums are exact.
inline constexpr std::uint32_t heat_steps = 6;
inline constexpr double heat_step = 1.0 / 128, heat_bound = 8192;
constexpr double first_temperature(std::uint32_t vertex) noexcept { return vertex * 37 % 101; }

}  // namespace tutti::rtl
