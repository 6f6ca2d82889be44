// SPDX-License-Identifier: Apache-2.0
// Where a loop's work lies while it runs, and who takes which part of it: whoever comes in time helps, and nobody waits for
// those who do not come.
//
// A slot for each thread holds what is left of its share, from `next` up to `end`, as one 64-bit number. The share's owner
// takes from the front and others from the back, both by compare-and-swap. The number says all there is to know: a thread
// that has looked at it, lost its core, and comes back after the loop has ended and another one has begun either fails,
// or takes a part of the new one. So nothing else is read before a part has been taken, and what the owner of the loop has
// published, its callable above all, lives until the parts that were taken are done. Units carry no other stamp.
//
// Who opens the loop works from the beginning, takes back what nobody has begun, and waits only for those that are in the
// midst of a part.
//
// Cost       a compare-and-swap on a line of one's own for each part; at the end an addition to one line for each helper.
// When       parts that are independent. Not for parts that wait for each other: one thread may run them all.
// Source     work stealing from ranges of iterations as in oneTBB and Cilk; the word without a stamp is tutti's own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Units of one slot.
struct loop_part {
  rank_t slot = 0;
  std::uint32_t first = 0, last = 0;
  std::uint32_t units() const noexcept { return last - first; }
};

// How much is taken at a time. A thread that comes late may go by the manner of the loop before: amounts differ, nothing
// else.
struct loop_manner {
  std::uint32_t least = 1;   // units at a time
  std::uint32_t share = 0;   // a share-th part of what is left, but `least`; 0: always `least`
  std::uint32_t spared = 0;  // others leave so many to an owner who has begun
  bool in_order = false;     // all take from the front
  std::uint32_t most = 0;    // units at a time; 0: no bound

  // How many are taken of what is left.
  constexpr std::uint32_t of(std::uint32_t left) const noexcept {
    const std::uint32_t wanted = std::max(least, share == 0 ? 1 : left / share);
    return std::min({wanted, left, most == 0 ? left : most});
  }
};

// Job is what a helper needs besides a part; trivially copyable.
template <class Job, class Memory = native, class Wait = adaptive_wait<Memory>>
class loop_desk {
 public:
  explicit loop_desk(rank_t threads) : n_(threads), slots_(threads), ended_(threads) {}

  rank_t slots() const noexcept { return n_; }

  // The same as a barrier's set_patience.
  bool set_patience(patience p) noexcept { return set_patience_of(ended_, p); }

  // ---- who opens the loop; one thread at a time

  // Before the first put(). All parts of the loop before have ended.
  void begin(const Job& job, const loop_manner& manner) {
    job_ = job;
    // relaxed: a hint to whoever looks.
    manner_.store(packed(manner), relaxed);
  }

  // Units `first` .. `last`-1 of an empty slot.
  void put(rank_t slot, std::uint32_t first, std::uint32_t last) {
    // release: publishes the job and all that was done before; pairs with take.
    slots_[slot].left.store(range(first, last), Memory::order("desk.put", release));
  }

  // Returns when others have ended `units` since the last call: all that the caller has not taken itself.
  void wait_for_others(std::uint32_t units) {
    expected_ += units;
    // acquire: pairs with every helper through the counter's release sequence.
    ended_.until(wait_state_, done_, Memory::order("desk.wait", acquire),
                 [all = expected_](std::uint32_t done) { return done == all; });
  }
  // Whether that would not wait.
  bool others_have_ended(std::uint32_t units) const {
    // relaxed: wait_for_others() looks again.
    return done_.load(relaxed) == expected_ + units;
  }

  // ---- everybody

  // Takes from the own slot, then from the others'. False: nothing is left to begin that is worth it. `insist`: everything
  // is worth it.
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

  // ---- who helps

  // After a part has been taken and before it is reported.
  Job job() const { return job_; }

  // That many units have ended. The caller of the loop may return at once.
  void report(std::uint32_t units) {
    // seq_cst: release publishes my work, acquire carries the other helpers'; the one order puts the update before the look
    // for a sleeping caller.
    done_.fetch_add(units, Memory::order("desk.report", seq_cst));
    ended_.notify_ordered(done_);
  }

 private:
  struct alignas(cache_line) place {
    typename Memory::template atomic<std::uint64_t> left{0};  // next, end
  };

  static constexpr std::uint64_t range(std::uint32_t next, std::uint32_t end) noexcept {
    return std::uint64_t{next} << 32 | end;
  }
  // 16 bits each, and 15 for the most, which is enough for amounts.
  static constexpr std::uint64_t packed(const loop_manner& m) noexcept {
    const auto part = [](std::uint32_t amount) { return std::uint64_t{std::min(amount, 0xffffu)}; };
    return part(m.least) | part(m.share) << 16 | part(m.spared) << 32 |
           std::uint64_t{std::min(m.most, most_of_mosts)} << 48 |
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
    // relaxed: taking decides.
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
      // acquire: what the loop's owner published, through the release sequence that its put() heads. relaxed: as above.
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
  std::uint32_t expected_ = 0;  // of done_; only the owner of the loop looks
  typename Wait::wait_state wait_state_{};
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> done_{0};
  Wait ended_;
};

}  // namespace tutti
