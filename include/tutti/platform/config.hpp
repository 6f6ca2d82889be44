// SPDX-License-Identifier: Apache-2.0
// The names and constants that every other header uses.
#pragma once

// The second #include names no file: it ends the compilation, so that no other errors follow.
#if __cplusplus <= 201703L
#error "tutti needs C++20: compile with -std=c++20 or a later standard."
#include "tutti/platform/the_error_above"
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>

// If TUTTI_CHECKS is 1, misuse is reported where it happens: a rank out of range, two threads with
// one rank, a barrier destroyed while threads wait in it. It follows NDEBUG unless the program
// defines it.
#ifndef TUTTI_CHECKS
#ifdef NDEBUG
#define TUTTI_CHECKS 0
#else
#define TUTTI_CHECKS 1
#endif
#endif

#if defined(__STDC_HOSTED__) && __STDC_HOSTED__ && defined(__linux__)
#define TUTTI_HOSTED 1
#else
#define TUTTI_HOSTED 0
#endif

namespace tutti {

// The number of a participant in its group, 0 .. n-1.
using rank_t = std::uint32_t;
// Replaces the rank for algorithms that accept threads without one.
inline constexpr rank_t any_rank = ~rank_t{0};

// The distance in bytes that the data of two writers must keep. It is twice the cache line of most
// CPUs, because Intel's L2 fetches lines in pairs and several 64-bit Arm cores have lines of 128
// bytes.
inline constexpr std::size_t cache_line = 128;

// Short names of the memory orders, because every atomic operation here writes its own.
inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

}  // namespace tutti
