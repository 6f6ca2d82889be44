// SPDX-License-Identifier: Apache-2.0
// The barriers of library.cpp as a programmer would write them by hand: std::atomic, the same data,
// no policies, and nothing of tutti included.

#include <atomic>
#include <cstddef>
#include <cstdint>

// What every wait of tutti checks: whether this thread carries fibers, and how far apart polls are.
struct fiber_host {
  virtual bool switch_fiber() noexcept = 0;
};
inline constinit thread_local fiber_host* fibers_here = nullptr;
unsigned measure();
inline const unsigned pauses_between_polls = measure();

namespace {

using rank_t = std::uint32_t;
constexpr std::size_t line = 128;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

[[gnu::always_inline]] inline bool switch_fiber() {
  if (fibers_here == nullptr) [[likely]]
    return false;
  return fibers_here->switch_fiber();
}

[[gnu::always_inline]] inline void relax() {
  if (switch_fiber()) return;
  pause();
  for (unsigned i = 1; i < pauses_between_polls; ++i) pause();
}

// The control: a superfluous fence, which the comparison must find.
void superfluous() {
#ifdef TUTTI_CODEGEN_WORSE
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

struct alignas(line) empty_line {};
struct alignas(line) word_on_line {
  std::atomic<std::uint32_t> value;
};
struct alignas(line) count_on_line {
  std::uint32_t episode;
};
template <class T>
struct sized {
  std::size_t size;
  T* items;
  T& operator[](std::size_t i) { return items[i]; }
};

}  // namespace

struct ticket_barrier {
  rank_t participants;
  // For the division by the participants.
  std::uint64_t multiplier;
  std::uint32_t shift;
  sized<empty_line> states;
  alignas(line) std::atomic<std::uint64_t> tickets;
};

void ticket_meet(ticket_barrier& b, rank_t) {
  __extension__ using unsigned_128 = unsigned __int128;
  superfluous();
  const std::uint64_t ticket = b.tickets.fetch_add(1, std::memory_order_seq_cst);
  const auto product = static_cast<unsigned_128>(ticket) * b.multiplier;
  const std::uint64_t end = (static_cast<std::uint64_t>(product >> b.shift) + 1) * b.participants;
  while (b.tickets.load(std::memory_order_acquire) < end) relax();
}

// The ticket barrier within a barrier that has more to offer; rare cases are in other functions.
struct default_barrier {
  alignas(line) std::atomic<std::uint64_t> tickets;
  alignas(line) rank_t participants;
  std::uint64_t multiplier;
  std::uint32_t shift;
  std::atomic<std::uint32_t> rare;
  struct record {
    std::uint32_t leaf;
    std::atomic<std::uint64_t> phases_arrived;
  };
  struct {
    std::atomic<std::byte*> all;
    rank_t ranks;
    std::size_t stride;
    std::byte* make();
  } records;
};
// Where the call stands, for messages; empty in code without checks.
struct place {
  const char* file;
  std::uint64_t line;
};
void meet_otherwise(default_barrier&, place);
void meet_otherwise(default_barrier&, rank_t, place);

void default_meet(default_barrier& b) {
  __extension__ using unsigned_128 = unsigned __int128;
  if (b.rare.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return meet_otherwise(b, place{nullptr, 0});
  superfluous();
  const std::uint64_t ticket = b.tickets.fetch_add(1, std::memory_order_seq_cst);
  const auto product = static_cast<unsigned_128>(ticket) * b.multiplier;
  const std::uint64_t end = (static_cast<std::uint64_t>(product >> b.shift) + 1) * b.participants;
  if (ticket + 1 == end) return;
  while (b.tickets.load(std::memory_order_acquire) < end) relax();
}

void default_meet_as(default_barrier& b, rank_t rank) {
  __extension__ using unsigned_128 = unsigned __int128;
  if (b.rare.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return meet_otherwise(b, rank, place{nullptr, 0});
  std::byte* records = b.records.all.load(std::memory_order_acquire);
  if (records == nullptr) [[unlikely]]
    records = b.records.make();
  auto& mine = *reinterpret_cast<default_barrier::record*>(records + rank * b.records.stride);
  superfluous();
  const std::uint64_t ticket = b.tickets.fetch_add(1, std::memory_order_seq_cst);
  const auto product = static_cast<unsigned_128>(ticket) * b.multiplier;
  const std::uint64_t phase = static_cast<std::uint64_t>(product >> b.shift);
  const std::uint64_t end = (phase + 1) * b.participants;
  mine.phases_arrived.store(phase + 1, std::memory_order_relaxed);
  if (ticket + 1 == end) return;
  while (b.tickets.load(std::memory_order_acquire) < end) relax();
}

struct dissemination_barrier {
  rank_t n, radix, rounds;
  rank_t hops[32], partners[32];
  sized<count_on_line> locals;
  sized<word_on_line> flags;

  rank_t ahead(rank_t rank, rank_t round, rank_t j) const {
    const rank_t there = rank + j * hops[round];
    return there < n ? there : there - n;
  }
  std::atomic<std::uint32_t>& flag(rank_t rank, rank_t round, rank_t j) {
    return flags[std::size_t{rank} * (rounds * (radix - 1)) + round * (radix - 1) + j - 1].value;
  }
};

void dissemination_meet(dissemination_barrier& b, rank_t rank) {
  superfluous();
  const std::uint32_t episode = ++b.locals[rank].episode;
  for (rank_t round = 0; round < b.rounds; ++round) {
    const rank_t partners = b.partners[round];
    for (rank_t j = 1; j <= partners; ++j)
      b.flag(b.ahead(rank, round, j), round, j).store(episode, std::memory_order_release);
    for (rank_t j = 1; j <= partners; ++j) {
      const std::atomic<std::uint32_t>& mine = b.flag(rank, round, j);
      while (static_cast<std::int32_t>(mine.load(std::memory_order_acquire) - episode) < 0) relax();
    }
  }
}
