// SPDX-License-Identifier: Apache-2.0
// How long the ranks of a node yield before they sleep: one of them decides for all.
//
// Whether yields or sleeping is faster depends on the machine and the launcher
// (tutti/wait/between_processes.hpp), so it is measured. If each rank decided for itself, few would
// ever go back to yields: a barrier ends with its slowest rank, so the first that yields where the
// others sleep finds that yields are no faster. 16 ranks of MPICH on two CPUs then slept at 200 to
// 400 us a barrier, where 50 us are possible. So rank 0 of the node times some of its waits, and
// the patience that it sets is that of all.
//
//   * Ranks yield. On a CPU where others wait too, a wait of more than `crowded_yielding_ns`
//     sleeps: whoever has got a whole slice of the scheduler cannot use it. On a CPU of its own a
//     rank yields for longer, because a wake-up would only cost time.
//   * If at least half of the timed waits have taken longer than `long_wait_ns`, all sleep, and
//     rank 0 times that. (A few are always longer, after a call of an MPI that spins, for example.)
//     The faster way is kept; the other is tried again from time to time, and less and less often.
#pragma once

#include <cstdint>

#include "tutti/platform/minmax.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::preload {

struct joint_patience_options {
  std::uint32_t crowded_yielding_ns = 500'000, yielding_ns = 2'000'000;
  std::uint32_t long_wait_ns = 150'000;
  // After a short wait, reading the clock would be a noticeable part of a barrier.
  std::uint32_t short_wait_ns = 10'000;
  std::uint32_t waits_after_short = 63, waits_after_other = 3;
  // The number of looks on which a decision rests.
  std::uint32_t looks_to_decide = 32;
  // The first and the longest time for which the slower way is not tried again, in looks.
  std::uint32_t first_rest = 32, longest_rest = 4096;
};

class joint_patience {
 public:
  static constexpr joint_patience_options options{};

  // Whether the rank that decides times its next wait.
  bool looks() noexcept {
    if (waits_to_look_ == 0) return true;
    --waits_to_look_;
    return false;
  }

  // Takes the length of a timed wait into account. `is_crowded`: other ranks wait on this CPU.
  void learn(std::uint64_t ns, bool is_crowded) noexcept {
    waits_to_look_ =
        ns < options.short_wait_ns ? options.waits_after_short : options.waits_after_other;
    is_crowded_ = is_crowded;
    if (rest_ > 0) --rest_;
    ++looks_;
    if (ns > options.long_wait_ns) ++long_looks_;
    sum_ns_ += smaller<std::uint64_t>(ns, options.yielding_ns);
    // A way that is on trial ends as soon as it can no longer be the faster one.
    const bool has_lost = sum_ns_ > options.looks_to_decide * other_ns_;
    if (looks_ < options.looks_to_decide && !has_lost) return;
    const bool is_long = 2 * long_looks_ >= looks_;
    const std::uint64_t average = sum_ns_ / looks_;
    looks_ = long_looks_ = 0;
    sum_ns_ = 0;
    if (has_lost) {
      // The loser rests for longer than the last time.
      leave_way(never_ns, 2 * next_rest_);
      return;
    }
    const bool has_won = other_ns_ != never_ns;
    if (has_won) next_rest_ = 0;
    other_ns_ = never_ns;
    if (rest_ == 0 && (sleeps_ || is_long)) leave_way(average, next_rest_);
  }

  // What all ranks of the node shall have.
  patience chosen() const noexcept {
    if (sleeps_) return patience::passive();
    return patience::of_ns(is_crowded_ ? options.crowded_yielding_ns : options.yielding_ns);
  }

 private:
  // Tries the other way, which must be faster than `to_beat_ns`.
  void leave_way(std::uint64_t to_beat_ns, std::uint32_t rest) noexcept {
    sleeps_ = !sleeps_;
    other_ns_ = to_beat_ns;
    rest_ = next_rest_ = within(rest, options.first_rest, options.longest_rest);
  }

  // Longer than any average.
  static constexpr std::uint64_t never_ns = UINT32_MAX;

  std::uint64_t sum_ns_ = 0;
  // The average of the way that was left for a trial of this one; never_ns if this is no trial.
  std::uint64_t other_ns_ = never_ns;
  std::uint32_t looks_ = 0, long_looks_ = 0, waits_to_look_ = 0, rest_ = 0, next_rest_ = 0;
  bool sleeps_ = false, is_crowded_ = false;
};

}  // namespace tutti::preload
