// SPDX-License-Identifier: Apache-2.0
// Free lists by size; what is free is merged with its neighbours only when nothing else is left.
#include "machine/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace tutti::vcode {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 32;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

}  // namespace

arena::arena(std::size_t bytes) {
  size_ = bytes == 0 ? physical_memory() : std::max<std::size_t>(bytes, 4096);
  size_ = (size_ + 63) / 64 * 64;
  void* const got = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    throw std::invalid_argument("an arena of " + std::to_string(size_) +
                                " bytes cannot be reserved");
  }
  begin_ = static_cast<std::byte*>(got);
  // Long vectors are walked from end to end: few large pages cost less than many small ones. Only a hint.
  if (size_ >= huge_page) madvise(begin_, size_, MADV_HUGEPAGE);
}

arena::~arena() { munmap(begin_, size_); }

std::uint16_t allocator::class_of(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>((bytes + smallest - 1) / smallest, 1);
  if (units <= 4) return static_cast<std::uint16_t>(units - 1);
  // The two bits below the highest one choose among the four.
  const auto shift = static_cast<unsigned>(std::bit_width(units - 1)) - 3;
  return static_cast<std::uint16_t>(4 * shift + ((units - 1) >> shift));
}

std::size_t allocator::bytes_of(std::uint16_t size_class) {
  if (size_class < 4) return smallest * (size_class + 1U);
  const unsigned shift = (size_class - 4U) / 4;
  return smallest * ((size_class - 4ULL * shift + 1) << shift);
}

allocator::part allocator::allocate(std::size_t bytes) {
  const std::uint16_t size_class = class_of(bytes);
  if (size_class >= classes) return {};
  // A part up to twice as large that has been used is better than a fresh one, whose pages are not there.
  const std::uint16_t last = static_cast<std::uint16_t>(
      std::min<std::size_t>(size_class + (size_class < 4 ? 0U : 4U), classes - 1));
  for (std::uint16_t c = size_class; c <= last; ++c) {
    if (free_[c].empty()) continue;
    std::byte* const found = free_[c].back();
    free_[c].pop_back();
    return taken(found, c);
  }
  const std::size_t wanted = bytes_of(size_class);
  void* found = take_merged(wanted);
  if (found == nullptr && is_worth_merging(wanted)) {
    merge_free();
    found = take_merged(wanted);
  }
  if (found == nullptr) found = take_fresh(wanted);
  if (found == nullptr) {
    merge_free();
    found = take_merged(wanted);
  }
  return taken(found, size_class);
}

// The system clears a fresh page when it is first written, which costs more than most passes over it. Small
// parts cost little, and a merge for each would cost more.
bool allocator::is_worth_merging(std::size_t bytes) const {
  constexpr std::size_t large = 1 << 16;
  constexpr std::size_t many = 64;
  return bytes >= large && frees_ >= many && used_ - given_ > given_ / 2;
}

allocator::part allocator::taken(void* address, std::uint16_t size_class) {
  if (address == nullptr) return {};
  given_ += bytes_of(size_class);
  return {address, size_class};
}

void allocator::free(void* address, std::uint16_t size_class) {
  if (holding_) {
    held_.push_back({address, size_class});
    return;
  }
  give_back({address, size_class});
}

void allocator::give_back(part p) {
  free_[p.size_class].push_back(static_cast<std::byte*>(p.address));
  given_ -= bytes_of(p.size_class);
  ++frees_;
}

void allocator::release() {
  for (const part& each : held_) give_back(each);
  held_.clear();
}

void* allocator::take_fresh(std::size_t bytes) {
  if (bytes > size_ - used_) return nullptr;
  void* const address = begin_ + used_;
  used_ += bytes;
  return address;
}

void* allocator::take_merged(std::size_t bytes) {
  for (auto range = merged_.begin(); range != merged_.end(); ++range) {
    if (range->second < bytes) continue;
    std::byte* const address = range->first;
    const std::size_t rest = range->second - bytes;
    merged_.erase(range);
    if (rest > 0) merged_.emplace(address + bytes, rest);
    return address;
  }
  return nullptr;
}

void allocator::merge_free() {
  frees_ = 0;
  for (std::uint16_t c = 0; c < classes; ++c) {
    for (std::byte* const each : free_[c]) merged_.emplace(each, bytes_of(c));
    free_[c].clear();
  }
  for (auto range = merged_.begin(); range != merged_.end();) {
    const auto next = std::next(range);
    if (next != merged_.end() && range->first + range->second == next->first) {
      range->second += next->second;
      merged_.erase(next);
    } else {
      range = next;
    }
  }
}

}  // namespace tutti::vcode
