// SPDX-License-Identifier: Apache-2.0
// Manages free lists of small parts and free ranges of large parts.
#include "vcode/machine/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "vcode/machine/group_memory.hpp"

namespace tutti::vcode {
namespace {

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 32;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

}  // namespace

arena::arena(std::size_t bytes) : is_limited_(bytes == 0) {
  size_ = bytes == 0 ? physical_memory() : std::max<std::size_t>(bytes, 4096);
  constexpr std::size_t unit = 64;
  size_ = (size_ + unit - 1) / unit * unit;
  const auto reserve = [this] {
    return mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
  };
  void* got = reserve();
  // The caller named no size, so a smaller one will do if the system limits the address space.
  constexpr std::size_t fewest = std::size_t{1} << 24;
  while (got == MAP_FAILED && bytes == 0 && size_ > fewest) {
    size_ = size_ / 2 / unit * unit;
    got = reserve();
  }
  if (got == MAP_FAILED) {
    throw std::invalid_argument("an arena of " + std::to_string(size_) +
                                " bytes cannot be reserved");
  }
  begin_ = static_cast<std::byte*>(got);
  // Long vectors are read from end to end, so a few huge pages cost less than many small ones. This
  // is only a hint.
  if (size_ >= allocator::page) madvise(begin_, size_, MADV_HUGEPAGE);
}

std::size_t arena::usable() {
  std::call_once(read_,
                 [this] { usable_ = is_limited_ ? std::min(size_, group_memory_limit()) : size_; });
  return usable_;
}

arena::~arena() { munmap(begin_, size_); }

allocator::allocator(arena& from) : arena_(&from), begin_(from.begin()), size_(from.size()) {}

std::size_t allocator::class_of(std::uint32_t units) {
  if (units <= 4) return units - 1;
  // The two bits below the highest one choose among the four sizes of this power of two.
  const auto shift = static_cast<unsigned>(std::bit_width(units - 1)) - 3;
  return 4 * shift + ((units - 1) >> shift);
}

std::uint32_t allocator::units_of(std::size_t size_class) {
  if (size_class < 4) return static_cast<std::uint32_t>(size_class + 1);
  const std::size_t shift = (size_class - 4) / 4;
  return static_cast<std::uint32_t>((size_class - 4 * shift + 1) << shift);
}

std::pair<unsigned char*, std::size_t> allocator::take_fresh(unsigned parts) {
  const std::size_t begin = (arena_->touched() + page - 1) / page * page;
  if (peak_ <= begin + page) return {nullptr, 0};
  const std::size_t step = page * parts;
  const std::size_t end = std::min(size_, begin + (peak_ - begin + step - 1) / step * step);
  arena_->touch(end);
  return {reinterpret_cast<unsigned char*>(begin_ + begin), end - begin};
}

allocator::part allocator::allocate(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>((bytes + unit - 1) / unit, 1);
  if (units > size_ / unit) return {};
  if (units >= large) {
    void* const found = take_large(units * unit);
    return found == nullptr ? part{} : part{found, static_cast<std::uint32_t>(units)};
  }
  const std::size_t size_class = class_of(static_cast<std::uint32_t>(units));
  void* const found = take_small(size_class);
  return found == nullptr ? part{} : part{found, units_of(size_class)};
}

void allocator::free(part p) {
  if (holding_) {
    held_.push_back(p);
  } else {
    give_back(p);
  }
}

void allocator::release() {
  for (const part& each : held_) give_back(each);
  held_.clear();
}

void allocator::give_back(part p) {
  auto* const begin = static_cast<std::byte*>(p.address);
  if (p.units >= large) {
    give_back_large(begin, p.units * unit);
  } else {
    free_[class_of(p.units)].push_back(begin);
  }
}

void* allocator::take_small(std::size_t size_class) {
  constexpr std::size_t most = std::size_t{1} << 18;
  std::vector<std::byte*>& free = free_[size_class];
  if (free.empty()) {
    const std::size_t bytes = units_of(size_class) * unit;
    if (static_cast<std::size_t>(chunk_end_ - chunk_) < bytes) {
      // The rest of the last chunk, less than a small part, stays unused. A small arena has small
      // chunks.
      std::size_t wanted = std::max(bytes, std::min(most, size_ / 64 / unit * unit));
      void* fresh = take_large(wanted);
      if (fresh == nullptr) fresh = take_large(wanted = bytes);
      if (fresh == nullptr) return nullptr;
      chunk_ = static_cast<std::byte*>(fresh);
      chunk_end_ = chunk_ + wanted;
    }
    return std::exchange(chunk_, chunk_ + bytes);
  }
  std::byte* const found = free.back();
  free.pop_back();
  return found;
}

bool allocator::has_room(std::size_t bytes) const {
  const std::size_t taken = used_ + outside_;
  if (taken > size_ || bytes > size_ - taken) return false;
  // Most programs need less, and reading the limit takes a tenth of a millisecond.
  constexpr std::size_t surely_usable = std::size_t{1} << 26;
  return taken + bytes <= surely_usable || taken + bytes <= arena_->usable();
}

bool allocator::take_outside(std::size_t bytes) {
  if (!has_room(bytes)) return false;
  outside_ += bytes;
  return true;
}

void* allocator::take_large(std::size_t bytes) {
  const auto found = by_size_.lower_bound({bytes, nullptr});
  if (found != by_size_.end()) {
    const auto [length, begin] = *found;
    remove_range(begin, length);
    if (length > bytes) add_range(begin + bytes, length - bytes);
    return begin;
  }
  if (!has_room(bytes)) return nullptr;
  std::byte* const begin = begin_ + used_;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return begin;
}

std::size_t allocator::room() const {
  const std::size_t free = by_size_.empty() ? 0 : by_size_.rbegin()->first;
  return std::max(free, limit() - std::min(limit(), used_ + outside_));
}

void allocator::give_back_large(std::byte* begin, std::size_t bytes) {
  const auto behind = ranges_.lower_bound(begin);
  if (behind != ranges_.begin()) {
    const auto [before, length] = *std::prev(behind);
    if (before + length == begin) {
      remove_range(before, length);
      begin = before;
      bytes += length;
    }
  }
  if (const auto next = ranges_.find(begin + bytes); next != ranges_.end()) {
    const std::size_t length = next->second;
    remove_range(begin + bytes, length);
    bytes += length;
  }
  if (begin + bytes == begin_ + used_) {
    used_ -= bytes;
  } else {
    add_range(begin, bytes);
  }
}

void allocator::add_range(std::byte* begin, std::size_t bytes) {
  ranges_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

void allocator::remove_range(std::byte* begin, std::size_t bytes) {
  ranges_.erase(begin);
  by_size_.erase({bytes, begin});
}

}  // namespace tutti::vcode
