// SPDX-License-Identifier: Apache-2.0
// What the participants of a communicator share in idle(): the detector's word and the release on one line, and for each
// participant what it waits at, what it gives, and what others may ask about it.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/detect/doors.hpp"
#include "tutti/detect/endpoint_concept.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

// What a release says, in one word: how many episodes are over, whether the last one was unanimous, and whether somebody
// has left for good.
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

// Where a participant is: idle in an episode, counted from 1, or one of these.
namespace whereabouts {
inline constexpr std::uint64_t running = 0, gone = UINT64_MAX;
}

template <class Memory, class Wait, class Detector, class Slot>
class assembly {
  template <class T>
  using atomic = typename Memory::template atomic<T>;
  template <class T>
  using plain = typename Memory::template plain<T>;

 public:
  // What others may know of a participant. Written by its owner only.
  struct alignas(cache_line) seat {
    atomic<std::uint64_t> is_where{whereabouts::running};
    atomic<std::uint64_t> holds{
        0};                      // messages received and not released, when it last entered idle()
    plain<Slot> value{};         // given at entry
    const void* type = nullptr;  // of the value and its operation; with checks
  };

  // `make_detector()` returns the detector; neither can be moved.
  template <class Make>
  assembly(doors<Memory, Wait>& at, Make make_detector)
      : entrance(at), detector(make_detector()), seats_(at.size()) {}

  rank_t participants() const noexcept { return entrance.size(); }
  seat& of(rank_t rank) noexcept { return seats_[rank]; }

  release_word look() const noexcept {
    // acquire: pairs with the release; what anybody did before the episode's end is seen after it.
    return {released_.load(Memory::order("idle.look", acquire))};
  }

  // The end of an episode, by the one who found it over.
  void release_all(rank_t me, std::uint64_t episodes, bool is_unanimous) noexcept {
    detector.begin(episodes);
    // seq_cst: release publishes everybody's work, the aggregate and the counter; the one order puts it before the looks
    // for sleepers.
    // relaxed: changed below, or found to be another one.
    std::uint64_t word = released_.load(relaxed);
    // Who has left stays gone: where a report that is under way can end an episode, that may be while this is written.
    while (!released_.compare_exchange_weak(
        word, release_word::of(episodes, is_unanimous).word | (word & release_word::broken),
        Memory::order("idle.release", seq_cst), relaxed)) {  // relaxed: a failure looks again.
    }
    entrance.call_all(me);
  }

  // A participant will not come again. An episode may end at the same time, by what it reported before a deadline passed.
  void break_up(rank_t me) noexcept {
    // relaxed: for messages; ordered by the update that follows.
    of(me).is_where.store(whereabouts::gone, relaxed);
    // relaxed: changed below.
    std::uint64_t word = released_.load(relaxed);
    // Also if somebody has left before: who waits for room to send to this one must see that it has.
    // seq_cst: as in release_all.
    // relaxed: a failure looks again.
    while (!released_.compare_exchange_weak(word, word | release_word::broken,
                                            Memory::order("idle.release", seq_cst), relaxed)) {
    }
    entrance.call_all(me);
  }

  // Who keeps this episode from ending, as far as is known to `me`, whose own deadline has passed.
  std::vector<absentee> missing(rank_t me, std::uint64_t episode) {
    std::vector<absentee> found;
    for (rank_t rank = 0; rank < participants(); ++rank) {
      // relaxed: a snapshot for a message.
      const std::uint64_t where = of(rank).is_where.load(relaxed);
      const std::uint64_t held = of(rank).holds.load(relaxed);  // relaxed: as above
      if (where == whereabouts::gone)
        found.push_back({rank, absence::gone, 0});
      else if (where != episode && rank != me)
        found.push_back({rank, absence::running, 0});
      else if (held != 0)
        found.push_back({rank, absence::holding, held});
    }
    return found;
  }

  doors<Memory, Wait>& entrance;
  // On one line with the release: whoever detects has it already, and those who wait take both at once.
  alignas(cache_line) Detector detector;

 private:
  atomic<std::uint64_t> released_{0};

 public:
  // What an episode with values gives; overwritten when the next one is over, which nobody can be in before it has read it.
  alignas(cache_line) plain<Slot> result{};

 private:
  array<seat> seats_;
};

}  // namespace tutti
