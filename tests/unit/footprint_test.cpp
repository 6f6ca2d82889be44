// SPDX-License-Identifier: Apache-2.0
// Compares the memory of a tutti::barrier, including its heap, with that of std::barrier, and
// checks that memory needed late is taken when it is needed, once.
#define TUTTI_CHECKS 0

#include <gtest/gtest.h>

#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>
#include <type_traits>
#include <vector>

#include "tutti/barrier/barrier.hpp"

namespace {

// The bytes that this thread has allocated and not freed; a block's size is stored before the
// block.
thread_local std::ptrdiff_t bytes_on_heap = 0;

void* take(std::size_t size, std::size_t alignment) {
  const std::size_t header =
      alignment < sizeof(std::max_align_t) ? sizeof(std::max_align_t) : alignment;
  const std::size_t rounded = (size + header - 1) / header * header;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(header, header + rounded));
  if (block == nullptr) throw std::bad_alloc();
  bytes_on_heap += static_cast<std::ptrdiff_t>(size);
  *reinterpret_cast<std::size_t*>(block + header - sizeof(std::size_t)) = size;
  return block + header;
}

void give_back(void* memory, std::size_t alignment) noexcept {
  if (memory == nullptr) return;
  const std::size_t header =
      alignment < sizeof(std::max_align_t) ? sizeof(std::max_align_t) : alignment;
  auto* const bytes = static_cast<std::byte*>(memory);
  bytes_on_heap -=
      static_cast<std::ptrdiff_t>(*reinterpret_cast<std::size_t*>(bytes - sizeof(std::size_t)));
  std::free(bytes - header);
}

