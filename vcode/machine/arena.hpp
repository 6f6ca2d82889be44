// SPDX-License-Identifier: Apache-2.0
// Memory for the elements of vectors: one reserved range of addresses, and who has which part of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti::vcode {

// Addresses; the system gives memory to a page when it is first written.
class arena {
 public:
  // 0 bytes: as much as the machine has. Throws std::invalid_argument if the system refuses.
  explicit arena(std::size_t bytes);
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t size() const { return size_; }

  // How much of it, from its beginning, somebody has written to, or is about to.
  std::size_t touched() const { return touched_; }
  void touch(std::size_t end) { touched_ = std::max(touched_, end); }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  std::size_t touched_ = 0;
};

// Hands out parts of an arena. It keeps its books outside of the arena and decides by the sequence of calls
// alone: threads that make the same calls on an allocator each get the same addresses, without a word.
//
// Small parts come in a few sizes, each with a list of free ones. A large part is cut from the smallest free range
// that has room, and joins its neighbours when it is freed: a page that has been used is better than a fresh one,
// which the system clears when it is first written.
class allocator {
 public:
  struct part {
    void* address = nullptr;  // null: full
    std::uint32_t units = 0;
  };

  explicit allocator(arena& from);

  part allocate(std::size_t bytes);
  void free(part p);
  std::size_t peak() const { return peak_; }

  // Pages that were handed out but have not been touched, and as many behind them as make it a multiple of `parts`;
  // they count as touched from now on. None if it would be one. Vectors may lie there already.
  std::pair<unsigned char*, std::size_t> take_fresh(unsigned parts);
  static constexpr std::size_t page = std::size_t{2} << 20;

  // Between hold() and release(), parts that are freed are kept from being handed out again: other threads
  // may still read them.
  void hold() { holding_ = true; }
  void release();

 private:
  static constexpr std::size_t unit = 64;
  // In units. Four sizes for each power of two: at most a quarter of a small part is wasted.
  static constexpr std::uint32_t large = 512;
  static constexpr std::size_t classes = 32;
  static std::size_t class_of(std::uint32_t units);
  static std::uint32_t units_of(std::size_t size_class);

  void* take_small(std::size_t size_class);
  void* take_large(std::size_t bytes);
  void give_back(part p);
  void give_back_large(std::byte* begin, std::size_t bytes);
  void add_range(std::byte* begin, std::size_t bytes);
  void remove_range(std::byte* begin, std::size_t bytes);

  arena* arena_;
  std::byte* begin_;
  std::size_t size_;
  std::size_t used_ = 0;  // of the arena, from its beginning
  std::size_t peak_ = 0;
  std::vector<std::byte*> free_[classes];
  // Where small parts are cut from, one behind the other.
  std::byte* chunk_ = nullptr;
  std::byte* chunk_end_ = nullptr;
  std::map<std::byte*, std::size_t> ranges_;              // large and free, by address
  std::set<std::pair<std::size_t, std::byte*>> by_size_;  // the same
  bool holding_ = false;
  std::vector<part> held_;
};

}  // namespace tutti::vcode
