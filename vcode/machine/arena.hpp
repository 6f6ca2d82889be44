// SPDX-License-Identifier: Apache-2.0
// Memory for the elements of vectors: one reserved range of addresses and its allocators.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tutti::vcode {

// A range of addresses; the system provides the memory of a page at the first write to it.
class arena {
 public:
  // `bytes` of 0 means as much as the machine has and control groups allow. Throws
  // std::invalid_argument if the system refuses.
  explicit arena(std::size_t bytes);
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t size() const { return size_; }
  // The bytes, from the beginning, that may be used: less than size() if the caller named no size
  // and a control group allows less. The first call reads the groups' files; thread-safe.
  std::size_t usable();

  // The bytes, from the beginning, that have been written to or are about to be.
  std::size_t touched() const { return touched_; }
  void touch(std::size_t end) { touched_ = std::max(touched_, end); }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  std::size_t touched_ = 0;
  bool is_limited_ = false;
  std::once_flag read_;
  std::size_t usable_ = 0;
};

// Hands out parts of an arena. It keeps its data structures outside the arena and decides by the
// sequence of calls alone: threads that make the same calls, each on its own allocator, get the
// same addresses without communication.
//
// Small parts have a few sizes, each with a free list. A large part is cut from the smallest free
// range that has room, and merges with its neighbours when it is freed. Reusing a page is better
// than taking a fresh one, which the system clears at the first write.
class allocator {
 public:
  struct part {
    // Null if the arena is full.
    void* address = nullptr;
    std::uint32_t units = 0;
  };

  explicit allocator(arena& from);

  part allocate(std::size_t bytes);
  void free(part p);
  std::size_t peak() const { return peak_; }
  // The bytes of which it can hand out parts.
  std::size_t limit() const { return std::min(size_, arena_->usable()); }

  // Counts bytes that the caller takes elsewhere, for headers of vectors and for stacks: with the
  // parts they must stay below the limit. Returns false, and counts nothing, if they do not.
  bool take_outside(std::size_t bytes);
  void give_back_outside(std::size_t bytes) { outside_ -= bytes; }

  // The bytes of the largest part that it can hand out, except small parts.
  std::size_t room() const;

  // Returns the untouched pages among those handed out, and as many behind them as make their
  // number a multiple of `parts`, and counts them as touched. Returns none if there would be only
  // one. Vectors may already lie in them.
  std::pair<unsigned char*, std::size_t> take_fresh(unsigned parts);
  static constexpr std::size_t page = std::size_t{2} << 20;

  // Between hold() and release(), freed parts are not handed out again, because other threads may
  // still read them.
  void hold() { holding_ = true; }
  void release();

 private:
  static constexpr std::size_t unit = 64;
  // A part of at least this many units is large. Small parts have four sizes for each power of two,
  // so at most a quarter of one is wasted.
  static constexpr std::uint32_t large = 512;
  static constexpr std::size_t classes = 32;
  static std::size_t class_of(std::uint32_t units);
  static std::uint32_t units_of(std::size_t size_class);

  // Whether `bytes` more, in the arena or outside, stay below the limit.
  bool has_room(std::size_t bytes) const;
  void* take_small(std::size_t size_class);
  void* take_large(std::size_t bytes);
  void give_back(part p);
  void give_back_large(std::byte* begin, std::size_t bytes);
  void add_range(std::byte* begin, std::size_t bytes);
  void remove_range(std::byte* begin, std::size_t bytes);

  arena* arena_;
  std::byte* begin_;
  std::size_t size_;
  // The used bytes of the arena, from its beginning.
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t outside_ = 0;
  std::vector<std::byte*> free_[classes];
  // The chunk from which small parts are cut in sequence.
  std::byte* chunk_ = nullptr;
  std::byte* chunk_end_ = nullptr;
  // The large free ranges by address.
  std::map<std::byte*, std::size_t> ranges_;
  // The same ranges by size.
  std::set<std::pair<std::size_t, std::byte*>> by_size_;
  bool holding_ = false;
  std::vector<part> held_;
};

}  // namespace tutti::vcode
