// SPDX-License-Identifier: Apache-2.0
// Memory for the elements of vectors: one reserved range of addresses, and who has which part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

// Hands out parts of an arena. It keeps its books outside of the arena and decides by the sequence of calls
// alone: threads that make the same calls on an allocator each get the same addresses, without a word.
class allocator {
 public:
  struct part {
    void* address = nullptr;  // null: full
    std::uint16_t size_class = 0;
  };

  explicit allocator(const arena& from) : begin_(from.begin()), size_(from.size()) {}

  part allocate(std::size_t bytes);
  void free(void* address, std::uint16_t size_class);
  std::size_t peak() const { return used_; }

  // Between hold() and release(), parts that are freed are kept from being handed out again: other threads
  // may still read them.
  void hold() { holding_ = true; }
  void release();

 private:
  // Four classes for each power of two: at most a quarter is wasted.
  static std::uint16_t class_of(std::size_t bytes);
  static std::size_t bytes_of(std::uint16_t size_class);
  static constexpr std::size_t classes = 4 * 48;
  static constexpr std::size_t smallest = 64;

  void* take_fresh(std::size_t bytes);
  void* take_merged(std::size_t bytes);
  void merge_free();
  void give_back(part p);
  bool is_worth_merging(std::size_t bytes) const;
  part taken(void* address, std::uint16_t size_class);

  std::byte* begin_;
  std::size_t size_;
  std::size_t used_ = 0;   // of the range, from its beginning
  std::size_t given_ = 0;  // of that, handed out
  std::size_t frees_ = 0;  // since the last merge
  std::vector<std::byte*> free_[classes];
  std::map<std::byte*, std::size_t> merged_;  // free ranges, by address
  bool holding_ = false;
  std::vector<part> held_;
};

}  // namespace tutti::vcode
