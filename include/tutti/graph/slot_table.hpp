// SPDX-License-Identifier: Apache-2.0
// The messages that a participant combines before it sends them: one slot for each vertex of
// another participant to which combined messages go (combine.hpp). The slots are made once; a
// message that comes allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/graph/program.hpp"
#include "tutti/graph/shard.hpp"

namespace tutti::graph::detail {

// What the message has become at the end of the edge.
template <class Program>
typename Program::message at_the_end_of(const Program& program,
                                        const shard<typename Program::edge>& graph, edge_t edge,
                                        const typename Program::message& m) {
  if constexpr (shard<typename Program::edge>::has_values)
    return program.along(m, graph.values[edge]);
  else
    return m;
}

template <class Program>
class slot_table {
  using message = typename Program::message;

 public:
  explicit slot_table(const shard<typename Program::edge>& mine)
      : contents_(mine.slots.size()), is_filled_(mine.slots.size(), 0) {
    filled_.reserve(mine.slots.size());
  }

  bool empty() const noexcept { return filled_.empty(); }
  // The messages that were added, ever.
  std::uint64_t added() const noexcept { return added_; }

  // Adds a message, which stands for `count` of them.
  void add(const Program& program, std::uint32_t slot, const message& m, std::uint64_t count = 1) {
    added_ += count;
    if (is_filled_[slot] != 0) return program.combine(contents_[slot], m);
    is_filled_[slot] = 1;
    contents_[slot] = m;
    filled_.push_back(slot);
  }

  // Empties the table and calls take(slot, message) for each slot, by ascending slots: so the lists
  // of one receiver come in the order of their numbers, and travel in bundles.
  template <class Take>
  void take_all(Take take) {
    // Sorting costs more than a look at all slots if there are many.
    if (filled_.size() > contents_.size() / 16) {
      filled_.clear();
      for (std::size_t s = 0; s < is_filled_.size(); ++s)
        if (is_filled_[s] != 0) filled_.push_back(static_cast<std::uint32_t>(s));
    } else {
      std::sort(filled_.begin(), filled_.end());
    }
    for (const std::uint32_t slot : filled_) {
      is_filled_[slot] = 0;
      take(slot, contents_[slot]);
    }
    filled_.clear();
  }

 private:
  std::vector<message> contents_;
  std::vector<std::uint8_t> is_filled_;
  // The slots that are filled, in the order in which they were.
  std::vector<std::uint32_t> filled_;
  std::uint64_t added_ = 0;
};

// Part<Program> if the program needs it, otherwise an object of no use.
struct not_needed {
  explicit not_needed(const auto&...) noexcept {}
};
template <bool is_needed, template <class> class Part, class Program>
struct part_if_needed {
  using type = not_needed;
};
template <template <class> class Part, class Program>
struct part_if_needed<true, Part, Program> {
  using type = Part<Program>;
};

template <class Program>
using slots_of = typename part_if_needed<combining_program<Program>, slot_table, Program>::type;

}  // namespace tutti::graph::detail
