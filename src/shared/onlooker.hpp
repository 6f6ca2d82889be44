// SPDX-License-Identifier: Apache-2.0
// A participant that waits: it watches the others meanwhile, and sleeps so that the end of any of
// them wakes it.
#pragma once

#include <cstdint>

#include "src/shared/segment.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/robust_lock.hpp"

namespace tutti::detail::shared {

class onlooker {
 public:
  explicit onlooker(segment of) noexcept : segment_(of) {}

  rank_t rank = any_rank;
  phases::wait_state wait_state{};

  const segment& memory() const noexcept { return segment_; }

  bool sees_break() const noexcept { return segment_.report_the_dead(rank); }
  void look_now_and_then() noexcept {
    if (--pauses_left_ > 0) return;
    pauses_left_ = pauses_between_looks;
    sees_break();
  }

  // Sleeps on the word, and, if the wait takes longer, on those of the other participants too. A
  // sleep on one word costs less.
  void sleep(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) const noexcept {
    if (sees_break()) return;
    const std::uint64_t start = robust_memory::now_ns();
    // Other fibers of the thread run meanwhile. They cannot sleep on the words of this barrier's
    // participants, so a fiber looks from time to time.
    if (platform::park_fiber(word, seen, smaller(deadline_ns, start + look_every_ns),
                             platform::futex_scope::machine)) {
      sees_break();
      return;
    }
    platform::futex_wait(word, seen, smaller(deadline_ns, start + brief_ns),
                         platform::futex_scope::machine);
    // The caller looks at the word again.
    const std::uint64_t woken = robust_memory::now_ns();
    if (woken < start + brief_ns || woken >= deadline_ns || sees_break()) return;
    platform::futex_word words[platform::most_futex_words];
    unsigned count = 0;
    words[count++] = platform::futex_word::of(word, seen, platform::futex_scope::machine);
    const rank_t n = segment_.participants();
    for (rank_t i = 1; i < n && count < platform::most_futex_words; ++i) {
      const rank_t other = (rank + i) % n;
      if (segment_.has_left(other)) continue;
      const platform::robust_lock& alive = segment_.of(other).alive;
      const std::uint32_t value = alive.value();
      if (platform::robust_lock::is_dead(value)) return;
      words[count++] =
          platform::futex_word::of(alive.address(), value, platform::futex_scope::machine);
    }
    if (!platform::futex_wait_any(words, count, smaller(deadline_ns, woken + insurance_ns)))
      platform::futex_wait(word, seen, smaller(deadline_ns, woken + look_every_ns),
                           platform::futex_scope::machine);
    sees_break();
  }

 private:
  static constexpr unsigned pauses_between_looks = 8;
  static constexpr std::uint64_t brief_ns = 200'000, insurance_ns = 100'000'000,
                                 look_every_ns = 1'000'000;

  segment segment_;
  unsigned pauses_left_ = pauses_between_looks;
};

inline robust_memory::recent_waiter robust_memory::core() noexcept {
  return {here->memory().waiter_on(platform::current_cpu()), here->rank + 1};
}
inline void robust_memory::relax_long() noexcept {
  here->look_now_and_then();
  keep_here(across_processes::relax_long);
}
inline void robust_memory::yield() noexcept {
  here->sees_break();
  keep_here(across_processes::yield);
}
inline void robust_memory::park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                                std::uint64_t deadline_ns) noexcept {
  keep_here([&, mine = here]() noexcept {
    mine->sleep(platform::low_half(word), static_cast<std::uint32_t>(seen), deadline_ns);
  });
}

}  // namespace tutti::detail::shared
