// SPDX-License-Identifier: Apache-2.0
// The inboxes of one participant's vertices, for programs that gather. Contents that arrive are
// kept until all participants are idle, one content per list. If every list then has a content,
// each vertex reads the contents of the lists that lead to it, in the order of in_lists.hpp: a sum
// grows in a register, and nothing is written at random. If some list has none, or if edges carry
// values, the lists that have a content are processed one by one.
//
// In the same pass each vertex makes its step and sends. What is sent meanwhile goes to a second
// array of contents, because later vertices still read the first one; if the receiver shares the
// memory, it goes to the receiver's (list_contents.hpp).
//
// If messages are combined, the contents of this participant's own lists also lead to slots
// (combine.hpp); fold() brings them there.
//
// Cost       Two contents and a byte per list and, if edges carry nothing, 4 bytes per edge and a
//            byte per group (in_lists.hpp).
// Source     The two directions are those of Beamer, Asanovic and Patterson, "Direction-optimizing
//            breadth-first search" (2012).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/graph/in_lists.hpp"
#include "tutti/graph/list_contents.hpp"
#include "tutti/graph/out_lists.hpp"
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
  // `shared` has the contents of the participants that share memory, this one among them. Null: of
  // this participant alone, and nobody else writes.
  inboxes(const Program& program, const shard<edge>& mine, slots_of<Program>& slots,
          list_contents<message>* shared)
      : program_(program),
        graph_(mine),
        slots_(slots),
        boxes_(mine.vertices.size()),
        is_filled_(mine.lists(), 0) {
    if (shared == nullptr) {
      const std::uint32_t lists = mine.lists();
      alone_ = std::make_unique<list_contents<message>>(mine.rank, std::span(&lists, 1));
      shared = alone_.get();
    }
    shared_ = shared;
    heard_.resize(shared->participants());
    outlets_.resize(std::size_t{shared->first()} + shared->participants());
    contents_ = shared->of(mine.rank, turn_);
  }

  typename Program::inbox& of(vertex_t local) noexcept { return boxes_[local]; }

  // Keeps the content of a list of this participant's own vertices.
  void keep(std::uint32_t list, const message& content) {
    own_edges_ += edges_of({list, list + 1});
    keep_one(list, content);
  }
  // Keeps the contents of `count` lists from `first` on, as they lie in a bundle of `from`.
  void keep(rank_t from, std::uint32_t first, std::uint32_t count, const std::byte* contents) {
    hear(from);
    if (std::memchr(is_filled_.data() + first, 1, count) != nullptr) [[unlikely]] {
      if (has_turns_) return keep_one_by_one(first, count, contents);
      gather();
    }
    note({first, first + count});
    std::memcpy(contents_ + first, contents, count * sizeof(message));
  }

  // Combines what this participant's own lists hold for slots and have not yet given them.
  void fold() {
    if constexpr (combining_program<Program>) {
      if (unfolded_ == 0) return;
      const std::size_t own = is_filled_.size() - graph_.first_own;
      gathers_by_vertex<Program>&& unfolded_ == own ? fold_all() : fold_some();
      unfolded_ranges_.clear();
      unfolded_ = 0;
    }
  }

  // The edges of all lists that had a content from this participant's own vertices, and from those
  // that write to shared memory.
  std::uint64_t own_edges() const noexcept { return own_edges_; }
  std::uint64_t heard_edges() const noexcept { return heard_edges_; }
  // The contents that were written to others.
  std::uint64_t written() const noexcept { return written_; }

  // Gathers what has come, when all participants are idle.
  void gather_all() {
    hear_all();
    gather();
  }

  // Calls visit(begin, end) for each block of vertices, whose boxes stay in the first-level cache
  // between gathering and the turns.
  template <class Visit>
  void for_each_block(Visit&& visit) {
    const auto count = static_cast<vertex_t>(boxes_.size());
    for (vertex_t begin = 0; begin < count;) {
      const vertex_t end = begin + (std::min)(count - begin, in_lists::vertices_of_a_block);
      visit(begin, end);
      begin = end;
    }
  }

  // Gathers what is kept for one block of vertices after another.
  class reader {
   public:
    // For the block that begins with this vertex. No block is left out.
    void gather(vertex_t begin) {
      if (contents_ == nullptr) return;
      const message* const contents = contents_;
      typename Program::inbox* const boxes = boxes_ + begin;
      lists_.next_block([&](auto size, std::uint8_t owner, const std::uint32_t* list) {
        add(boxes[owner], [&](auto& box) {
          for (std::uint32_t k = 0; k < size; ++k) program_.gather(box, contents[list[k]], edge{});
        });
      });
    }

   private:
    friend class inboxes;
    reader(inboxes& all, const message* from) noexcept
        : program_(all.program_),
          boxes_(all.boxes_.data()),
          contents_(from),
          lists_(all.graph_.in_lists) {}
    // A sum grows in a register.
    template <class Add>
    [[gnu::always_inline]] static void add(typename Program::inbox& box, Add&& more) {
      if constexpr (std::is_trivially_copyable_v<typename Program::inbox>) {
        typename Program::inbox sum = box;
        more(sum);
        box = sum;
      } else {
        more(box);
      }
    }

    const Program& program_;
    typename Program::inbox* boxes_;
    // Null: everything has been gathered.
    const message* contents_;
    in_lists::reader lists_;
  };
  // All participants were idle. Now each vertex gathers what is kept for it, and has its turn.
  // Contents that are sent or come until end_turns() are kept for the next time: no inbox gets them
  // before.
  reader begin_turns() {
    hear_all();
    fold();
    has_turns_ = true;
    const message* const from = is_full() ? contents_ : nullptr;
    if (from == nullptr) gather_some();
    forget();
    ++turn_;
    contents_ = shared_->of(graph_.rank, turn_);
    for (rank_t to = shared_->first(); to < outlets_.size(); ++to) {
      shared_->written(graph_.rank, to, turn_).clear();
      outlets_[to] = {shared_->of(to, turn_)};
    }
    return reader(*this, from);
  }
  // Writes what a vertex sends in its turn, the only time in this turn. Returns false if the
  // receiver does not share memory.
  [[gnu::always_inline]] bool write(const route& to, const message& content) {
    outlet* const out = outlet_to(to);
    if (out == nullptr) return false;
    out->contents[to.list] = content;
    out->end = to.list + 1;
    return true;
  }
  // The same for all lists of a stretch. The vertex senders[i] of the block leads to its i-th list
  // and sends contents[senders[i]].
  [[gnu::always_inline]] bool write(const out_lists::stretch& to, const std::uint8_t* senders,
                                    const message* contents) {
    outlet* const out = outlet_to({to.to, to.first});
    if (out == nullptr) return false;
    message* const there = out->contents + to.first;
    for (std::uint32_t i = 0; i < to.count; ++i) there[i] = contents[senders[i]];
    out->end = to.first + to.count;
    return true;
  }
  void end_turns() {
    for (rank_t to = shared_->first(); to < outlets_.size(); ++to) {
      outlet& out = outlets_[to];
      close(out, to);
      out.contents = nullptr;
    }
    hear(graph_.rank);
    has_turns_ = false;
    for (const auto& [list, content] : std::exchange(postponed_, {})) keep_one(list, content);
  }

 private:
  // Where the contents for a participant go that shares memory.
  struct outlet {
    // Null: nobody has a turn, or there is no such participant.
    message* contents = nullptr;
    // The newest contents, which are not yet noted as written.
    std::uint32_t begin = shard<edge>::no_list, end = shard<edge>::no_list;
  };
  // The outlet to a list, if the receiver shares memory; otherwise null.
  [[gnu::always_inline]] outlet* outlet_to(const route& to) {
    if (to.to >= outlets_.size()) return nullptr;
    outlet& out = outlets_[to.to];
    if (out.contents == nullptr) return nullptr;
    // Vertices that send one after another have lists that follow each other.
    if (to.list != out.end) [[unlikely]]
      reopen(out, to);
    return &out;
  }
  [[gnu::noinline]] void reopen(outlet& out, const route& to) {
    close(out, to.to);
    out.begin = to.list;
  }
  void close(outlet& out, rank_t to) {
    if (out.begin == out.end) return;
    extend(shared_->written(graph_.rank, to, turn_), {out.begin, out.end});
    if (to != graph_.rank) written_ += out.end - out.begin;
    out.begin = out.end;
  }

  // Notes what a participant has written for this one in this turn. Its turns have ended: all are
  // idle, or it has sent a message since.
  void hear(rank_t from) {
    if (from < shared_->first() || from - shared_->first() >= heard_.size()) return;
    std::uint64_t& heard = heard_[from - shared_->first()];
    if (heard == turn_) return;
    heard = turn_;
    for (const list_range& lists : shared_->written(from, graph_.rank, turn_)) {
      note(lists);
      (from == graph_.rank ? own_edges_ : heard_edges_) += edges_of(lists);
    }
  }
  void hear_all() {
    for (rank_t i = 0; i < heard_.size(); ++i) hear(shared_->first() + i);
  }

  // Gathers what is kept.
  void gather() {
    if (filled_ == 0) return;
    fold();
    if (is_full()) {
      reader from(*this, contents_);
      for_each_block([&](vertex_t begin, vertex_t) { from.gather(begin); });
    } else {
      gather_some();
    }
    forget();
  }

  void note(list_range lists) {
    const std::uint32_t count = lists.end - lists.begin;
    extend(ranges_, lists);
    filled_ += count;
    std::memset(is_filled_.data() + lists.begin, 1, count);
    if constexpr (combining_program<Program>) {
      if (lists.begin < graph_.first_own) return;
      extend(unfolded_ranges_, lists);
      unfolded_ += count;
    }
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
    note({list, list + 1});
    contents_[list] = content;
  }

  std::uint64_t edges_of(list_range lists) const noexcept {
    return graph_.first_target[lists.end] - graph_.first_target[lists.begin];
  }

  // Whether each vertex can read the contents that lead to it.
  bool is_full() const noexcept {
    return gathers_by_vertex<Program> && filled_ == is_filled_.size();
  }
  void forget() {
    for (const list_range& r : ranges_)
      std::memset(is_filled_.data() + r.begin, 0, r.end - r.begin);
    ranges_.clear();
    filled_ = 0;
  }

  void gather_some() {
    for (const list_range& r : ranges_)
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
    const std::uint32_t* list = graph_.slot_lists.data();
    for (std::size_t s = 0; s < graph_.slots.size(); ++s) {
      const std::uint32_t count = graph_.slot_list_counts[s];
      message all = contents_[*list];
      for (std::uint32_t i = 1; i < count; ++i) program_.combine(all, contents_[list[i]]);
      list += count;
      slots_.add(program_, static_cast<std::uint32_t>(s), all, count);
    }
  }
  void fold_some() {
    for (const list_range& r : unfolded_ranges_)
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
  std::unique_ptr<list_contents<message>> alone_;
  list_contents<message>* shared_;
  // The turns that have begun.
  std::uint64_t turn_ = 0;
  // The content of each list that is kept. In their turns vertices read those of the turn before.
  message* contents_;
  std::vector<std::uint8_t> is_filled_;
  // The lists that are filled.
  std::vector<list_range> ranges_;
  std::size_t filled_ = 0;
  // By participant: the last turn of which it is noted what it has written for this one.
  std::vector<std::uint64_t> heard_;
  // By participant, while vertices have their turns.
  std::vector<outlet> outlets_;
  std::uint64_t own_edges_ = 0, heard_edges_ = 0, written_ = 0;
  // While vertices have their turns: the second contents of lists.
  bool has_turns_ = false;
  std::vector<std::pair<std::uint32_t, message>> postponed_;
  // Those of this participant's own vertices that fold() has not yet seen.
  std::vector<list_range> unfolded_ranges_;
  std::size_t unfolded_ = 0;
};

}  // namespace tutti::graph::detail
