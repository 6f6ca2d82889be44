// SPDX-License-Identifier: Apache-2.0
// Shortest paths by delta-stepping. Each range of distances has a bucket. All threads relax the
// edges of the vertices in the lowest bucket, each thread into buckets of its own. A thread
// continues alone while the vertices that it put back into the lowest bucket are few.
// Source: Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (2003). The
// fusion of small buckets is that of Zhang et al., "Optimizing ordered graph algorithms with
// GraphIt" (2020).
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "graph_apps/ceiling/ceiling.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/reduce/operations.hpp"

namespace tutti::graph_apps::ceiling {
namespace {

// Nonnegative floats have the same order as the integers with the same bits.
using bits_t = std::uint32_t;
constexpr bits_t bits_of(float x) noexcept { return std::bit_cast<bits_t>(x); }
constexpr float float_of(bits_t b) noexcept { return std::bit_cast<float>(b); }

constexpr std::size_t no_bucket = std::numeric_limits<std::size_t>::max();
constexpr std::size_t small_bucket = 1000;

class search {
 public:
  search(const graph::csr& graph, float delta)
      : graph_(graph), delta_(delta), distances_(graph.vertices) {
    // relaxed: before any other thread knows of it.
    for (auto& d : distances_) d.store(bits_of(std::numeric_limits<float>::infinity()), relaxed);
  }

  void begin(graph::vertex_t source) {
    // relaxed: as above.
    distances_[source].store(bits_of(0.0f), relaxed);
    front_.assign(1, source);
  }

  void run(member& me) {
    std::vector<std::vector<graph::vertex_t>> mine;
    for (std::size_t bucket = 0; bucket != no_bucket;) {
      const auto [first, last] = me.block(front_.size());
      for (std::size_t i = first; i < last; ++i) relax_edges(front_[i], bucket, mine);
      while (bucket < mine.size() && !mine[bucket].empty() && mine[bucket].size() < small_bucket) {
        const auto again = std::move(mine[bucket]);
        mine[bucket].clear();
        for (const graph::vertex_t v : again) relax_edges(v, bucket, mine);
      }
      bucket = me.reduce(minimum{}, lowest(mine, bucket));
      if (bucket != no_bucket) share(me, bucket, mine);
    }
  }

  std::vector<float> result() const {
    std::vector<float> made;
    made.reserve(distances_.size());
    // relaxed: the region of the threads is over.
    for (std::size_t v = 0; v < distances_.size(); ++v)
      made.push_back(float_of(distances_[v].load(relaxed)));
    return made;
  }

 private:
  using buckets = std::vector<std::vector<graph::vertex_t>>;

  void relax_edges(graph::vertex_t v, std::size_t bucket, buckets& mine) {
    // relaxed: a distance stands for itself; a thread that reads an old one learns of the new one
    // by its bucket.
    const float near = float_of(distances_[v].load(relaxed));
    // The vertex was settled in an earlier bucket.
    if (near < delta_ * static_cast<float>(bucket)) return;
    const auto targets = graph_.out(v);
    const auto weights = graph_.weights_of(v);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const float found = near + (weights.empty() ? 1.0f : weights[i]);
      if (!lower(targets[i], found)) continue;
      const auto to = static_cast<std::size_t>(found / delta_);
      if (to >= mine.size()) mine.resize(to + 1);
      mine[to].push_back(targets[i]);
    }
  }

  bool lower(graph::vertex_t v, float found) {
    // relaxed: the reason is in relax_edges().
    bits_t old = distances_[v].load(relaxed);
    while (bits_of(found) < old)
      // relaxed, both: the reason is in relax_edges().
      if (distances_[v].compare_exchange_weak(old, bits_of(found), relaxed, relaxed)) return true;
    return false;
  }

  static std::size_t lowest(const buckets& mine, std::size_t from) {
    for (std::size_t b = from; b < mine.size(); ++b)
      if (!mine[b].empty()) return b;
    return no_bucket;
  }

  // Makes the buckets of all threads the front.
  void share(member& me, std::size_t bucket, buckets& mine) {
    const std::size_t own = bucket < mine.size() ? mine[bucket].size() : 0;
    const std::size_t before = me.exclusive_scan(plus{}, own, std::size_t{0});
    const std::size_t all = me.reduce(plus{}, own);
    if (me.rank() == 0) front_.resize(all);
    me.barrier();
    for (std::size_t i = 0; i < own; ++i) front_[before + i] = mine[bucket][i];
    if (own != 0) mine[bucket].clear();
    me.barrier();
  }

  const graph::csr& graph_;
  const float delta_;
  array<std::atomic<bits_t>> distances_;
  std::vector<graph::vertex_t> front_;
};

}  // namespace

std::vector<float> stepping_paths(const graph::csr& graph, graph::vertex_t source, float delta,
                                  team& workers) {
  search s(graph, delta);
  s.begin(source);
  workers.run([&](member& me) { s.run(me); });
  return s.result();
}

}  // namespace tutti::graph_apps::ceiling
