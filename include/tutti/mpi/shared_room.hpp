// SPDX-License-Identifier: Apache-2.0
// The memory that the participants of several processes of one node share: rings between all of
// them, a word that detects the end of an episode, and the state of each participant. It lies in a
// window of shared memory at a different address in each process, and holds no address itself.
//
// The word counts at one instant the idle participants, their votes, and the messages sent less the
// messages released. The addition that completes it is the detection (termination/counter.hpp says
// why that is exact).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/message/ring.hpp"
#include "tutti/platform/across_processes.hpp"
#include "tutti/termination/idle_word.hpp"
#include "tutti/termination/protocol/interface.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/wake_word.hpp"

namespace tutti::mpi {

// A release word: how the last episode ended, how many episodes there were, and whether a
// participant has gone for good.
struct release_word {
  std::uint64_t word = 0;

  static constexpr std::uint64_t broken = 1, unanimous = 2, mismatched = 4;
  static constexpr release_word of(std::uint64_t episodes, std::uint64_t flags) noexcept {
    return {episodes << 3 | flags};
  }
  constexpr std::uint64_t episodes() const noexcept { return word >> 3; }
  constexpr bool has(std::uint64_t flag) const noexcept { return (word & flag) != 0; }
};

// `late`: the last idle_for() has returned because the deadline passed.
enum class whereabouts : std::uint32_t { running, idle, gone, late };

class shared_room {
 public:
  using memory = across_processes;
  using place = ring_place<memory>;
  using wait_policy = adaptive_wait<wake_word_memory<memory>>;
  static constexpr rank_t most_participants = idle_word::most_participants;

  struct alignas(cache_line) rank_slot {
    explicit rank_slot(rank_t participants) : wait(participants) {}
    wake_word<memory> word;
    // Only its owner uses this.
    wait_policy::wait_state wait_state{};
    wait_policy wait;
    // The owner writes this line at every idle(); participants that ask who is missing read it.
    alignas(cache_line) std::atomic<whereabouts> is_where{whereabouts::running};
    // Messages received and not released when the owner last entered idle().
    std::atomic<std::uint64_t> holds{0};
    // The participant that ends an episode reads this line, which stays unmodified while no values
    // are given.
    alignas(cache_line) protocol::value_t value{};
    std::uint32_t operation = 0;
  };

  // The size in bytes of a room for `participants` participants with rings of `ring_bytes` bytes (a
  // power of two).
  static std::size_t bytes_for(rank_t participants, std::size_t ring_bytes) noexcept {
    return extent(participants, ring_bytes).all;
  }
  static std::size_t ring_bytes_for(rank_t participants, std::size_t wanted) noexcept {
    // All the rings of one participant together stay within a second-level cache, unless the caller
    // asks for more.
    constexpr std::size_t most = 16 * 1024, least = 1024, of_a_participant = 256 * 1024;
    const std::size_t bytes =
        wanted != 0 ? wanted : std::clamp(of_a_participant / participants, least, most);
    return std::bit_ceil(std::max<std::size_t>(bytes, place::smallest * sizeof(std::uint64_t)));
  }

  // A view of the room at `base`. One process builds the room before the others use it.
  shared_room(void* base, rank_t participants, std::size_t ring_bytes, bool is_builder)
      : n_(participants),
        capacity_(ring_bytes / sizeof(std::uint64_t)),
        where_(extent(participants, ring_bytes)),
        base_(static_cast<std::byte*>(base)) {
    if (!is_builder) return;
    ::new (base_) hub();
    for (rank_t rank = 0; rank < n_; ++rank) ::new (&of(rank)) rank_slot(n_);
    for (std::size_t i = 0; i < std::size_t{n_} * n_; ++i) ::new (&line(i)) ring_line<memory>();
    std::fill_n(cells(0), std::size_t{n_} * n_ * capacity_, std::uint64_t{0});
  }

  rank_t participants() const noexcept { return n_; }
  rank_slot& of(rank_t rank) noexcept { return at<rank_slot>(where_.slots)[rank]; }

  // The rings that `writer` writes, or that `reader` reads, in the order of the other end's rank.
  std::vector<place> rings_from(rank_t writer) noexcept {
    std::vector<place> places;
    for (rank_t reader = 0; reader < n_; ++reader) places.push_back(ring(writer, reader));
    return places;
  }
  std::vector<place> rings_to(rank_t reader) noexcept {
    std::vector<place> places;
    for (rank_t writer = 0; writer < n_; ++writer) places.push_back(ring(writer, reader));
    return places;
  }

  platform::cpu_hints* hints() noexcept { return the_hub().hints; }
  protocol::value_t& result() noexcept { return the_hub().result; }

  // Whether any participant has ever sent a message in pieces. This is set before such a message
  // can be seen.
  bool has_pieces() noexcept {
    // relaxed: a participant that sees a piece has seen its publication, and so this.
    return the_hub().has_pieces.load(relaxed);
  }
  void announce_pieces() noexcept {
    // relaxed: published with the piece.
    the_hub().has_pieces.store(true, relaxed);
  }

