// SPDX-License-Identifier: Apache-2.0
// A buddy allocator for each range of memory: a free block of 2^k bytes has a buddy of the same
// size, and two free buddies become one block. A table with a byte for each unit of 64 bytes tells
// what begins there.
#include "kernel/core/memory.hpp"

#include "kernel/core/core.hpp"
#include "kernel/core/list.hpp"
#include "kernel/core/lock.hpp"
#include "kernel/core/panic.hpp"

namespace tutti::kernel {

namespace {

constexpr u32 unit_order = 6, most_order = 30;
constexpr u64 unit = u64{1} << unit_order;
// What the table says of a unit: nothing begins there, or a free or a used block of an order.
constexpr u8 nothing = 0, is_free = 0x40, is_used = 0x80, order_bits = 0x3F;

struct free_block {
  free_block* next;
  free_block* previous;
};

struct region {
  u64 begin = 0, end = 0;
  u32 node = 0;
  u8* table = nullptr;
  u64 free_bytes = 0;
  list<free_block> free_blocks[most_order + 1];
  spin_lock lock;

  u8& entry(u64 address) noexcept { return table[(address - begin) >> unit_order]; }

  void put(u64 address, u32 order) noexcept {
    entry(address) = static_cast<u8>(is_free | order);
    free_blocks[order].append(*reinterpret_cast<free_block*>(address));
  }
  void remove(u64 address, u32 order) noexcept {
    entry(address) = nothing;
    free_blocks[order].remove(*reinterpret_cast<free_block*>(address));
  }

  u64 take(u32 order) noexcept {
    u32 from = order;
    while (from <= most_order && free_blocks[from].is_empty()) ++from;
    if (from > most_order) return 0;
    const u64 address = address_of(free_blocks[from].first());
    remove(address, from);
    while (from > order) {
      --from;
      put(address + (u64{1} << from), from);
    }
    entry(address) = static_cast<u8>(is_used | order);
    free_bytes -= u64{1} << order;
    return address;
  }

  void give(u64 address) noexcept {
    if ((entry(address) & is_used) == 0) panic("memory that was not allocated is freed");
    u32 order = entry(address) & order_bits;
    entry(address) = nothing;
    free_bytes += u64{1} << order;
    for (; order < most_order; ++order) {
      const u64 buddy = address ^ u64 { 1 } << order;
      if (buddy < begin || buddy + (u64{1} << order) > end) break;
      if (entry(buddy) != (is_free | order)) break;
      remove(buddy, order);
      address = address < buddy ? address : buddy;
    }
    put(address, order);
  }
};

region regions[64];
u32 region_count = 0;

region* region_of(u64 address) noexcept {
  for (u32 i = 0; i < region_count; ++i)
    if (regions[i].begin <= address && address < regions[i].end) return &regions[i];
  return nullptr;
}

void add_region(u64 begin, u64 end, u32 node) noexcept {
  constexpr u64 page = 4096, least = 64 * page;
  if (end - begin < least || region_count == 64) return;
  // The table lies at the end of the range itself.
  const u64 table_bytes = ((end - begin) / unit + page - 1) / page * page;
  region& r = regions[region_count++];
  r.begin = begin;
  r.end = end - table_bytes;
  r.node = node;
  r.table = reinterpret_cast<u8*>(r.end);
  for (u64 i = 0; i < table_bytes; ++i) r.table[i] = nothing;
  // The largest blocks that their addresses allow.
  for (u64 at = r.begin; at < r.end;) {
    u32 order = most_order;
    while (at % (u64{1} << order) != 0 || at + (u64{1} << order) > r.end) --order;
    r.put(at, order);
    r.free_bytes += u64{1} << order;
    at += u64{1} << order;
  }
}

// Returns more than most_order for what no block can hold.
u32 order_of(u64 alignment, u64 bytes) noexcept {
  const u64 size = alignment > bytes ? alignment : bytes;
  u32 order = unit_order;
  while (order <= most_order && (u64{1} << order) < size) ++order;
  return order;
}

void* take_from(u32 node, bool exactly, u32 order) noexcept {
  if (order > most_order) return nullptr;
  for (u32 i = 0; i < region_count; ++i) {
    region& r = regions[i];
    if ((r.node == node) != exactly) continue;
    const locked hold(r.lock);
    if (const u64 address = r.take(order)) return reinterpret_cast<void*>(address);
  }
  return nullptr;
}

void* take_near(u32 node, u64 alignment, u64 bytes) noexcept {
  const u32 order = order_of(alignment, bytes);
  if (void* block = take_from(node, true, order)) return block;
  return take_from(node, false, order);
}

}  // namespace

void start_memory() noexcept {
  const machine::description& d = machine::described();
  constexpr u64 addressable = u64{64} << 30;
  for (u32 i = 0; i < d.memory_ranges; ++i) {
    const machine::memory_range& m = d.memory[i];
    const u64 end = m.end < addressable ? m.end : addressable;
    if (m.begin < end) add_region(m.begin, end, m.node);
  }
  if (region_count == 0) panic("the machine has no memory");
}

void* try_allocate(u64 alignment, u64 bytes) noexcept {
  return take_near(machine::here().node, alignment, bytes);
}

void* allocate_aligned(u64 alignment, u64 bytes) noexcept {
  void* block = try_allocate(alignment, bytes);
  if (block == nullptr) panic("out of memory: ", bytes, " bytes");
  return block;
}

void* allocate_near(u32 node, u64 alignment, u64 bytes) noexcept {
  void* block = take_near(node, alignment, bytes);
  if (block == nullptr) panic("out of memory: ", bytes, " bytes");
  return block;
}

void give_back(void* block) noexcept {
  if (block == nullptr) return;
  const u64 address = address_of(block);
  region* r = region_of(address);
  if (r == nullptr) panic("memory of another owner is freed: ", hex{address});
  const locked hold(r->lock);
  r->give(address);
}

u64 size_of_block(const void* block) noexcept {
  const u64 address = address_of(block);
  region* r = region_of(address);
  return r == nullptr ? 0 : u64{1} << (r->entry(address) & order_bits);
}

u32 node_of_block(const void* block) noexcept {
  region* r = region_of(address_of(block));
  return r == nullptr ? 0 : r->node;
}

u64 free_bytes(u32 node) noexcept {
  u64 sum = 0;
  for (u32 i = 0; i < region_count; ++i)
    if (regions[i].node == node) sum += regions[i].free_bytes;
  return sum;
}

}  // namespace tutti::kernel
