// SPDX-License-Identifier: Apache-2.0
// The inboxes of one participant's vertices, for programs that gather. Contents that arrive are
// kept until all participants are idle, one content per list. If every list then has a content,
// each vertex reads the contents of the lists that lead to it: a sum grows in a register, and
// nothing is written at random. If some list has none, or if edges carry values, the lists that
// have a content are processed one by one.
//
// In the same pass each vertex makes its step and sends. What is sent meanwhile goes to a second
// array of contents, because later vertices still read the first one.
//
// If messages are combined, the contents of this participant's own lists also lead to slots
// (combine.hpp); fold() brings them there.
//
// Cost       Two contents and a byte per list, and 4 bytes per edge (shard::in_lists), if edges
//            carry nothing; otherwise a content and a byte per list.
// Source     The two directions are those of Beamer, Asanovic and Patterson, "Direction-optimizing
//            breadth-first search" (2012).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
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
        earlier_(gathers_by_vertex<Program> ? mine.lists() : 0),
        is_filled_(mine.lists(), 0) {}

  typename Program::inbox& of(vertex_t local) noexcept { return boxes_[local]; }

  // Keeps the content of a list of this participant's own vertices.
  void keep(std::uint32_t list, const message& content) {
    if (list != open_.end || list == open_.limit) [[unlikely]]
      return open(list, content);
    contents_[list] = content;
    open_.end = list + 1;
  }
  // Keeps the contents of `count` lists from `first` on, as they lie in a bundle.
  void keep(std::uint32_t first, std::uint32_t count, const std::byte* contents) {
    if (std::memchr(is_filled_.data() + first, 1, count) != nullptr) [[unlikely]] {
      if (has_turns_) return keep_one_by_one(first, count, contents);
      gather();
    }
    note(first, count);
    std::memset(is_filled_.data() + first, 1, count);
    std::memcpy(contents_.data() + first, contents, count * sizeof(message));
  }

  // Combines what this participant's own lists hold for slots and have not yet given them.
  void fold() {
    if constexpr (combining_program<Program>) {
      close();
      if (unfolded_ == 0) return;
      const std::size_t own = contents_.size() - graph_.first_own;
      gathers_by_vertex<Program>&& unfolded_ == own ? fold_all() : fold_some();
      unfolded_runs_.clear();
      unfolded_ = 0;
    }
  }

  // The edges of all lists that keep() got from this participant's own vertices.
  std::uint64_t own_edges() const noexcept { return own_edges_; }

  // Gathers everything that is kept.
  void gather() {
    close();
    if (filled_ == 0) return;
    fold();
    if (is_full()) {
      reader from(*this, contents_);
      for_each_block([&](vertex_t begin, vertex_t end) { from.gather(begin, end); });
    } else {
      gather_some();
    }
    forget();
  }

  // The boxes and counts of a block stay in the first-level cache between gathering and the turns.
  static constexpr vertex_t vertices_of_a_block = 256;

  // Calls visit(begin, end) for each block of vertices.
  template <class Visit>
  void for_each_block(Visit&& visit) {
    const auto count = static_cast<vertex_t>(boxes_.size());
    for (vertex_t begin = 0; begin < count;) {
      const vertex_t end = begin + std::min(count - begin, vertices_of_a_block);
      visit(begin, end);
      begin = end;
    }
  }

  // Gathers what is kept for one block of vertices after another.
  class reader {
   public:
    // For the vertices from `begin` to `end`. The blocks come one after another, none is left out.
    void gather(vertex_t begin, vertex_t end) noexcept {
      if (list_ == nullptr) return;
      const std::uint32_t* list = list_;
      for (vertex_t v = begin; v != end; ++v) {
        typename Program::inbox box = boxes_[v];
        const std::uint32_t* const last = list + counts_[v];
        for (; last - list >= 4; list += 4)
          for (int k = 0; k < 4; ++k) program_.gather(box, contents_[list[k]], edge{});
        for (; list != last; ++list) program_.gather(box, contents_[*list], edge{});
        boxes_[v] = box;
      }
      list_ = list;
    }

   private:
    friend class inboxes;
    explicit reader(inboxes& all) noexcept : program_(all.program_) {}
    reader(inboxes& all, const std::vector<message>& from) noexcept
        : program_(all.program_),
          boxes_(all.boxes_.data()),
          contents_(from.data()),
          list_(all.graph_.in_lists.data()),
          counts_(all.in_list_counts()) {}
    const Program& program_;
    typename Program::inbox* boxes_ = nullptr;
    const message* contents_ = nullptr;
    // Null: everything has been gathered.
    const std::uint32_t* list_ = nullptr;
    const std::uint32_t* counts_ = nullptr;
  };
  // Now each vertex gathers what is kept for it, and has its turn. Contents that are sent or come
  // until end_turns() are kept for the next time: no inbox gets them before.
  reader begin_turns() {
    close();
    fold();
    has_turns_ = true;
    if (!is_full()) {
      gather_some();
      forget();
      return reader(*this);
    }
    contents_.swap(earlier_);
    forget();
    return reader(*this, earlier_);
  }
  void end_turns() {
    close();
    has_turns_ = false;
    for (const auto& [list, content] : std::exchange(postponed_, {})) keep_one(list, content);
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

  // Once one content of a list is postponed, those that follow are, too, and stay in their order.
  void keep_one_by_one(std::uint32_t first, std::uint32_t count, const std::byte* contents) {
    for (std::uint32_t i = 0; i < count; ++i) {
      message content;
      std::memcpy(&content, contents + i * sizeof content, sizeof content);
      keep_one(first + i, content);
    }
  }
  void keep_one(std::uint32_t list, const message& content) {
    if (is_filled_[list] != 0) {
      // The sending vertex has sent twice.
      if (has_turns_) return postponed_.push_back({list, content});
      gather();
    }
    note(list, 1);
    is_filled_[list] = 1;
    contents_[list] = content;
  }

  // Lists of own vertices that send one after another follow each other: what is to be noted of
  // them is noted for some dozens together.
  [[gnu::noinline]] void open(std::uint32_t list, const message& content) {
    constexpr std::uint32_t most = 64;
    close();
    if (is_filled_[list] != 0) {
      own_edges_ += edges_of(list, list + 1);
      return keep_one(list, content);
    }
    const std::uint32_t end = std::min(list + most, graph_.lists());
    const void* const filled = std::memchr(is_filled_.data() + list, 1, end - list);
    open_ = {list, list + 1,
             filled == nullptr ? end
                               : static_cast<std::uint32_t>(
                                     static_cast<const std::uint8_t*>(filled) - is_filled_.data())};
    contents_[list] = content;
  }
  void close() {
    if (open_.begin == open_.end) return;
    note(open_.begin, open_.end - open_.begin);
    std::memset(is_filled_.data() + open_.begin, 1, open_.end - open_.begin);
    own_edges_ += edges_of(open_.begin, open_.end);
    open_ = {};
  }
  std::uint64_t edges_of(std::uint32_t begin, std::uint32_t end) const noexcept {
    return graph_.first_target[end] - graph_.first_target[begin];
  }

  // Whether each vertex can read the contents that lead to it.
  bool is_full() const noexcept {
    return gathers_by_vertex<Program> && filled_ == contents_.size();
  }
  void forget() {
    for (const run& r : runs_) std::memset(is_filled_.data() + r.begin, 0, r.end - r.begin);
    runs_.clear();
    filled_ = 0;
  }

  const std::uint32_t* in_list_counts() const noexcept {
    return graph_.in_list_counts.empty() ? graph_.in_degrees.data() : graph_.in_list_counts.data();
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
  // The lists of own vertices that are filled, but not yet noted; those up to `limit` are free.
  struct {
    std::uint32_t begin = 0, end = 0, limit = 0;
  } open_;
  std::uint64_t own_edges_ = 0;
  // The content of each list, and those that vertices read in their turns.
  std::vector<message> contents_, earlier_;
  std::vector<std::uint8_t> is_filled_;
  // The lists that are filled.
  std::vector<run> runs_;
  std::size_t filled_ = 0;
  // While vertices have their turns: the second contents of lists.
  bool has_turns_ = false;
  std::vector<std::pair<std::uint32_t, message>> postponed_;
  // Those of this participant's own vertices that fold() has not yet seen.
  std::vector<run> unfolded_runs_;
  std::size_t unfolded_ = 0;
};

}  // namespace tutti::graph::detail
