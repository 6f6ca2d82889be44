// SPDX-License-Identifier: Apache-2.0
// The software barriers against which barwait is measured, as fast as this machine allows: data
// that only one core accesses (episode, addresses, the schedule) lie in its local memory, and each
// flag lies in the bank beside the core that polls it. tutti's schedules give the order of signals.
#pragma once

#include <cstdint>

#include "machine.h"
#include "tutti/schedule/dissemination.hpp"
#include "tutti/schedule/tournament.hpp"

namespace software {

using word = std::atomic<std::uint32_t>;

// Enough for 16 cores.
inline constexpr std::uint32_t most_rounds = 4;
// The layout of the programs' data in the shared memory.
// A line in each bank.
inline constexpr std::uint32_t row = BANKS * LINE;
inline constexpr std::uint32_t index_at = USER_SHARED;
inline constexpr std::uint32_t slots_at = index_at + row;
inline constexpr std::uint32_t object_at = slots_at + row;
inline constexpr std::uint32_t heap_at = object_at + 8 * row;
inline constexpr std::uint32_t flags_at = heap_at + 56 * row;
inline constexpr std::uint32_t cells_at = flags_at + (most_rounds + 1) * row;
// Bytes of 2048 cells.
inline constexpr std::uint32_t grid = 4 * row;
static_assert(cells_at + 2 * grid <= SHARED + SHARED_SIZE, "the shared memory is too small");

// Returns line number `k` of those in the bank beside `core`.
inline word& flag(std::uint32_t core, std::uint32_t k) {
  return *reinterpret_cast<word*>(flags_at + (k * BANKS + core) * LINE);
}

inline void await(const word& at, std::uint32_t episode) {
  // acquire: pairs with the release of the core that stores the episode.
  while (static_cast<std::int32_t>(at.load(tutti::acquire) - episode) < 0) {
  }
}

// A sense-reversing central barrier (tutti/barrier/central.hpp).
class central {
 public:
  central(std::uint32_t n, std::uint32_t) : n_(n) {}

  // One core calls this once, before the first episode.
  // relaxed: the barwait that follows publishes it.
  void prepare() { remaining_.store(n_, tutti::relaxed); }

  void arrive_and_wait() {
    const std::uint32_t sense = ++episode_ & 1u;
    // acq_rel: hands this core's work to the last arriver, and all other work to it.
    if (remaining_.fetch_sub(1, tutti::acq_rel) == 1) {
      // relaxed: read again only after the release below.
      remaining_.store(n_, tutti::relaxed);
      // release: publishes all cores' work and the restored count.
      sense_.store(sense, tutti::release);
      return;
    }
    // acquire: pairs with the last arriver's release.
    while (sense_.load(tutti::acquire) != sense) {
    }
  }

 private:
  std::uint32_t n_, episode_ = 0;
  word& remaining_ = flag(0, 0);
  word& sense_ = flag(1, 0);
};

// A tournament barrier (tutti/barrier/tournament.hpp).
class tournament {
 public:
  tournament(std::uint32_t n, std::uint32_t rank) {
    const tutti::schedule::tournament game(n);
    const std::uint32_t won = game.rounds_won(rank);
    for (std::uint32_t round = 0; round < won; ++round)
      if (game.has_opponent(round, rank)) {
        lost_[beaten_] = &flag(rank, 1 + round);
        wake_[beaten_++] = &flag(game.opponent(round, rank), 0);
      }
    if (rank != 0) {
      report_ = &flag(game.winner_over(rank), 1 + won);
      released_ = &flag(rank, 0);
    }
  }
  void prepare() {}

  void arrive_and_wait() {
    const std::uint32_t episode = ++episode_;
    for (std::uint32_t i = 0; i < beaten_; ++i) await(*lost_[i], episode);
    if (report_ != nullptr) {
      // release: publishes this core's work and that of all cores that reported to it.
      report_->store(episode, tutti::release);
      await(*released_, episode);
    }
    for (std::uint32_t i = beaten_; i-- > 0;)
      // release: passes on all cores' work.
      wake_[i]->store(episode, tutti::release);
  }

 private:
  std::uint32_t episode_ = 0, beaten_ = 0;
  word* lost_[most_rounds]{};
  word* wake_[most_rounds]{};
  word* report_ = nullptr;
  word* released_ = nullptr;
};

// A dissemination barrier of radix 2 (tutti/barrier/dissemination.hpp).
class dissemination {
 public:
  dissemination(std::uint32_t n, std::uint32_t rank) {
    const tutti::schedule::dissemination schedule(n);
    rounds_ = schedule.rounds();
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      ahead_[round] = &flag(schedule.to(round, rank, 1), round);
      mine_[round] = &flag(rank, round);
    }
  }
  void prepare() {}

  void arrive_and_wait() {
    const std::uint32_t episode = ++episode_;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      // release: publishes this core's work and all that it received in earlier rounds.
      ahead_[round]->store(episode, tutti::release);
      await(*mine_[round], episode);
    }
  }

 private:
  std::uint32_t episode_ = 0, rounds_ = 0;
  word* ahead_[most_rounds]{};
  word* mine_[most_rounds]{};
};

}  // namespace software
