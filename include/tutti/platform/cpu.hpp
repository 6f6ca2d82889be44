// SPDX-License-Identifier: Apache-2.0
// Which CPU runs this thread, and whether another waiting thread of this process has been on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/minmax.hpp"

#if TUTTI_HOSTED
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

inline std::uint32_t current_cpu() noexcept {
  const int cpu = sched_getcpu();  // a load from the rseq area since glibc 2.35: about 3 ns
  return cpu < 0 ? 0u : static_cast<std::uint32_t>(cpu);
}

// How many tasks of this machine run or want to, the caller included, at this moment; 0 where the system does not tell. About
// a microsecond. Containers see those of their host.
inline std::uint32_t runnable_tasks() noexcept {
  static const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  char text[64];
  const auto size = file < 0 ? 0 : pread(file, text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = '\0';
  // "0.24 0.13 0.05 2/345 6789"
  const char* at = text;
  for (int blanks = 0; blanks < 3 && *at != '\0'; ++at) blanks += *at == ' ' ? 1 : 0;
  std::uint32_t count = 0;
  for (; *at >= '0' && *at <= '9'; ++at) count = 10 * count + static_cast<std::uint32_t>(*at - '0');
  return count;
}

// What the threads of this process have learnt about one CPU by waiting on it. Written only by threads that run
// there and only when something changes, so that on free cores it stays clean in every cache. All of it is hints:
// nothing is published through it.
class alignas(cache_line) cpu_hints {
 public:
  // Leaves my name; true if another thread has waited here since I last did. Then we share the core, and spinning
  // would keep off it the very thread that is being waited for.
  bool visited_by_another() noexcept {
    thread_local const char me = 0;  // its address is this thread's name
    // relaxed: a hint; a stale name costs one needless yield.
    if (look(last_waiter_) == &me) return false;
    // relaxed: as above.
    if (last_waiter_.exchange(&me, relaxed) == nullptr) return false;
    seeker_of_free_cores.share_core();
    return true;
  }

  // --- processes that are no participants

  // A yield that lasted from `began` to `now`: a process took a slice. If he goes, that costs less than to sleep from then on.
  // A second one that follows at once, or one after a time of shunning, tells that he stays: each yield costs a slice.
  void note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    if (fibers_here != nullptr) return;  // perhaps another fiber of this thread ran
    const bool is_tried = has_other_process() && !is_shunned(began_ns);
    const auto seen = look_at_slice(began_ns, now_ns, at_once_ns);
    if (seen == slice::follows || (seen == slice::first && is_tried)) shun(now_ns);
  }
  // The same, seen by a waiter that polled on a core of its own: it was kept from running in the meantime. Slices take turns
  // with what the waiter's thread gets, some milliseconds each.
  void note_preemption(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    if (fibers_here != nullptr) return;  // as above
    if (look_at_slice(began_ns, now_ns, soon_ns) != slice::follows) return;
    const bool is_long_ago = now_ns > look(contested_until_) + forget_ns;
    const std::uint32_t ms =
        is_long_ago ? first_contested_ms : smaller(2 * look(contested_ms_), most_ms);
    put(contested_ms_, ms);
    put(contested_until_, now_ns + ms * std::uint64_t{1'000'000});
  }
  // A process takes what is polled away here.
  bool is_contested(std::uint64_t now_ns) const noexcept { return now_ns < look(contested_until_); }
  // Yields here cost a slice each.
  bool is_shunned(std::uint64_t now_ns) const noexcept {
    return now_ns < look(other_process_until_);
  }
  bool has_other_process() const noexcept { return look(other_process_until_) != 0; }
  // After the time of shunning one waiter at a time tries to yield, the others on this core go on sleeping: a try can cost
  // a slice, and all would pay it one after the other. It need not be waited for where the system tells that nobody but the
  // caller wants to run at all.
  bool may_try_yielding(std::uint64_t now_ns,
                        std::uint32_t (*count_runnable)() noexcept = runnable_tasks) noexcept {
    if (is_shunned(now_ns)) {
      if (now_ns < look(look_at_)) return false;
      put(look_at_, now_ns + look_every_ns);
      if (count_runnable() != 1) return false;
      forget();
      return true;
    }
    if (now_ns < look(turn_until_)) return false;
    put(turn_until_, now_ns + turn_ns);
    return true;
  }
  // A yield after the time of shunning was short. One alone tells little: it may have gone to another participant.
  void note_short_yield() noexcept {
    const std::uint32_t in_a_row = look(short_yields_) + 1;
    put(short_yields_, in_a_row);
    if (in_a_row >= short_yields_to_forget) forget();
  }

  // --- participants that wait here, counted from when they begin; wraps
  void note_wait() noexcept { put(waits_, look(waits_) + 1); }
  std::uint32_t waits() const noexcept { return look(waits_); }

  static cpu_hints& here() noexcept;

 private:
  // relaxed: all that stands here is a hint; nothing is published through it, and what is lost costs a needless yield, sleep or
  // look.
  template <class T>
  static T look(const std::atomic<T>& word) noexcept {
    return word.load(relaxed);
  }
  template <class T>
  static void put(std::atomic<T>& word, std::type_identity_t<T> value) noexcept {
    word.store(value, relaxed);  // relaxed: as above
  }

  static constexpr std::uint32_t first_ms = 4, first_contested_ms = 32, most_ms = 256;
  static constexpr std::uint64_t at_once_ns = 2'000'000, soon_ns = 20'000'000,
                                 forget_ns = 1'000'000'000;
  static constexpr std::uint64_t turn_ns = 8'000'000;
  static constexpr std::uint64_t look_every_ns = 200'000;
  static constexpr std::uint32_t short_yields_to_forget = 64;

  // told: by another waiter, who gave the core away before as well; first: for a while; follows: soon after the one before.
  enum class slice { told, first, follows };
  slice look_at_slice(std::uint64_t began_ns, std::uint64_t now_ns, std::uint64_t soon) noexcept {
    const std::uint64_t last = look(last_slice_);
    if (began_ns < last) return slice::told;
    put(last_slice_, now_ns);
    return began_ns - last > soon ? slice::first : slice::follows;
  }
  void shun(std::uint64_t now_ns) noexcept {
    const std::uint32_t ms = within(4 * look(other_process_ms_), first_ms, most_ms);
    put(short_yields_, 0);
    put(other_process_ms_, ms);
    put(other_process_until_, now_ns + ms * std::uint64_t{1'000'000});
  }
  void forget() noexcept {
    put(other_process_ms_, 0);
    put(other_process_until_, 0);
  }

  std::atomic<const void*> last_waiter_;
  std::atomic<std::uint64_t> other_process_until_;
  std::atomic<std::uint64_t> turn_until_;
  std::atomic<std::uint64_t> look_at_;
  std::atomic<std::uint64_t> last_slice_;
  std::atomic<std::uint64_t> contested_until_;
  std::atomic<std::uint32_t> other_process_ms_;
  std::atomic<std::uint32_t> contested_ms_;
  std::atomic<std::uint32_t> short_yields_;
  std::atomic<std::uint32_t> waits_;
};

inline constexpr std::uint32_t core_slots =
    256;  // CPUs beyond share an entry: needless yields at worst
TUTTI_API inline cpu_hints hints_of_cpus[core_slots];
inline cpu_hints& cpu_hints::here() noexcept { return hints_of_cpus[current_cpu() % core_slots]; }

#else

// One program on the machine: every core is its thread's own.
struct cpu_hints {
  bool visited_by_another() const noexcept { return false; }
  void note_foreign_slice(std::uint64_t, std::uint64_t) noexcept {}
  void note_preemption(std::uint64_t, std::uint64_t) noexcept {}
  bool is_contested(std::uint64_t) const noexcept { return false; }
  bool is_shunned(std::uint64_t) const noexcept { return false; }
  bool has_other_process() const noexcept { return false; }
  bool may_try_yielding(std::uint64_t) const noexcept { return true; }
  void note_short_yield() noexcept {}
  void note_wait() noexcept {}
  std::uint32_t waits() const noexcept { return 0; }
  static cpu_hints& here() noexcept {
    static cpu_hints only;
    return only;
  }
};

#endif

}  // namespace tutti::platform
