// SPDX-License-Identifier: Apache-2.0
// Holds a loop's work while the loop runs, and distributes its parts: threads that come in time
// help, and the caller does not wait for the others.
//
// A slot for each thread holds what is left of its share, from `next` up to `end`, as one 64-bit
// number. The owner of a share takes from the front and other threads take from the back, both by
// compare-and-swap. The number contains everything that a thread must know. If a thread reads it,
// loses its core, and continues after the loop has ended and another one has begun, its
// compare-and-swap either fails or takes a part of the new loop. So a thread reads nothing else
// before it has taken a part, and what the caller has published, above all its callable, stays
// valid until the parts that were taken are done. The number needs no version.
//
// The caller of the loop works from the beginning, takes back the parts that no thread has begun,
// and waits only for threads that are running a part.
//
// Cost       a compare-and-swap on the thread's own cache line for each part, and at the end one
//            addition to a shared line for each helper.
// When       parts that are independent.
// When not   parts that wait for each other, because one thread may run them all.
// Source     work stealing from ranges of iterations as in oneTBB and Cilk; the word without a
//            version is tutti's own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Units `first` .. `last`-1 of one slot.
struct loop_part {
  rank_t slot = 0;
  std::uint32_t first = 0, last = 0;
  std::uint32_t units() const noexcept { return last - first; }
};

// How many units a thread takes at a time. A late thread may use the manner of the previous loop,
// which only changes the amounts.
struct loop_manner {
  // The least number of units.
  std::uint32_t least = 1;
  // A thread takes one share-th of what is left, but at least `least`. 0: it always takes `least`.
  std::uint32_t share = 0;
  // The number of units that other threads leave to an owner that has begun.
  std::uint32_t spared = 0;
  // Whether all threads take from the front.
  bool in_order = false;
  // The largest number of units. 0: no bound.
  std::uint32_t most = 0;

  // Returns how many of the units that are left a thread takes.
  constexpr std::uint32_t of(std::uint32_t left) const noexcept {
    const std::uint32_t wanted = (std::max)(least, share == 0 ? 1 : left / share);
    return (std::min)({wanted, left, most == 0 ? left : most});
  }
};

// Job is what a helper needs besides a part. It must be trivially copyable.
template <class Job, class Memory = native, class Wait = adaptive_wait<Memory>>
class loop_desk {
 public:
  explicit loop_desk(rank_t threads) : n_(threads), slots_(threads), ended_(threads) {}

  rank_t slots() const noexcept { return n_; }

  // Does what a barrier's set_patience does.
  bool set_patience(patience p) noexcept { return set_patience_of(ended_, p); }

  // ---- the thread that opens the loop; one thread at a time

  // Must be called before the first put(), after all parts of the previous loop have ended.
  void begin(const Job& job, const loop_manner& manner) {
    job_ = job;
    // relaxed: a hint for the threads that take parts.
    manner_.store(packed(manner), relaxed);
  }

  // Puts units `first` .. `last`-1 into an empty slot.
  void put(rank_t slot, std::uint32_t first, std::uint32_t last) {
    // release: publishes the job and all work before; pairs with take.
    slots_[slot].left.store(range(first, last), Memory::order("desk.put", release));
  }

  // Returns when other threads have ended `units` units since the last call: all that the caller
  // has not taken itself.
  void wait_for_others(std::uint32_t units) {
    expected_ += units;
    // acquire: pairs with every helper through the counter's release sequence.
    ended_.until(wait_state_, done_, Memory::order("desk.wait", acquire),
                 [all = expected_](std::uint32_t done) { return done == all; });
  }
  // Returns true if wait_for_others(units) would not wait.
  bool others_have_ended(std::uint32_t units) const {
    // relaxed: wait_for_others() looks again.
    return done_.load(relaxed) == expected_ + units;
  }

  // ---- all threads

  // Takes a part from the thread's own slot, or else from another slot. Returns false if no part is
  // left that is worth taking. With `insist` every part is worth taking.
  bool take(rank_t thread, loop_part& part, bool insist = false) {
    // relaxed: a hint.
    const loop_manner manner = unpacked(manner_.load(relaxed));
    if (take_from(thread, manner, true, insist, part)) return true;
    for (rank_t other = thread + 1; other < n_; ++other)
      if (take_from(other, manner, false, insist, part)) return true;
    for (rank_t other = 0; other < thread; ++other)
      if (take_from(other, manner, false, insist, part)) return true;
    return false;
  }

  // ---- helpers

  // Returns the job. It may be called after a part has been taken and before it is reported.
  Job job() const { return job_; }

  // Reports that `units` units have ended. The caller of the loop may return at once.
  void report(std::uint32_t units) {
    // seq_cst: release publishes my work, and acquire passes on that of other helpers; the total
    // order puts the update before the check for a sleeping caller.
    done_.fetch_add(units, Memory::order("desk.report", seq_cst));
    ended_.notify_ordered(done_);
  }

 private:
  struct alignas(cache_line) place {
    // next and end.
    typename Memory::template atomic<std::uint64_t> left{0};
  };

  static constexpr std::uint64_t range(std::uint32_t next, std::uint32_t end) noexcept {
    return std::uint64_t{next} << 32 | end;
  }
  // Packs the amounts into 16 bits each, and `most` into 15, which is enough.
  static constexpr std::uint64_t packed(const loop_manner& m) noexcept {
    const auto part = [](std::uint32_t amount) {
      return std::uint64_t{(std::min)(amount, 0xffffu)};
    };
    return part(m.least) | part(m.share) << 16 | part(m.spared) << 32 |
           std::uint64_t{(std::min)(m.most, most_of_mosts)} << 48 |
           (m.in_order ? std::uint64_t{1} << 63 : 0);
  }
  static constexpr loop_manner unpacked(std::uint64_t word) noexcept {
    const auto part = [word](unsigned at) {
      return static_cast<std::uint32_t>(word >> at & 0xffff);
    };
    return {part(0), part(16), part(32), word >> 63 != 0, part(48) & most_of_mosts};
  }
  static constexpr std::uint32_t most_of_mosts = 0x7fff;

  bool take_from(rank_t index, const loop_manner& manner, bool is_mine, bool insist,
                 loop_part& part) {
    auto& word = slots_[index].left;
    // relaxed: the compare-and-swap decides.
    std::uint64_t left = word.load(relaxed);
    for (;;) {
      const auto next = static_cast<std::uint32_t>(left >> 32);
      const auto end = static_cast<std::uint32_t>(left);
      if (next == end) return false;
      const std::uint32_t count = end - next;
      if (!is_mine && !insist && next > 0 && count <= manner.spared) return false;
      const std::uint32_t units = manner.of(count);
      const bool at_front = is_mine || manner.in_order;
      const std::uint64_t rest = at_front ? range(next + units, end) : range(next, end - units);
      // acquire: pairs with put(), through the release sequence that it heads.
      // relaxed: a failure only tries again.
      if (!word.compare_exchange_weak(left, rest, Memory::order("desk.take", acquire), relaxed))
        continue;
      part.slot = index;
      part.first = at_front ? next : end - units;
      part.last = part.first + units;
      return true;
    }
  }

  const rank_t n_;
  array<place> slots_;
  alignas(cache_line) typename Memory::template plain<Job> job_{};
  typename Memory::template atomic<std::uint64_t> manner_{1};
  // The value of done_ at which the loop ends. Only the caller of the loop uses it.
  std::uint32_t expected_ = 0;
  typename Wait::wait_state wait_state_{};
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> done_{0};
  Wait ended_;
};

}  // namespace tutti
