// SPDX-License-Identifier: Apache-2.0
// The inboxes of one participant's vertices, for programs that gather. Contents that arrive are
// kept until all participants are idle, one content per list. If every list then has a content,
// each vertex reads the contents of the lists that lead to it: a sum grows in a register, and
// nothing is written at random. If some list has none, or if edges carry values, the lists that
// have a content are processed one by one.
//
// If messages are combined, the contents of this participant's own lists also lead to slots
// (combine.hpp); fold() brings them there.
//
// Cost       A content and a byte per list; 4 bytes per edge (shard::in_lists) if edges carry
//            nothing.
// Source     The two directions are those of Beamer, Asanovic and Patterson, "Direction-optimizing
//            breadth-first search" (2012).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tutti/graph/program.hpp"
#include "tutti/graph/shard.hpp"
#include "tutti/graph/slot_table.hpp"

namespace tutti::graph::detail {

// Whether each vertex can read the contents that lead to it. If so, its shard needs in_lists.
template <class Program>
inline constexpr bool gathers_by_vertex =
    gathering_program<Program> && !shard<typename Program::edge>::has_values;

template <class Program>
class inboxes {
  using edge = typename Program::edge;
  using message = typename Program::message;

 public:
  inboxes(const Program& program, const shard<edge>& mine, slots_of<Program>& slots)
      : program_(program),
        graph_(mine),
        slots_(slots),
        boxes_(mine.vertices.size()),
        contents_(mine.lists()),
        is_filled_(mine.lists(), 0) {}

  typename Program::inbox& of(vertex_t local) noexcept { return boxes_[local]; }

  void keep(std::uint32_t list, const message& content) {
    // The sending vertex has sent twice.
    if (is_filled_[list] != 0) gather();
    note(list, 1);
    is_filled_[list] = 1;
    contents_[list] = content;
  }
  // Keeps the contents of `count` lists from `first` on, as they lie in a bundle.
  void keep(std::uint32_t first, std::uint32_t count, const std::byte* contents) {
    if (std::memchr(is_filled_.data() + first, 1, count) != nullptr) gather();
    note(first, count);
    std::memset(is_filled_.data() + first, 1, count);
    std::memcpy(contents_.data() + first, contents, count * sizeof(message));
  }

  // Combines what this participant's own lists hold for slots and have not yet given them.
  void fold() {
    if constexpr (combining_program<Program>) {
      if (unfolded_ == 0) return;
      const std::size_t own = contents_.size() - graph_.first_own;
      gathers_by_vertex<Program>&& unfolded_ == own ? fold_all() : fold_some();
      unfolded_runs_.clear();
      unfolded_ = 0;
    }
  }

  // Gathers everything that is kept.
  void gather() {
    if (filled_ == 0) return;
    fold();
    gathers_by_vertex<Program>&& filled_ == contents_.size() ? gather_all() : gather_some();
    for (const run& r : runs_) std::memset(is_filled_.data() + r.begin, 0, r.end - r.begin);
    runs_.clear();
    filled_ = 0;
  }

 private:
  struct run {
    std::uint32_t begin, end;
  };

  void note(std::uint32_t first, std::uint32_t count) {
    extend(runs_, first, count);
    filled_ += count;
    if constexpr (combining_program<Program>) {
      if (first < graph_.first_own) return;
      extend(unfolded_runs_, first, count);
      unfolded_ += count;
    }
  }
  static void extend(std::vector<run>& runs, std::uint32_t first, std::uint32_t count) {
    if (runs.empty() || runs.back().end != first) runs.push_back({first, first});
    runs.back().end = first + count;
  }

  const std::uint32_t* in_list_counts() const noexcept {
    return graph_.in_list_counts.empty() ? graph_.in_degrees.data() : graph_.in_list_counts.data();
  }

  void gather_all() {
    const std::uint32_t* list = graph_.in_lists.data();
    const std::uint32_t* const counts = in_list_counts();
    for (std::size_t v = 0; v < boxes_.size(); ++v) {
      typename Program::inbox box = boxes_[v];
      for (const std::uint32_t* const end = list + counts[v]; list != end; ++list)
        program_.gather(box, contents_[*list], edge{});
      boxes_[v] = box;
    }
  }

  void gather_some() {
    for (const run& r : runs_)
      for (std::uint32_t list = r.begin; list < r.end; ++list) gather_list(list);
  }
  void gather_list(std::uint32_t list) {
    for (edge_t i = graph_.first_target[list]; i < graph_.first_target[list + std::size_t{1}];
         ++i) {
      const vertex_t to = graph_.targets[i];
      // The rest of the list are slots, which fold() has served.
      if (combining_program<Program> && to >= boxes_.size()) return;
      auto& box = boxes_[to];
      if constexpr (shard<edge>::has_values)
        program_.gather(box, contents_[list], graph_.values[i]);
      else
        program_.gather(box, contents_[list], edge{});
    }
  }

  // Each slot reads the contents of the lists that lead to it.
  void fold_all() {
    const std::uint32_t* const end = graph_.in_lists.data() + graph_.in_lists.size();
    std::size_t entries = 0;
    for (std::size_t s = 0; s < graph_.slots.size(); ++s)
      entries += graph_.in_list_counts[boxes_.size() + s];
    const std::uint32_t* list = end - entries;
    for (std::size_t s = 0; s < graph_.slots.size(); ++s) {
      const std::uint32_t count = graph_.in_list_counts[boxes_.size() + s];
      message all = contents_[*list];
      for (std::uint32_t i = 1; i < count; ++i) program_.combine(all, contents_[list[i]]);
      list += count;
      slots_.add(program_, static_cast<std::uint32_t>(s), all, count);
    }
  }
  void fold_some() {
    for (const run& r : unfolded_runs_)
      for (std::uint32_t list = r.begin; list < r.end; ++list) fold_list(list);
  }
  void fold_list(std::uint32_t list) {
    for (edge_t i = graph_.first_target[list + std::size_t{1}]; i > graph_.first_target[list];) {
      const vertex_t to = graph_.targets[--i];
      if (to < boxes_.size()) return;
      slots_.add(program_, static_cast<std::uint32_t>(to - boxes_.size()),
                 at_the_end_of(program_, graph_, i, contents_[list]));
    }
  }

  const Program& program_;
  const shard<edge>& graph_;
  slots_of<Program>& slots_;
  std::vector<typename Program::inbox> boxes_;
  // The content of each list.
  std::vector<message> contents_;
  std::vector<std::uint8_t> is_filled_;
  // The lists that are filled.
  std::vector<run> runs_;
  std::size_t filled_ = 0;
  // Those of this participant's own vertices that fold() has not yet seen.
  std::vector<run> unfolded_runs_;
  std::size_t unfolded_ = 0;
};

}  // namespace tutti::graph::detail
