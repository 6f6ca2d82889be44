// SPDX-License-Identifier: Apache-2.0
// The lists that lead to each vertex, in an order in which a processor gathers their contents
// without guessing where a vertex's lists end: at each wrong guess it would lose some fifteen
// cycles, as long as a dozen edges take.
//
// The vertices come in blocks. Each vertex's lists are cut into groups of 8 and, for the rest, of
// 4, 2 and 1; a vertex with 21 lists has two groups of 8, one of 4 and one of 1. First come the
// block's groups of 8, then those of 4, and so on. So a loop over groups of one size always makes
// the same number of turns inside, and its groups belong to many vertices, whose inboxes are in the
// first-level cache.
//
// Cost       4 bytes per list and vertex, and a byte per group.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

class in_lists {
 public:
  // The number of a vertex in its block is a byte.
  static constexpr vertex_t vertices_of_a_block = 256;
  static constexpr std::array<std::uint32_t, 4> sizes{8, 4, 2, 1};

  in_lists() = default;
  // `lists` has those of one vertex after another, counts[v] of vertex v. Throws
  // std::invalid_argument if the counts do not add up to the lists.
  in_lists(std::span<const std::uint32_t> counts, std::vector<std::uint32_t> lists)
      : lists_(std::move(lists)) {
    std::size_t groups = 0, all = 0;
    for (const std::uint32_t count : counts) {
      all += count;
      for_each_size([&](std::uint32_t size, std::size_t) { groups += groups_of(count, size); });
    }
    require(all == lists_.size(), "the numbers of the vertices' lists do not add up to the lists");
    owners_.reserve(groups);
    std::vector<std::uint32_t> ungrouped;
    std::uint32_t* to = lists_.data();
    for (std::size_t begin = 0; begin < counts.size(); begin += vertices_of_a_block) {
      const std::size_t most = std::min<std::size_t>(vertices_of_a_block, counts.size() - begin);
      to = group_block(counts.subspan(begin, most), to, ungrouped);
    }
  }

  bool operator==(const in_lists&) const = default;
  bool empty() const noexcept { return lists_.empty(); }

  // Reads the groups of one block after another.
  class reader {
   public:
    explicit reader(const in_lists& all) noexcept
        : list_(all.lists_.data()), owner_(all.owners_.data()), block_(all.blocks_.data()) {}

    // Calls visit(size, vertex in the block, lists) for each group of the next block. `size` is a
    // std::integral_constant. Precondition: there is a next block.
    template <class Visit>
    void next_block(Visit&& visit) {
      const group_counts& counts = *block_++;
      for_each_size([&](auto size, std::size_t number) {
        for (std::uint32_t left = counts[number]; left > 0; --left) {
          visit(size, *owner_++, list_);
          list_ += size;
        }
      });
    }

   private:
    const std::uint32_t* list_;
    const std::uint8_t* owner_;
    const std::array<std::uint32_t, sizes.size()>* block_;
  };

 private:
  // By size.
  using group_counts = std::array<std::uint32_t, sizes.size()>;

  // Calls f(size, its index in sizes); the size is a std::integral_constant.
  template <class F>
  static void for_each_size(F&& f) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (f(std::integral_constant<std::uint32_t, sizes[Index]>{}, Index), ...);
    }
    (std::make_index_sequence<sizes.size()>{});
  }
  static constexpr std::uint32_t groups_of(std::uint32_t lists, std::uint32_t size) noexcept {
    return size == sizes[0] ? lists / size : lists / size % 2;
  }

  // Groups the lists of a block, which begin at `to`. Returns their end.
  std::uint32_t* group_block(std::span<const std::uint32_t> counts, std::uint32_t* to,
                             std::vector<std::uint32_t>& ungrouped) {
    std::size_t all = 0;
    for (const std::uint32_t count : counts) all += count;
    ungrouped.assign(to, to + all);
    group_counts made{};
    for_each_size([&](std::uint32_t size, std::size_t number) {
      const std::uint32_t* first = ungrouped.data();
      for (std::size_t v = 0; v < counts.size(); ++v) {
        const std::uint32_t groups = groups_of(counts[v], size);
        // The larger groups come before.
        const std::uint32_t before = size == sizes[0] ? 0 : counts[v] / (2 * size) * (2 * size);
        to = std::copy_n(first + before, groups * size, to);
        owners_.insert(owners_.end(), groups, static_cast<std::uint8_t>(v));
        made[number] += groups;
        first += counts[v];
      }
    });
    blocks_.push_back(made);
    return to;
  }

  std::vector<std::uint32_t> lists_;
  // The vertex of each group.
  std::vector<std::uint8_t> owners_;
  std::vector<group_counts> blocks_;
};

}  // namespace tutti::graph
