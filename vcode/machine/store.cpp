// SPDX-License-Identifier: Apache-2.0
// Allocates headers from free lists and elements from the arena.
#include "vcode/machine/store.hpp"

#include <fmt/format.h>

#include <vector>

namespace tutti::vcode {

void store::fail_full(std::size_t bytes) const {
  throw machine_error(fmt::format("the memory for vectors, {} bytes, is full: {} more do not fit",
                                  memory_.limit(), bytes));
}

template <class Header>
Header* store::one_more(std::deque<Header>& headers) {
  if (!take_outside(sizeof(Header))) fail_full(sizeof(Header));
  return &headers.emplace_back();
}

block* store::header(kind type, std::int32_t length) {
  block* made = free_blocks_;
  if (made != nullptr) {
    free_blocks_ = made->next_free;
    *made = block{};
  } else {
    made = one_more(blocks_);
  }
  made->type = type;
  made->length = length;
  return made;
}

allocator::part store::scratch(std::size_t bytes) {
  const allocator::part got = memory_.allocate(bytes);
  if (got.address == nullptr) fail_full(bytes);
  return got;
}

void store::give_data(block* b) {
  if (b->length == 0) return;
  const allocator::part got = scratch(static_cast<std::size_t>(b->length) * size_of(b->type));
  b->data = got.address;
  b->units = got.units;
  b->owns_data = true;
}

block* store::make(kind type, std::int32_t length) {
  block* const made = header(type, length);
  try {
    give_data(made);
  } catch (...) {
    release(made);
    throw;
  }
  return made;
}

block* store::borrow(kind type, std::int32_t length, const void* elements) {
  block* const made = header(type, length);
  made->data = const_cast<void*>(elements);
  return made;
}

block* store::make_deferred(kind type, std::int32_t length) {
  block* const made = header(type, length);
  if (free_fusables_ != nullptr) {
    made->deferred = free_fusables_;
    free_fusables_ = made->deferred->next_free;
    *made->deferred = fusable{};
  } else {
    made->deferred = one_more(fusables_);
  }
  return made;
}

// Chains are short, so recursion may release what they refer to.
void store::drop_deferred(block* b) {
  fusable* const dropped = std::exchange(b->deferred, nullptr);
  for (unsigned i = 0; i < dropped->operands; ++i) release(dropped->operand[i]);
  dropped->next_free = free_fusables_;
  free_fusables_ = dropped;
}

block* store::make_segdes(block* lengths, block* offsets, std::int32_t total) {
  block* const made = header(kind::segdes, lengths->length);
  made->lengths = lengths;
  made->offsets = offsets;
  made->total = total;
  return made;
}

pair_block* store::make_pair(value first, value second) {
  auto* made = static_cast<pair_block*>(free_pairs_);
  if (made != nullptr) {
    free_pairs_ = made->next_free;
    *made = pair_block{};
  } else {
    made = one_more(pairs_);
  }
  made->type = kind::pair;
  made->length = 1;
  made->first = first;
  made->second = second;
  return made;
}

// Memory alone limits the depth of nested PAIRs, so this loop does not recurse.
void store::destroy_pair(pair_block* p) {
  std::vector<pair_block*> open{p};
  while (!open.empty()) {
    pair_block* const whole = open.back();
    open.pop_back();
    for (const value part : {whole->first, whole->second}) {
      if (part.is_scalar() || part.type() != kind::pair) {
        release(part);
      } else if (--part.vector()->references == 0) {
        open.push_back(static_cast<pair_block*>(part.vector()));
      }
    }
    whole->next_free = free_pairs_;
    free_pairs_ = whole;
  }
}

void store::destroy(block* b) {
  if (b->type == kind::pair) {
    destroy_pair(static_cast<pair_block*>(b));
    return;
  }
  if (b->owns_data) memory_.free({b->data, b->units});
  if (b->lengths != nullptr) release(b->lengths);
  if (b->offsets != nullptr) release(b->offsets);
  if (b->deferred != nullptr) drop_deferred(b);
  b->next_free = free_blocks_;
  free_blocks_ = b;
}

}  // namespace tutti::vcode
