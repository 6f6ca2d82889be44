// SPDX-License-Identifier: Apache-2.0
// Makes, counts and frees the vectors of one interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <utility>

#include "vcode/machine/arena.hpp"
#include "vcode/machine/fusable.hpp"
#include "vcode/machine/value.hpp"

namespace tutti::vcode {

// The interpreter catches it and adds the instruction and the function.
class machine_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class store {
 public:
  explicit store(arena& memory) : memory_(memory) {}

  // Tells that `copies` interpreters, each with a store, do the same. What one of them takes
  // outside of the arena counts for all, so that they agree when the memory is full.
  void count_for(unsigned copies) { copies_ = copies; }

  // Makes a vector of `length` elements, not 1, for the caller to write.
  block* make(kind type, std::int32_t length);
  // Makes a descriptor of no segment or of several; takes over both references.
  block* make_segdes(block* lengths, block* offsets, std::int32_t total);
  pair_block* make_pair(value first, value second);
  // Makes a vector whose elements the caller owns; they are never written.
  block* borrow(kind type, std::int32_t length, const void* elements);
  // Makes a vector without elements; the caller sets `deferred`.
  block* make_deferred(kind type, std::int32_t length);
  // Allocates elements for the caller to write.
  void give_data(block* b);
  void drop_deferred(block* b);

  static void retain(value v) {
    if (!v.is_scalar()) ++v.vector()->references;
  }
  void release(value v) {
    if (!v.is_scalar()) release(v.vector());
  }
  void release(block* b) {
    if (--b->references == 0) destroy(b);
  }

  // Allocates memory for use within one instruction.
  allocator::part scratch(std::size_t bytes);
  void free_scratch(allocator::part p) { memory_.free(p); }

  // Counts bytes for use outside of the arena. Returns false if they do not fit.
  bool take_outside(std::size_t bytes) { return memory_.take_outside(bytes * copies_); }
  void give_back_outside(std::size_t bytes) { memory_.give_back_outside(bytes * copies_); }
  std::size_t copies() const { return copies_; }

  allocator& memory() { return memory_; }

 private:
  // A header, counted in the memory for vectors; it is kept for reuse until the end.
  template <class Header>
  Header* one_more(std::deque<Header>& headers);
  [[noreturn]] void fail_full(std::size_t bytes) const;
  block* header(kind type, std::int32_t length);
  void destroy(block* b);
  void destroy_pair(pair_block* p);

  allocator memory_;
  std::size_t copies_ = 1;
  std::deque<block> blocks_;
  std::deque<pair_block> pairs_;
  std::deque<fusable> fusables_;
  block* free_blocks_ = nullptr;
  block* free_pairs_ = nullptr;
  fusable* free_fusables_ = nullptr;
};

// Releases its reference at the end of its scope.
class holder {
 public:
  holder(store& s, value v) : store_(s), value_(v) {}
  ~holder() { store_.release(value_); }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;

  const value& operator*() const { return value_; }
  const value* operator->() const { return &value_; }
  // Passes the reference on to the caller.
  value take() { return std::exchange(value_, value()); }

 private:
  store& store_;
  value value_;
};

// Does the same for scratch memory.
template <class T>
class scratch_array {
 public:
  scratch_array(store& s, std::size_t count) : store_(s), part_(s.scratch(count * sizeof(T))) {}
  ~scratch_array() { store_.free_scratch(part_); }
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;

  T* data() const { return static_cast<T*>(part_.address); }
  T& operator[](std::size_t i) const { return data()[i]; }

 private:
  store& store_;
  allocator::part part_;
};

}  // namespace tutti::vcode
