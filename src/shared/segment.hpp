// SPDX-License-Identifier: Apache-2.0
// The memory that the processes of a barrier share: a header, the word of the phases, and a slot
// for each participant.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include "tutti/barrier/shared.hpp"
#include "tutti/barrier/shared_phases.hpp"
#include "tutti/platform/across_processes.hpp"
#include "tutti/platform/robust_lock.hpp"
#include "tutti/wait/between_processes.hpp"

namespace tutti::detail::shared {

class onlooker;

// The platform of a participant: `across_processes`, except that whoever waits also looks whether
// another participant has died.
struct robust_memory : across_processes {
  // The onlooker of the running wait. It belongs to the thread, of which another fiber may wait at
  // another barrier during each of the functions below, so they keep it.
  static inline constinit thread_local onlooker* here = nullptr;

  // The participants of this barrier that have waited on a CPU. An address could not tell them
  // apart, because a child has the addresses of its parent.
  struct recent_waiter {
    std::atomic<std::uint32_t>& number;
    std::uint32_t me;
    bool visited_by_another() const noexcept {
      // relaxed: a hint.
      if (number.load(relaxed) == me) return false;
      // relaxed: a hint.
      return number.exchange(me, relaxed) != 0;
    }
  };
  static recent_waiter core() noexcept;
  static void relax() noexcept { keep_here(across_processes::relax); }
  static void relax_long() noexcept;
  static void yield_only() noexcept { keep_here(across_processes::yield); }
  static void yield() noexcept;
  static void park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                   std::uint64_t deadline_ns) noexcept;

 private:
  template <class Wait>
  static void keep_here(Wait wait) noexcept {
    onlooker* const mine = here;
    wait();
    here = mine;
  }
};

using phases = shared_phases<robust_memory, process_wait<robust_memory>>;

struct header {
  static constexpr std::uint64_t magic = 0x7261427469747574;  // "tutiBar" and an r
  static constexpr std::uint32_t layout = 1;

  // Written last by the builder.
  robust_memory::atomic<std::uint64_t> kind{0};
  std::uint32_t version = 0;
  rank_t participants = 0;
  std::uint64_t bytes = 0;
};

// What the others look at while they wait. It changes only when a participant comes or goes.
struct alignas(cache_line / 2) rank_slot {
  platform::robust_lock alive;
  std::atomic<std::int32_t> process{0};
  robust_memory::atomic<bool> has_left{false};
};

// The number of the phase in which a participant has last arrived, plus 1.
struct alignas(cache_line) arrival_count {
  std::atomic<std::uint32_t> value{0};
};

constexpr std::size_t lines(std::size_t bytes) noexcept {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

// The memory of a barrier.
class segment {
 public:
  segment(void* base, rank_t participants) noexcept
      : base_(static_cast<std::byte*>(base)), n_(participants) {}
  // The barrier that check() has found there.
  explicit segment(void* base) noexcept
      : segment(base, static_cast<const header*>(base)->participants) {}

  static std::size_t bytes_for(rank_t n) noexcept {
    return offset_of_counts(n) + n * sizeof(arrival_count);
  }

  void build(patience p) noexcept {
    auto* const head = ::new (base_) header;
    ::new (base_ + offset_of_phases) phases(n_);
    for (std::uint32_t i = 0; i < platform::core_slots; ++i)
      ::new (base_ + offset_of_waiters + i * sizeof(std::uint32_t)) std::atomic<std::uint32_t>(0);
    for (rank_t r = 0; r < n_; ++r)
      ::new (base_ + offset_of_slots + r * sizeof(rank_slot)) rank_slot;
    for (rank_t r = 0; r < n_; ++r) of(r).alive.build();
    for (rank_t r = 0; r < n_; ++r)
      ::new (base_ + offset_of_counts(n_) + r * sizeof(arrival_count)) arrival_count;
    if (!p.is_open()) word().set_patience(p);
    head->version = header::layout;
    head->participants = n_;
    head->bytes = bytes_for(n_);
    // release: publishes the barrier; pairs with check().
    head->kind.store(header::magic, release);
  }

  rank_t participants() const noexcept { return n_; }
  std::byte* base() const noexcept { return base_; }
  phases& word() const noexcept { return *part<phases>(offset_of_phases); }
  std::atomic<std::uint32_t>& waiter_on(std::uint32_t cpu) const noexcept {
    return part<std::atomic<std::uint32_t>>(offset_of_waiters)[cpu % platform::core_slots];
  }
  rank_slot& of(rank_t rank) const noexcept { return part<rank_slot>(offset_of_slots)[rank]; }
  std::atomic<std::uint32_t>& arrivals_of(rank_t rank) const noexcept {
    return part<arrival_count>(offset_of_counts(n_))[rank].value;
  }

  bool has_left(rank_t rank) const noexcept {
    // acquire: pairs with leave().
    return of(rank).has_left.load(acquire);
  }
  std::int32_t process_of(rank_t rank) const noexcept {
    // relaxed: for messages.
    return of(rank).process.load(relaxed);
  }
  bool is_held(rank_t rank) const noexcept {
    return platform::robust_lock::is_held(of(rank).alive.value());
  }
  // Breaks the barrier if the participant has died. Returns true if it has.
  bool report_if_dead(rank_t rank) const noexcept {
    if (!platform::robust_lock::is_dead(of(rank).alive.value()) || has_left(rank)) return false;
    word().break_for(rank, process_of(rank));
    return true;
  }
  // Looks at all participants but `me`. Returns true if the barrier is broken.
  bool report_the_dead(rank_t me = any_rank) const noexcept {
    for (rank_t r = 0; r < n_; ++r)
      if (r != me && report_if_dead(r)) return true;
    return word().is_broken();
  }

 private:
  static constexpr std::size_t offset_of_phases = lines(sizeof(header));
  static constexpr std::size_t offset_of_waiters = offset_of_phases + lines(sizeof(phases));
  static constexpr std::size_t offset_of_slots =
      offset_of_waiters + lines(platform::core_slots * sizeof(std::uint32_t));
  static constexpr std::size_t offset_of_counts(rank_t n) noexcept {
    return offset_of_slots + lines(n * sizeof(rank_slot));
  }
  template <class T>
  T* part(std::size_t offset) const noexcept {
    return std::launder(reinterpret_cast<T*>(base_ + offset));
  }

  std::byte* base_;
  rank_t n_;
};

// Fails unless there is a barrier in the memory. `what` names it in sentences.
void check(const void* memory, std::size_t bytes, const std::string& what);
void check_count(const segment& s, rank_t participants, const std::string& what);

// Returns why nobody should use the barrier, or nothing.
std::optional<shared_barrier_error> complaint(const segment& s, const std::string& what);

}  // namespace tutti::detail::shared
