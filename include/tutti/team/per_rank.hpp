// SPDX-License-Identifier: Apache-2.0
// Memory for each rank of a team, on pages of its own. The rank writes its pages first, so Linux
// takes them from the rank's NUMA node.
// Hosted only: it needs a team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "tutti/team/team.hpp"

namespace tutti {

template <class T>
class per_rank {
 public:
  // Makes `count` elements for each rank, which the rank value-initialises. It opens a region of
  // the team. Throws std::bad_alloc, or what T's constructor throws.
  per_rank(team& owners, std::size_t count) : blocks_(owners.size()) {
    owners.run([&](member& me) {
      // Inside another region of the team this region has one rank, which makes the blocks of all.
      for (rank_t rank = me.rank(); rank < size(); rank += me.size()) blocks_[rank].make(count);
    });
  }

  // Return the elements of a rank.
  std::span<T> operator[](rank_t rank) noexcept { return blocks_[rank].elements(); }
  std::span<const T> operator[](rank_t rank) const noexcept { return blocks_[rank].elements(); }
  rank_t size() const noexcept { return static_cast<rank_t>(blocks_.size()); }

 private:
  class block {
   public:
    block() = default;
    ~block() {
      std::destroy_n(first_, count_);
      ::operator delete(static_cast<void*>(first_), page);
    }
    block(const block&) = delete;
    block& operator=(const block&) = delete;

    void make(std::size_t count) {
      if (count > PTRDIFF_MAX / sizeof(T) - 1) throw std::bad_array_new_length();
      // The block takes whole pages, so that no two ranks share one.
      const std::size_t bytes = (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
      first_ = static_cast<T*>(::operator new(bytes, page));
      std::uninitialized_value_construct_n(first_, count);
      count_ = count;
    }
    std::span<T> elements() const noexcept { return {first_, count_}; }

   private:
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::align_val_t page{page_bytes};

    T* first_ = nullptr;
    std::size_t count_ = 0;
  };

  array<block> blocks_;
};

}  // namespace tutti
