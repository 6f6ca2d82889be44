// SPDX-License-Identifier: Apache-2.0
// Memory by NUMA node: blocks whose sizes are powers of two, from the node of the calling core, or
// from another one if that has none left. A block is aligned to its size.
#pragma once

#include <new>

#include "kernel/arch/machine.hpp"

namespace tutti::kernel {

// Hands the machine's memory to the allocator. Call it once, first.
void start_memory() noexcept;

// Ends the kernel with a panic if there is no memory. Thread-safe, also in handlers.
void* allocate_aligned(u64 alignment, u64 bytes) noexcept;
inline void* allocate(u64 bytes) noexcept { return allocate_aligned(16, bytes); }
// The same from this node or, if it has none left, from another one.
void* allocate_near(u32 node, u64 alignment, u64 bytes) noexcept;
// Returns null if there is no memory.
void* try_allocate(u64 alignment, u64 bytes) noexcept;
void give_back(void* block) noexcept;

// The bytes of the block, which may be more than were asked for.
u64 size_of_block(const void* block) noexcept;
u32 node_of_block(const void* block) noexcept;
u64 free_bytes(u32 node) noexcept;

}  // namespace tutti::kernel
