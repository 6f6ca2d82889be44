// SPDX-License-Identifier: Apache-2.0
// Distributes the work of an instruction over the threads, and lets them agree.
//
// Each operation is written once, for all engines: each() runs a phase in parts, and all parts are
// done when it returns. The code between two phases is executed by the interpreting threads: by one
// thread (lazy and workers), or by every thread with the same values and so with the same effect
// (spmd).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "tutti/platform/interface_base.hpp"
#include "vcode/machine/arena.hpp"
#include "vcode/machine/statistics.hpp"

namespace tutti::vcode {

// The elements of one part. Limits of parts lie on whole cache lines, for every element type.
struct range {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const { return end - begin; }
};

inline range part_of(std::size_t count, unsigned part, unsigned parts) {
  if (parts == 1) return {0, count};
  constexpr std::size_t line = 64;
  const std::size_t lines = (count + line - 1) / line;
  const auto limit = [&](std::size_t p) { return std::min(count, lines * p / parts * line); };
  return {limit(part), limit(part + 1)};
}

// A board on which the threads of the SPMD engine exchange values.
class spmd_board {
 public:
  explicit spmd_board(unsigned ranks) : flags_(ranks) {}

 private:
  friend class executor;
  struct alignas(64) slot {
    std::array<std::uint64_t, 4> word{};
    std::exception_ptr failure;
  };
  struct alignas(64) answers {
    std::array<bool, 2> holds{};
  };
  // One set for odd episodes, one for even ones. A set is written again only after the barrier of
  // the other set, and by then every thread has read it.
  std::array<slot, 2> agreed_;
  std::vector<answers> flags_;
};

// The threads behind an executor (run.cpp): a team, or one rank's place in a region of it.
class executor_threads : public interface_base {
 public:
  // Calls phase(object, part) once for each part, at most one for each rank, and returns when all
  // calls have returned. The caller executes the parts of ranks that are late, so only a rank that
  // is preempted inside a part delays the others.
  virtual void region(unsigned parts, void (*phase)(void* object, unsigned part), void* object) = 0;
  // What the calling thread has done since the start is for those who simulate its time.
  virtual void barrier(const run_statistics& done) = 0;
  // Returns false while more threads would not make work of this size (elements times
  // instructions) faster.
  virtual bool is_worth_sharing(std::size_t /*work*/) { return true; }
};

class executor {
 public:
  // A single thread.
  explicit executor(run_statistics& statistics) : statistics_(statistics) {}
  // A master whose workers wait for regions. Vectors of fewer than `least` elements stay on the
  // master.
  executor(run_statistics& statistics, executor_threads& threads, unsigned size, std::size_t least)
      : statistics_(statistics), threads_(&threads), size_(size), least_(least) {}
  // One of the threads that all interpret. Parts that `memory` frees are kept until the next
  // barrier.
  executor(run_statistics& statistics, executor_threads& threads, unsigned size, unsigned rank,
           spmd_board& board, allocator& memory)
      : statistics_(statistics),
        threads_(&threads),
        board_(&board),
        memory_(&memory),
        size_(size),
        rank_(rank) {
    if (size_ > 1) memory.hold();
  }

  bool is_spmd() const { return board_ != nullptr; }
  unsigned size() const { return size_; }
  // Returns the number of parts into which work on this many elements is cut, by a chain of this
  // many instructions.
  unsigned parts(std::size_t work, std::size_t chain = 1) const {
    if (work < least_) return 1;
    // Without a least number each instruction is to be a region.
    const bool may_choose = least_ > 0 && size_ > 1;
    return !may_choose || threads_->is_worth_sharing(work * chain) ? size_ : 1;
  }

  // Calls phase(part) for each part; returns true if all calls returned true. A phase must not
  // throw.
  template <class Phase>
  bool all(unsigned parts, Phase&& phase) {
    if (is_spmd()) return all_spmd(parts, phase);
    if (parts == 1) return phase(0U);
    return all_workers(parts, phase);
  }
  template <class Phase>
  void each(unsigned parts, Phase&& phase) {
    if (is_spmd()) {
      // No answers: writing them would cost each thread a cache line of every other thread.
      if (rank_ < parts) phase(rank_);
      barrier();
      return;
    }
    all(parts, [&](unsigned part) {
      phase(part);
      return true;
    });
  }

  // Calls a function on one thread (to read a file or a clock) and gives its result, or its
  // exception, to all.
  template <class Function>
  auto agree(Function&& find) -> decltype(find()) {
    using result = decltype(find());
    static_assert(std::is_trivially_copyable_v<result> && sizeof(result) <= 32);
    if (!is_spmd()) return find();
    auto& slot = board_->agreed_[episode_ % 2];
    if (rank_ == 0) {
      try {
        const result found = find();
        std::memcpy(slot.word.data(), &found, sizeof found);
      } catch (...) {
        slot.failure = std::current_exception();
      }
    }
    barrier();
    if (slot.failure != nullptr) std::rethrow_exception(slot.failure);
    result agreed{};
    std::memcpy(&agreed, slot.word.data(), sizeof agreed);
    return agreed;
  }
  // Does the same for a function without a result.
  template <class Function>
  void once(Function&& act) {
    agree([&] {
      act();
      return true;
    });
  }

  // In the SPMD engine: waits until all threads have arrived. In the others: does nothing.
  void meet() {
    if (is_spmd()) barrier();
  }

  // In the SPMD engine: the barrier at the end of every instruction.
  void end_instruction() {
    if (!is_spmd()) return;
    if (episode_ == episode_at_start_) barrier();
    episode_at_start_ = episode_;
  }

 private:
  template <class Phase>
  bool all_spmd(unsigned parts, Phase&& phase) {
    const std::size_t parity = episode_ % 2;
    board_->flags_[rank_].holds[parity] = rank_ >= parts || phase(rank_);
    barrier();
    bool result = true;
    for (unsigned r = 0; r < parts; ++r) result = result && board_->flags_[r].holds[parity];
    return result;
  }

  template <class Phase>
  bool all_workers(unsigned parts, Phase&& phase) {
    ++statistics_.barriers;
    answers_.resize(static_cast<std::size_t>(size_) * 64);
    struct work {
      std::remove_reference_t<Phase>& phase;
      std::uint8_t* answers;
    } shared{phase, answers_.data()};
    threads_->region(
        parts,
        [](void* object, unsigned part) {
          work& w = *static_cast<work*>(object);
          w.answers[static_cast<std::size_t>(part) * 64] = w.phase(part);
        },
        &shared);
    bool result = true;
    for (unsigned part = 0; part < parts; ++part)
      result = result && answers_[static_cast<std::size_t>(part) * 64];
    return result;
  }

  void barrier() {
    threads_->barrier(statistics_);
    ++episode_;
    ++statistics_.barriers;
    memory_->release();
  }

  run_statistics& statistics_;
  executor_threads* threads_ = nullptr;
  spmd_board* board_ = nullptr;
  allocator* memory_ = nullptr;
  unsigned size_ = 1;
  unsigned rank_ = 0;
  std::size_t least_ = 0;
  std::uint64_t episode_ = 0;
  std::uint64_t episode_at_start_ = 0;
  // The answers of the parts, each on its own cache line.
  std::vector<std::uint8_t> answers_;
};

}  // namespace tutti::vcode
