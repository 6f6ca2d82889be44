// SPDX-License-Identifier: Apache-2.0
// Memory allocators. All memory spaces are ordinary memory, as in libgomp without special devices,
// but allocators for memory of high bandwidth cannot be made.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/threads.hpp"

using namespace tutti::openmp;

namespace {

struct trait {
  int key;
  std::uintptr_t value;
};
enum : int {
  key_sync = 1,
  key_alignment,
  key_access,
  key_pool,
  key_fallback,
  key_fallback_data,
  key_pinned,
  key_partition
};
enum : std::uintptr_t {
  fall_back_to_default = 11,
  fall_back_to_null,
  fall_back_to_abort,
  fall_back_to_other
};

struct allocator {
  std::uintptr_t alignment = 1;
  std::uintptr_t pool = UINTPTR_MAX;
  std::uintptr_t fallback = fall_back_to_default;
  std::uintptr_t other = 0;
  std::atomic<std::uintptr_t> used{0};
};

// Stands in front of each block.
struct header {
  void* block;
  std::size_t size;
  std::uintptr_t from;
};

// Smaller numbers are predefined allocators: 1 to 8 of OpenMP, 100 to 102 of LLVM, 200 of GCC 15.
// All of them have ordinary memory here, also those that this runtime does not know.
constexpr std::uintptr_t last_predefined = 1023;

// `returned` is what the caller gives back to the same pool if it gets memory of it. Allocators may
// fall back to each other in a circle, which ends after `fallbacks`.
void* take(std::size_t align, std::size_t size, std::uintptr_t from, bool clears,
           std::size_t returned = 0, int fallbacks = 100) {
  if (size == 0) return nullptr;
  if (from == 0) from = env(self()).allocator;
  auto* const a = from > last_predefined ? reinterpret_cast<allocator*>(from) : nullptr;
  std::size_t wanted = std::max(align, alignof(std::max_align_t));
  if (a != nullptr) wanted = std::max<std::size_t>(wanted, a->alignment);
  std::size_t total = 0;
  void* block = nullptr;
  if (!__builtin_add_overflow(size, sizeof(header) + wanted, &total)) {
    bool has_room = true;
    if (a != nullptr && a->pool != UINTPTR_MAX) {
      // relaxed: a count.
      std::uintptr_t used = a->used.load(tutti::relaxed), after = 0;
      do {
        has_room = !__builtin_add_overflow(used - returned, size, &after) && after <= a->pool;
        // relaxed: a count.
      } while (has_room &&
               !a->used.compare_exchange_weak(used, after, tutti::relaxed, tutti::relaxed));
    }
    if (has_room) {
      block = clears ? std::calloc(1, total) : std::malloc(total);
      if (block == nullptr && a != nullptr && a->pool != UINTPTR_MAX)
        // relaxed: a count.
        a->used.fetch_sub(size - returned, tutti::relaxed);
    }
  }
  if (block == nullptr) {
    if (a == nullptr) return nullptr;
    switch (a->fallback) {
      case fall_back_to_null: return nullptr;
      case fall_back_to_abort:
        fatal("Out of memory allocating %lu bytes", static_cast<unsigned long>(size));
      case fall_back_to_other:
        return fallbacks == 0 ? nullptr : take(wanted, size, a->other, clears, 0, fallbacks - 1);
      default: return take(wanted, size, 1, clears);
    }
  }
  const auto at =
      (reinterpret_cast<std::uintptr_t>(block) + sizeof(header) + wanted - 1) / wanted * wanted;
  auto* const result = reinterpret_cast<void*>(at);
  static_cast<header*>(result)[-1] = {block, size, from};
  return result;
}

const header& header_of(const void* at) { return static_cast<const header*>(at)[-1]; }

void give_back(void* at) {
  if (at == nullptr) return;
  const header h = header_of(at);
  if (h.from > last_predefined) {
    auto* const a = reinterpret_cast<allocator*>(h.from);
    // relaxed: a count.
    if (a->pool != UINTPTR_MAX) a->used.fetch_sub(h.size, tutti::relaxed);
  }
  std::free(h.block);
}

bool is_default_or_in(std::uintptr_t value, std::uintptr_t first, std::uintptr_t last) {
  return value == UINTPTR_MAX || (value >= first && value <= last);
}

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

TUTTI_OMP std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const trait* traits) {
  constexpr std::uintptr_t high_bandwidth = 3, last_space = 4;
  if (space > last_space || space == high_bandwidth) return 0;
  auto* const made = new allocator;
  bool is_right = true;
  for (int i = 0; i < count; ++i) {
    const std::uintptr_t value = traits[i].value;
    const auto set = [&](std::uintptr_t& to, std::uintptr_t default_value, bool is_allowed) {
      const bool is_default = value == UINTPTR_MAX;
      if (is_default || is_allowed)
        to = is_default ? default_value : value;
      else
        is_right = false;
    };
    switch (traits[i].key) {
      case key_alignment: set(made->alignment, sizeof(void*), is_power_of_two(value)); break;
      case key_pool: made->pool = value; break;
      case key_fallback:
        set(made->fallback, fall_back_to_default,
            value >= fall_back_to_default && value <= fall_back_to_other);
        break;
      case key_fallback_data: made->other = value; break;
      case key_pinned:
        // Memory cannot be pinned, as in libgomp 12.
        is_right = is_right && is_default_or_in(value, 0, 0);
        break;
      // They change nothing here, but their values are checked, as in libgomp.
      case key_sync: is_right = is_right && is_default_or_in(value, 3, 6); break;
      case key_access: is_right = is_right && is_default_or_in(value, 7, 10); break;
      case key_partition: is_right = is_right && is_default_or_in(value, 15, 18); break;
      default: is_right = false;
    }
  }
  if (is_right) return reinterpret_cast<std::uintptr_t>(made);
  delete made;
  return 0;
}
TUTTI_OMP std::uintptr_t omp_init_allocator_(const std::uintptr_t* space, const int* count,
                                             const trait* traits) {
  return omp_init_allocator(*space, *count, traits);
}
TUTTI_OMP std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space, const long* count,
                                               const trait* traits) {
  return omp_init_allocator(*space, static_cast<int>(*count), traits);
}
TUTTI_OMP void omp_destroy_allocator(std::uintptr_t a) {
  if (a > last_predefined) delete reinterpret_cast<allocator*>(a);
}
TUTTI_OMP void omp_destroy_allocator_(const std::uintptr_t* a) { omp_destroy_allocator(*a); }
TUTTI_OMP void omp_set_default_allocator(std::uintptr_t a) {
  env_to_change(self()).allocator = a == 0 ? 1 : a;
}
TUTTI_OMP void omp_set_default_allocator_(const std::uintptr_t* a) {
  omp_set_default_allocator(*a);
}
TUTTI_OMP std::uintptr_t omp_get_default_allocator() { return env(self()).allocator; }
TUTTI_OMP std::uintptr_t omp_get_default_allocator_() { return env(self()).allocator; }

