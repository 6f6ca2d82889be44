// SPDX-License-Identifier: Apache-2.0
// The state that the participants of a communicator share in idle(). The detector's word and the
// release word lie on one line. Each participant has the word that it waits at, the value that it
// gives, and what others may ask about it.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/comm/wait_points.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

// A release word: the number of episodes that are over, whether the last one was unanimous, and
// whether a participant has left for good.
struct release_word {
  std::uint64_t word = 0;

  static constexpr release_word of(std::uint64_t episodes, bool is_unanimous) noexcept {
    return {episodes << 2 | (is_unanimous ? 2u : 0u)};
  }
  static constexpr std::uint64_t broken = 1;
  constexpr std::uint64_t episodes() const noexcept { return word >> 2; }
  constexpr bool is_unanimous() const noexcept { return (word & 2) != 0; }
  constexpr bool is_broken() const noexcept { return (word & broken) != 0; }
};

// A participant is idle in an episode (numbered from 1), or in one of these states. `late`: its
// last idle_for() has returned because the deadline passed.
namespace whereabouts {
inline constexpr std::uint64_t running = 0, gone = UINT64_MAX, late = UINT64_MAX - 1;
}

template <class Memory, class Wait, class Detector, class Slot>
class shared_state {
  template <class T>
  using atomic = typename Memory::template atomic<T>;
  template <class T>
  using plain = typename Memory::template plain<T>;

 public:
  // The state of one participant that the others may read. Only its owner writes it.
  struct alignas(cache_line) rank_slot {
    atomic<std::uint64_t> is_where{whereabouts::running};
    // The messages received and not released when the participant last entered idle().
    atomic<std::uint64_t> holds{0};
    // The value given at entry.
    plain<Slot> value{};
    // Identifies the types of the value and of its operation; calls with checks compare them.
    plain<const void*> type = nullptr;
  };

  // `make_detector()` returns the detector in place, because a detector cannot be moved.
  template <class Make>
  shared_state(wait_points<Memory, Wait>& at, Make make_detector)
      : entrance(at), detector(make_detector()), slots_(at.size()) {}

  rank_t participants() const noexcept { return entrance.size(); }
  rank_slot& of(rank_t rank) noexcept { return slots_[rank]; }

  release_word look() const noexcept {
    // acquire: pairs with the release; what any participant did before the episode's end is visible
    // after it.
    return {released_.load(Memory::order("idle.look", acquire))};
  }

  // Ends an episode. The participant that found the episode over calls this.
  void release_all(rank_t me, std::uint64_t episodes, bool is_unanimous) noexcept {
    detector.begin(episodes);
    // seq_cst: release publishes everybody's work, the aggregate and the counter; the one order
    // puts it before the checks for sleepers.
    // relaxed: the exchange below changes this value or finds another one.
    std::uint64_t word = released_.load(relaxed);
    // The `broken` bit must survive: a participant can leave while this is written, if an earlier
    // report of its ends the episode.
    while (!released_.compare_exchange_weak(
        word, release_word::of(episodes, is_unanimous).word | (word & release_word::broken),
        // relaxed: a failure looks again.
        Memory::order("idle.release", seq_cst), relaxed)) {
    }
    entrance.wake_all(me);
  }

  // Marks participant `me` as gone for good. An episode may end at the same time, because of what
  // `me` reported before a deadline passed.
  void break_up(rank_t me) noexcept {
    // relaxed: only error messages read it; the update that follows orders it.
    of(me).is_where.store(whereabouts::gone, relaxed);
    // relaxed: the exchange below changes it.
    std::uint64_t word = released_.load(relaxed);
    // The bit is set and everybody is called even if another participant has left before: a
    // participant that waits for room to send to this one must see that it has gone.
    // seq_cst: as in release_all.
    // relaxed: a failure looks again.
    while (!released_.compare_exchange_weak(word, word | release_word::broken,
                                            Memory::order("idle.release", seq_cst), relaxed)) {
    }
    entrance.wake_all(me);
  }

  // Which participants keep this episode from ending, as far as `me` knows after its own deadline
  // has passed.
  std::vector<absentee> missing(rank_t me, std::uint64_t episode) {
    std::vector<absentee> found;
    for (rank_t rank = 0; rank < participants(); ++rank) {
      // relaxed: a snapshot for a message.
      const std::uint64_t where = of(rank).is_where.load(relaxed);
      // relaxed: as above.
      const std::uint64_t held = of(rank).holds.load(relaxed);
      if (where == whereabouts::gone)
        found.push_back({rank, absence::gone, 0});
      else if (where != episode && where != whereabouts::late && rank != me)
        found.push_back({rank, absence::running, 0});
      else if (held != 0)
        found.push_back({rank, absence::holding, held});
      else if (where == whereabouts::late && rank != me)
        found.push_back({rank, absence::late, 0});
    }
    return found;
  }

  wait_points<Memory, Wait>& entrance;
  // The detector lies on one line with the release word. The participant that detects has the line
  // already, and those who wait fetch both at once.
  alignas(cache_line) Detector detector;

 private:
  atomic<std::uint64_t> released_{0};

 public:
  // The result of an episode with values. It is overwritten when the next episode is over, which
  // cannot happen before every participant has read it.
  alignas(cache_line) plain<Slot> result{};

 private:
  array<rank_slot> slots_;
};

}  // namespace tutti
