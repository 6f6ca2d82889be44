// SPDX-License-Identifier: Apache-2.0
// Snapshot: every participant writes its state to a line of its own. Rank 0, once it is idle
// itself, reads all the lines.
//
// Lines that are read one after another need not be consistent. A participant that was read as idle
// may have been woken since; its message may have woken another one that is read later, and the
// counts of both then seem to match. Rank 0 therefore reads all stamps a second time. A stamp
// changes whenever its owner enters idle() or is woken. If no stamp has changed, all participants
// were idle from the first reading to the second, and the counts belong to one instant in between
// (a double collect).
//
// Cost       n - 1 lines read, which a core overlaps, and one line read by all. Only its owner and
//            rank 0 touch a participant's line.
// When       Many participants, each on a core of its own.
// When not   Few participants, or more participants than cores: rank 0 must run before anybody can
//            go on (counter.hpp).
// Source     Afek et al., "Atomic snapshots of shared memory" (1993), for the double collect.
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/termination/detector.hpp"

namespace tutti {

template <class Memory = native>
class snapshot_detector : public detector_base {
 public:
  explicit snapshot_detector(rank_t participants) : lines_(participants), seen_(participants) {}

  detection enter(rank_t rank, const idle_entry& entry) noexcept {
    line& mine = lines_[rank];
    // relaxed: if it is seen without its stamp, either too many messages are sent and the sums
    // differ, or a release that happened after it is seen too, and with it the stamp.
    mine.sent.store(entry.sent, relaxed);
    // release: after my last stamp of not being idle, so that rank 0 finds the stamp changed if it
    // sees this count.
    mine.released.store(entry.released, Memory::order("snapshot.released", release));
    const std::uint64_t stamp = next(mine) | is_idle | (entry.vote ? has_vote : 0) |
                                (entry.has_deadline ? may_withdraw : 0) |
                                (entry.episode % 2 != 0 ? is_odd : 0);
    // release: publishes what I did before, the counts, and the value I leave.
    mine.stamp.store(stamp, Memory::order("snapshot.enter", release));
    if (rank != root) return {.calls_root = true};
    return work(root);
  }

  bool has_work(rank_t rank) noexcept { return rank == root && collect(); }

  detection work(rank_t rank) noexcept {
    if (rank != root) return {};
    if (!collect()) return {};
    if (!is_unchanged() || !seal()) return {.waves = 1};
    bool is_unanimous = true;
    for (const std::uint64_t stamp : seen_) is_unanimous = is_unanimous && (stamp & has_vote) != 0;
    return {.is_over = true, .is_unanimous = is_unanimous, .waves = 1};
  }

  void refute(rank_t rank, bool /*vote*/) noexcept {
    line& mine = lines_[rank];
    // relaxed: the counts that follow are released after it.
    mine.stamp.store(next(mine), relaxed);
  }

  bool withdraw(rank_t rank, bool /*vote*/, std::uint64_t /*episode*/) noexcept {
    line& mine = lines_[rank];
    // relaxed: my own word; only rank 0's seal changes it.
    std::uint64_t stamp = mine.stamp.load(relaxed);
    if ((stamp & is_sealed) != 0) return false;
    // relaxed: as in refute.
    return mine.stamp.compare_exchange_weak(stamp, (stamp | flags) + 1, relaxed, relaxed);
  }

  static constexpr void begin(std::uint64_t /*episodes*/) noexcept {}

 private:
  static constexpr rank_t root = 0;

  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint64_t> stamp{0};
    typename Memory::template atomic<std::uint64_t> sent{0};
    typename Memory::template atomic<std::uint64_t> released{0};
  };

  static constexpr std::uint64_t is_idle = 1, has_vote = 2, may_withdraw = 4, is_sealed = 8;
  // The parity of the episode. A participant that has not left the last episode is not idle in this
  // one.
  static constexpr std::uint64_t is_odd = 16;
  // The remaining bits of a stamp count its changes.
  static constexpr std::uint64_t flags = 31;

  static std::uint64_t next(const line& mine) noexcept {
    // relaxed: my own word. If rank 0 takes its seal off at the same time, it finds the next stamp.
    return (mine.stamp.load(relaxed) | flags) + 1;
  }

  // The first reading: whether all participants are idle and the counts agree.
  bool collect() noexcept {
    std::uint64_t under_way = 0;
    for (rank_t rank = 0; rank < lines_.size(); ++rank) {
      // acquire: pairs with the entry; what its owner did before is seen.
      seen_[rank] = lines_[rank].stamp.load(Memory::order("snapshot.collect", acquire));
      if ((seen_[rank] & is_idle) == 0 || ((seen_[rank] ^ seen_[root]) & is_odd) != 0) return false;
      // relaxed: the reason is where it is written.
      under_way += lines_[rank].sent.load(relaxed);
      // acquire: if it is newer than the stamp, the second reading finds the stamp changed.
      under_way -= lines_[rank].released.load(Memory::order("snapshot.read_released", acquire));
    }
    return under_way == 0;
  }

  bool is_unchanged() const noexcept {
    for (rank_t rank = 0; rank < lines_.size(); ++rank)
      // relaxed: ordered by the acquires of the first reading.
      if (lines_[rank].stamp.load(relaxed) != seen_[rank]) return false;
    return true;
  }

  // Prevents participants that wait with a deadline from withdrawing once the episode is over.
  // Returns false if one has withdrawn.
  bool seal() noexcept {
    for (rank_t rank = 0; rank < lines_.size(); ++rank) {
      if ((seen_[rank] & may_withdraw) == 0) continue;
      std::uint64_t stamp = seen_[rank];
      // relaxed: decides between two participants that both know the stamp.
      if (lines_[rank].stamp.compare_exchange_weak(stamp, stamp | is_sealed, relaxed, relaxed))
        continue;
      while (rank-- > 0)
        if ((seen_[rank] & may_withdraw) != 0) unseal(rank);
      return false;
    }
    return true;
  }

  void unseal(rank_t rank) noexcept {
    const std::uint64_t sealed = seen_[rank] | is_sealed;
    // relaxed: a message from the one that has withdrawn may have woken the owner since. Then its
    // new stamp stays.
    for (std::uint64_t stamp = sealed; stamp == sealed;)
      if (lines_[rank].stamp.compare_exchange_weak(stamp, seen_[rank], relaxed, relaxed)) return;
  }

  array<line> lines_;
  array<std::uint64_t> seen_;
};

}  // namespace tutti
