// SPDX-License-Identifier: Apache-2.0
// Where readers and generators put the edges of a graph one after another, in the order in which
// the graph's rows list them. The edges go on in portions, so that nobody has to hold all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "tutti/graph/csr.hpp"

namespace tutti::graph {

struct streamed_edge {
  vertex_t from;
  vertex_t to;
  // 0 if the graph has no weights.
  float weight;
};

// What is known of a graph after its last edge.
struct listed_graph {
  vertex_t vertices = 0;
  // Whether the format guarantees that the graph is symmetric.
  bool symmetric = false;
};

class edge_sink {
 public:
  using taker = std::function<void(std::span<const streamed_edge>)>;
  explicit edge_sink(taker take) : take_(std::move(take)) {}

  // Whether the edges that follow have weights, and at most how many they are. The reader of a file
  // calls it before the first edge.
  void announce(bool weighted, std::uint64_t most) {
    weighted_ = weighted;
    if (expect_) expect_(weighted, most);
  }
  // Called by announce().
  void on_announcement(std::function<void(bool weighted, std::uint64_t most)> expect) {
    expect_ = std::move(expect);
  }
  bool weighted() const noexcept { return weighted_; }
  std::uint64_t edges() const noexcept { return passed_on_ + count_; }

  void add(vertex_t from, vertex_t to, float weight = 0) {
    if (count_ == portion_.size()) flush();
    portion_[count_++] = {from, to, weight};
  }
  // Whether the next add() passes a portion on.
  bool is_full() const noexcept { return count_ == portion_.size(); }
  // Call it after the last edge.
  void flush() {
    if (count_ != 0) take_(std::span(portion_.data(), count_));
    passed_on_ += count_;
    count_ = 0;
  }

 private:
  taker take_;
  std::function<void(bool, std::uint64_t)> expect_;
  bool weighted_ = false;
  std::uint64_t passed_on_ = 0;
  std::size_t count_ = 0;
  std::array<streamed_edge, 1024> portion_;
};

}  // namespace tutti::graph