  // --- detection ---------------------------------------------------------------------------------
  // Returns true if this entry was the last that the episode needed. In that case `is_unanimous` is
  // valid.
  bool enter(bool vote, std::uint64_t balance, bool& is_unanimous) noexcept {
    const std::uint64_t mine = idle_word::entry(vote) + (balance << idle_word::balance_shift);
    // acq_rel: release publishes what I did before and the value I leave; acquire takes over
    // everybody else's, in case I am the last.
    const std::uint64_t word = the_hub().word.fetch_add(mine, acq_rel) + mine;
    is_unanimous = idle_word::votes(word) == n_;
    return idle_word::is_over(word, n_);
  }
  // A message of this episode waits for this participant. The message is counted, so the episode
  // cannot end.
  void refute(bool vote) noexcept {
    // relaxed: publishes nothing; as a read-modify-write it continues the release sequences of the
    // entries.
    the_hub().word.fetch_sub(idle_word::entry(vote), relaxed);
  }
  // The deadline of this participant has passed. Returns false if the episode was already over;
  // then the release comes at once.
  bool withdraw(bool vote, std::uint64_t episode) noexcept {
    auto& shared = the_hub().word;
    // relaxed: decides only whether the episode is over.
    std::uint64_t word = shared.load(relaxed);
    while (idle_word::parity(word) == idle_word::parity(episode) && !idle_word::is_over(word, n_))
      // relaxed: as in refute.
      if (shared.compare_exchange_weak(word, word - idle_word::entry(vote), relaxed, relaxed))
        return true;
    return false;
  }

  release_word look() noexcept {
    // acquire: pairs with the release; what any participant did before the episode's end is visible
    // after it.
    return {the_hub().released.load(acquire)};
  }
  // Ends an episode. The participant that found the episode over calls this.
  void release_all(rank_t me, std::uint64_t episodes, std::uint64_t flags) noexcept {
    hub& h = the_hub();
    // relaxed: published by the release that follows; nobody touches the word until then.
    h.word.store(idle_word::parity(episodes), relaxed);
    // relaxed: the update below looks again.
    std::uint64_t before = h.released.load(relaxed);
    // seq_cst: release publishes everybody's work, the result and the word; the one order puts it
    // before the looks for sleepers. relaxed: a failed try decides nothing.
    while (!h.released.compare_exchange_weak(
        before, release_word::of(episodes, flags | (before & release_word::broken)).word, seq_cst,
        relaxed)) {
    }
    wake_all(me);
  }
  // `episodes` are over, as this participant knows by other means. It calls this before it sends in
  // the next one.
  void note_end_of_episodes(std::uint64_t episodes) noexcept {
    auto& released = the_hub().released;
    // relaxed: the update below looks again.
    std::uint64_t before = released.load(relaxed);
    // relaxed: a reader sees this once it has seen a message that was published later; the rings
    // order it.
    while (release_word{before}.episodes() < episodes &&
           !released.compare_exchange_weak(before, release_word::of(episodes, 0).word, relaxed,
                                           relaxed)) {
    }
  }
  // Marks a participant as gone for good: it has left, or its process is dead.
  void break_up(rank_t gone) noexcept {
    // relaxed: only error messages read it; the update that follows orders it.
    of(gone).is_where.store(whereabouts::gone, relaxed);
    // seq_cst: as in release_all.
    the_hub().released.fetch_or(release_word::broken, seq_cst);
    wake_all(gone);
  }
  void wake(rank_t rank) noexcept { of(rank).wait.notify(of(rank).word); }

 private:
  struct hub {
    // These two lie on one line: the participant that detects has it already, and those who wait
    // fetch both at once.
    alignas(cache_line) std::atomic<std::uint64_t> word{0};
    std::atomic<std::uint64_t> released{0};
    alignas(cache_line) protocol::value_t result{};
    std::atomic<bool> has_pieces{false};
    platform::cpu_hints hints[platform::core_slots];
  };
  struct offsets {
    std::size_t slots, lines, cells, all;
  };

  static offsets extent(rank_t n, std::size_t ring_bytes) noexcept {
    const std::size_t pairs = std::size_t{n} * n;
    offsets where{};
    where.slots = sizeof(hub);
    where.lines = where.slots + n * sizeof(rank_slot);
    where.cells = where.lines + pairs * sizeof(ring_line<memory>);
    where.all = where.cells + pairs * ring_bytes;
    return where;
  }
  template <class T>
  T* at(std::size_t offset) noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  hub& the_hub() noexcept { return *at<hub>(0); }
  ring_line<memory>& line(std::size_t i) noexcept { return at<ring_line<memory>>(where_.lines)[i]; }
  std::uint64_t* cells(std::size_t i) noexcept {
    return at<std::uint64_t>(where_.cells) + i * capacity_;
  }
  place ring(rank_t writer, rank_t reader) noexcept {
    const std::size_t forth = std::size_t{writer} * n_ + reader;
    const std::size_t back = std::size_t{reader} * n_ + writer;
    return {cells(forth), capacity_, &line(forth), &line(back)};
  }
  void wake_all(rank_t me) noexcept {
    for (rank_t rank = 0; rank < n_; ++rank)
      if (rank != me) of(rank).wait.notify_ordered(of(rank).word);
  }

  rank_t n_;
  std::size_t capacity_;
  offsets where_;
  std::byte* base_;
};

}  // namespace tutti::mpi