TUTTI_OMP void* omp_alloc(std::size_t size, std::uintptr_t a) { return take(1, size, a, false); }
TUTTI_OMP void* omp_aligned_alloc(std::size_t align, std::size_t size, std::uintptr_t a) {
  return is_power_of_two(align) ? take(align, size, a, false) : nullptr;
}
TUTTI_OMP void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t a) {
  std::size_t total = 0;
  return __builtin_mul_overflow(count, size, &total) ? nullptr : take(1, total, a, true);
}
TUTTI_OMP void* omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size,
                                   std::uintptr_t a) {
  std::size_t total = 0;
  if (!is_power_of_two(align) || __builtin_mul_overflow(count, size, &total)) return nullptr;
  return take(align, total, a, true);
}
TUTTI_OMP void omp_free(void* at, std::uintptr_t) { give_back(at); }
TUTTI_OMP void* omp_realloc(void* at, std::size_t size, std::uintptr_t a, std::uintptr_t) {
  if (at == nullptr) return take(1, size, a, false);
  if (size == 0) {
    give_back(at);
    return nullptr;
  }
  const header h = header_of(at);
  if (a == 0) a = h.from;
  void* const moved = take(1, size, a, false, a == h.from ? h.size : 0);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, at, std::min(size, h.size));
  // The pool has got the old block back already.
  if (a == h.from && header_of(moved).from == a)
    std::free(h.block);
  else
    give_back(at);
  return moved;
}

TUTTI_OMP void* GOMP_alloc(std::size_t align, std::size_t size, std::uintptr_t a) {
  void* const made = take(align, std::max<std::size_t>(size, 1), a, false);
  if (made == nullptr)
    fatal("Out of memory allocating %lu bytes", static_cast<unsigned long>(size));
  return made;
}
TUTTI_OMP void GOMP_free(void* at, std::uintptr_t) { give_back(at); }