constexpr std::size_t plain = alignof(std::max_align_t);
std::size_t of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t size) { return take(size, plain); }
void* operator new[](std::size_t size) { return take(size, plain); }
void* operator new(std::size_t size, std::align_val_t a) { return take(size, of(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take(size, of(a)); }
void operator delete(void* p) noexcept { give_back(p, plain); }
void operator delete[](void* p) noexcept { give_back(p, plain); }
void operator delete(void* p, std::size_t) noexcept { give_back(p, plain); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p, plain); }
void operator delete(void* p, std::align_val_t a) noexcept { give_back(p, of(a)); }
void operator delete[](void* p, std::align_val_t a) noexcept { give_back(p, of(a)); }
void operator delete(void* p, std::size_t, std::align_val_t a) noexcept { give_back(p, of(a)); }
void operator delete[](void* p, std::size_t, std::align_val_t a) noexcept { give_back(p, of(a)); }

namespace {

using tutti::rank_t;
using bare = tutti::barrier<>;

constexpr auto do_nothing = []() noexcept {};
struct striped : tutti::striped_barrier<> {
  explicit striped(std::ptrdiff_t n) : striped_barrier(static_cast<rank_t>(n)) {}
};
using with_completion = tutti::barrier<std::remove_const_t<decltype(do_nothing)>>;

constexpr auto use_nothing = [](auto&, std::ptrdiff_t) {};
constexpr auto arrive_with_ranks = [](auto& sync, std::ptrdiff_t n) {
  for (rank_t rank = 0; rank < static_cast<rank_t>(n); ++rank) (void)sync.arrive_as(rank);
};
constexpr auto drop_one = [](auto& sync, std::ptrdiff_t) { sync.arrive_and_drop(); };

// The memory of a barrier for n: the object, and the heap after it has been used.
template <class Barrier, class Use = decltype(use_nothing)>
std::ptrdiff_t bytes_of(std::ptrdiff_t n, Use use = {}) {
  const std::ptrdiff_t before = bytes_on_heap;
  std::ptrdiff_t heap = 0;
  {
    Barrier sync(n);
    use(sync, n);
    heap = bytes_on_heap - before;
  }
  EXPECT_EQ(bytes_on_heap, before) << "all is given back";
  return heap + static_cast<std::ptrdiff_t>(sizeof(Barrier));
}

template <class Use = decltype(use_nothing)>
std::ptrdiff_t std_bytes(std::ptrdiff_t n, Use use = {}) {
  return bytes_of<std::barrier<>>(n, use);
}

constexpr std::ptrdiff_t line = tutti::cache_line;

TEST(Footprint, IsCounted) {
  const std::ptrdiff_t before = bytes_on_heap;
  // The compiler must not leave this out.
  void* const block = ::operator new(100);
  EXPECT_EQ(bytes_on_heap - before, 100);
  ::operator delete(block);
  EXPECT_GE(std_bytes(1000), 32'000)
      << "std::barrier has half a line of 64 bytes for each participant";
}

TEST(Footprint, OfTicketsIsThreeLinesAtMost) {
  const rank_t cpus = tutti::platform::usable_cpus();
  for (const std::ptrdiff_t n : {1, 2, 3, 5, 8, 9, 17, 64, 1000, 65535}) {
    // These use stripes.
    if (n > 4 && static_cast<rank_t>(n) <= cpus) continue;
    EXPECT_LE(bytes_of<bare>(n), 3 * line) << "n = " << n;
    EXPECT_LE(bytes_of<bare>(n, drop_one), 3 * line) << "a drop takes nothing; n = " << n;
    if (n > 8) {
      EXPECT_LE(bytes_of<bare>(n), 2 * std_bytes(n)) << "n = " << n;
    }
  }
}

TEST(Footprint, WithRanksIsTwiceThatOfStdAtMost) {
  const rank_t cpus = tutti::platform::usable_cpus();
  for (std::ptrdiff_t n = 1; n <= 1000; n = n < 20 ? n + 1 : n * 3 / 2) {
    const std::ptrdiff_t bytes = bytes_of<bare>(n, arrive_with_ranks);
    if (n <= 8) {
      EXPECT_LE(bytes, (3 + n) * line) << "a line for each rank; n = " << n;
    } else if (static_cast<rank_t>(n) > cpus) {
      EXPECT_LE(bytes, 2 * std_bytes(n)) << "n = " << n;
    }
  }
}

// The counters of a tree of fan 4.
std::ptrdiff_t counters_for(std::ptrdiff_t n) {
  std::ptrdiff_t all = 0;
  do all += n = (n + 3) / 4;
  while (n > 1);
  return all;
}

// A line for each counter, and a release word: the number of lines does not depend on which ranks
// come. From 48 participants on it is at most twice that of std::barrier.
TEST(Footprint, OfStripesIsALineForEachCounter) {
  for (const std::ptrdiff_t n : {6, 9, 16, 20, 48, 64, 1000}) {
    const std::ptrdiff_t bytes = bytes_of<striped>(n);
    EXPECT_LE(bytes, (5 + counters_for(n)) * line) << "n = " << n;
    if (n >= 48) {
      EXPECT_LE(bytes, 2 * std_bytes(n)) << "n = " << n;
    }
  }
}

// More participants than CPUs need no tree.
TEST(Footprint, OfACompletionFunctionIsOneCounterAmongSharedCpus) {
  for (const std::ptrdiff_t n : {5, 8, 64, 1000})
    if (static_cast<rank_t>(n) > tutti::platform::usable_cpus()) {
      EXPECT_LE(bytes_of<with_completion>(n), 8 * line) << "n = " << n;
    }
}

// The first ranks come together: one of them makes the records, and nothing is lost.
TEST(Footprint, RanksThatComeTogetherMakeTheRecordsOnce) {
  for (int round = 0; round < 200; ++round) {
    constexpr rank_t n = 3;
    bare sync(n);
    std::vector<std::thread> threads;
    for (rank_t rank = 0; rank < n; ++rank)
      threads.emplace_back([&sync, rank] { sync.arrive_and_wait(rank); });
    for (auto& thread : threads) thread.join();
    const auto told = sync.arrive_and_wait_for(1, std::chrono::seconds(0));
    EXPECT_EQ(told.phase, 1u);
    EXPECT_EQ(told.missing_ranks, (std::vector<rank_t>{0, 2}));
  }
}

}  // namespace
