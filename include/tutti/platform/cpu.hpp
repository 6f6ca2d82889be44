// SPDX-License-Identifier: Apache-2.0
// Tells which CPU runs this thread, and what waiting threads of this process have learnt about it.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/core_sharers.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/throttling.hpp"
#include "tutti/platform/undisturbed_cpu.hpp"

#if TUTTI_HOSTED
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

// Returns the number of the CPU, or 0 if it is unknown. Since glibc 2.35 this is a load from the
// rseq area, which takes about 3 ns.
inline std::uint32_t current_cpu() noexcept {
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0u : static_cast<std::uint32_t>(cpu);
}

// What the threads of this process have learnt about one CPU by waiting on it. Only threads that
// run there write it, and only when something changes, so on free cores it stays unmodified in
// every cache. All values are hints: they publish no other data. Thread-safe.
class alignas(cache_line) cpu_hints {
 public:
  // Records that this thread waits here. Returns true if another thread has waited here, or noted
  // that it runs here, since this thread last waited. Then the two share the core, and spinning
  // would keep the other thread, for which this one may wait, from running.
  bool visited_by_another() noexcept {
    const void* const me = this_thread();
    const void* const runs = look(running_);
    const bool another_runs = runs != nullptr && runs != me;
    if (another_runs) put(running_, nullptr);
    // relaxed: a hint; an outdated value costs one unnecessary yield.
    const bool another_waited =
        look(last_waiter_) != me && last_waiter_.exchange(me, relaxed) != nullptr;
    if (another_waited || another_runs) seeker_of_free_cores.share_core();
    return another_waited || another_runs;
  }
  // Records that this thread runs here although it does not wait. This is no wait of its own: if it
  // replaced the name of the last waiter, this thread would not see that one when it waits.
  void note_running() noexcept {
    if (look(running_) != this_thread()) put(running_, this_thread());
  }

  // --- threads of other processes

  // Reads the processor times of the other participants on this core before a yield, if a long
  // yield would be taken for evidence of another process, or if the caller asks for them. Otherwise
  // it does nothing.
  core_sharers::times times_before_yield(std::uint64_t now_ns, bool asks = false) const noexcept {
    core_sharers::times read;
    if (asks || has_other_process() || now_ns - look(last_slice_) <= at_once_ns)
      sharers_.read(read, look(waits_));
    return read;
  }
  // Returns true if a yield here was long lately.
  bool had_slice_lately(std::uint64_t now_ns) const noexcept {
    return now_ns - look(last_slice_) <= lately_ns;
  }
  // Returns for how long the participants of `before` have run since, in nanoseconds.
  static std::uint64_t ran_since(const core_sharers::times& before) noexcept {
    return core_sharers::ran_since(before);
  }
  // Records that a yield lasted from `began_ns` to `now_ns`, because another process used a time
  // slice. A slice by itself proves nothing: participants may have worked, and a process that
  // leaves the core costs less than sleeping from now on. Slices that follow it at once count if
  // participants ran for `own_ns`, less than half of the time. A core on which they add up to much
  // is avoided, and so is one where a process was found before and still takes a slice.
  //
  // A yield does not reach a process in a session of its own, whose slices alternate with those of
  // this process. They cost no yield, but the core is contested, if `is_proven`: the caller asked
  // for the times of the participants.
  //
  // A yield also lasts long if a quota stops the threads of this process (`by_quota`). Then polling
  // uses up the quota, which the work will need.
  void note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns, std::uint64_t own_ns,
                          bool is_proven, bool by_quota) noexcept {
    // Perhaps another fiber of this thread ran.
    if (fibers_here != nullptr) return;
    if (by_quota) return;
    if (2 * own_ns > now_ns - began_ns) return;
    const std::uint64_t last = look(last_slice_);
    // Another waiter that had also yielded the core reported this slice.
    if (began_ns < last) return;
    put(last_slice_, now_ns);
    const bool was_found = has_other_process() && !is_shunned(began_ns);
    const bool follows = began_ns - last <= at_once_ns;
    if (was_found || (follows && is_much_foreign(began_ns, now_ns, much_foreign_ns))) {
      shun(now_ns);
      contest(now_ns);
    } else if (is_proven && !follows && is_much_contested(began_ns, now_ns)) {
      contest(now_ns);
    }
  }
  void note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns, std::uint64_t own_ns = 0,
                          bool is_proven = false) noexcept {
    note_foreign_slice(began_ns, now_ns, own_ns, is_proven,
                       stops_by_quota.ended_since(began_ns, now_ns));
  }
  // Records that a waiter that polled on a core of its own was kept from running. A busy process
  // alternates with the waiter's thread, in slices of some milliseconds each. Processes that take a
  // slice now and then take less of the core than sleeping through every wait would cost.
  // If another machine of the host took the CPU away, sleeping would not help: the thread that
  // comes late may be any one, and a CPU that halts comes back later. A stop `by_quota` counts at
  // once, for the next one will come if all keep polling.
  void note_preemption(std::uint64_t began_ns, std::uint64_t now_ns, bool by_a_task,
                       bool by_quota) noexcept {
    // Perhaps another fiber of this thread ran.
    if (fibers_here != nullptr) return;
    if (by_quota) return;
    if (!by_a_task) return;
    if (began_ns < look(last_slice_)) return;
    put(last_slice_, now_ns);
    if (core_leaver_here != nullptr) core_leaver_here->was_kept_from_running(began_ns, now_ns);
    if (is_much_contested(began_ns, now_ns)) contest(now_ns);
  }
  void note_preemption(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    note_preemption(began_ns, now_ns, was_displaced_by_a_task(),
                    stops_by_quota.ended_since(began_ns, now_ns));
  }
  // Returns true if the kernel has switched to another task while this thread was ready to run,
  // since the thread last asked, or if the kernel does not tell. The host of a virtual machine
  // takes a CPU away without such a switch. The call takes about 150 ns.
  static bool was_displaced_by_a_task() noexcept {
    // The kernel's struct rusage: two times of two words each, and 14 counts. The header of
    // getrusage would be a noticeable part of what a program compiles.
    constexpr int of_this_thread = 1, words = 18, involuntary_switches = 17;
    long used[words];
    thread_local long before = 0;
    if (syscall(SYS_getrusage, of_this_thread, used) != 0) return true;
    const long now = used[involuntary_switches];
    const bool is_more = now != before;
    before = now;
    return is_more || now == 0;
  }
  // Returns true if another process uses this core too, so that polling takes its processor time.
  bool is_contested(std::uint64_t now_ns) const noexcept { return now_ns < look(contested_until_); }
  // Returns true, and is_contested() returns false from then on, if the system tells that no more
  // tasks are ready to run than the caller's barrier has participants that do not sleep, of whom
  // there are `awake`. It asks the system every 10 ms. If the core turns out to be contested all
  // the same, because participants wait for something else, it does not ask while that holds.
  bool is_contest_over(std::uint64_t now_ns, std::uint32_t awake,
                       std::uint32_t (*count_runnable)() noexcept = runnable_tasks) noexcept {
    if (now_ns < look(ask_at_)) return false;
    put(ask_at_, now_ns + ask_every_ns);
    const std::uint32_t runnable = count_runnable();
    if (runnable == 0 || runnable > awake) return false;
    put(contested_until_, now_ns);
    put(over_at_, now_ns);
    return true;
  }
  // Returns true if a quota leaves no processor time for polling at the moment.
  static bool is_quota_scarce(std::uint64_t now_ns) noexcept {
    return stops_by_quota.forbid_polling(now_ns);
  }
  // is_shunned() returns true during a period of avoidance: each yield on this core costs a slice.
  // has_other_process() returns true if another process was found on this core and is not
  // forgotten.
  bool is_shunned(std::uint64_t now_ns) const noexcept {
    return now_ns < look(other_process_until_);
  }
  bool has_other_process() const noexcept { return look(other_process_until_) != 0; }
  // Returns true if the caller may try to yield. After a period of avoidance one waiter at a time
  // may try, and the others on this core sleep, because a try can cost a slice and all would pay it
  // one after the other. A try is possible earlier if the system tells that no more tasks are ready
  // to run than the caller's barrier has participants that do not sleep, of whom there are `awake`.
  // If that was wrong, because participants wait for something else, the time without tries grows
  // as after a try, and the system is not asked during it.
  bool may_try_yielding(std::uint64_t now_ns, std::uint32_t awake,
                        std::uint32_t (*count_runnable)() noexcept = runnable_tasks) noexcept {
    if (is_shunned(now_ns)) {
      if (now_ns < look(look_at_)) return false;
      put(look_at_, now_ns + look_every_ns);
      const std::uint32_t runnable = count_runnable();
      if (runnable == 0 || runnable > awake) return false;
      put(other_process_until_, 0);
      put(contested_until_, 0);
      put(believed_at_, now_ns);
      return true;
    }
    if (now_ns < look(turn_until_)) return false;
    put(turn_until_, now_ns + turn_ns);
    return true;
  }
  // Records that a yield after a period of avoidance was short. One short yield proves little,
  // because another participant may have run. But the next waiter may try at once.
  void note_short_yield() noexcept {
    const std::uint32_t in_a_row = look(short_yields_) + 1;
    put(short_yields_, in_a_row);
    put(turn_until_, 0);
    if (in_a_row >= short_yields_to_forget) forget();
  }

  // --- the number of waits that began here; it wraps around
  void note_wait() noexcept {
    const std::uint32_t waits = look(waits_) + 1;
    put(waits_, waits);
    sharers_.note(waits);
  }
  std::uint32_t waits() const noexcept { return look(waits_); }

  // Returns the object of the CPU that runs this thread.
  static cpu_hints& here() noexcept;

 private:
  // An address that identifies the thread.
  static const void* this_thread() noexcept {
    thread_local const char me = 0;
    return &me;
  }
  // relaxed: every value here is a hint that publishes nothing else; a lost update costs an
  // unnecessary yield, sleep or look.
  template <class T>
  static T look(const std::atomic<T>& word) noexcept {
    return word.load(relaxed);
  }
  template <class T>
  static void put(std::atomic<T>& word, std::type_identity_t<T> value) noexcept {
    // relaxed: see look().
    word.store(value, relaxed);
  }

  static constexpr std::uint32_t first_ms = 4, most_ms = 256, first_contested_ms = 32,
                                 most_contested_ms = 512;
  static constexpr std::uint64_t at_once_ns = 2'000'000, soon_ns = 20'000'000,
                                 lately_ns = 256'000'000, forget_ns = 1'000'000'000;
  // The slices of others count for the first of these times. The second shows a busy process, the
  // third that it is still there.
  static constexpr std::uint64_t foreign_window_ns = 64'000'000, much_foreign_ns = 10'000'000,
                                 still_foreign_ns = 6'000'000;
  static constexpr std::uint64_t turn_ns = 8'000'000, ask_every_ns = 10'000'000;
  static constexpr std::uint64_t look_every_ns = 200'000;
  static constexpr std::uint32_t short_yields_to_forget = 64;

  // Adds a slice to those of others on this core. Returns true if they have become so many that a
  // busy process must be there. Slices count less the longer ago they were.
  bool is_much_foreign(std::uint64_t began_ns, std::uint64_t now_ns,
                       std::uint64_t much_ns) noexcept {
    const std::uint64_t since = now_ns - look(foreign_at_);
    const std::uint64_t before =
        since < foreign_window_ns
            ? look(foreign_ns_) * (foreign_window_ns - since) / foreign_window_ns
            : 0;
    const std::uint64_t foreign = smaller(before + now_ns - began_ns, foreign_window_ns);
    put(foreign_at_, now_ns);
    put(foreign_ns_, static_cast<std::uint32_t>(foreign));
    return foreign >= much_ns;
  }
  bool was_contested_lately(std::uint64_t now_ns) const noexcept {
    return now_ns <= look(contested_until_) + forget_ns;
  }
  // Less proves that a process that was found a short while ago is still there.
  bool is_much_contested(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    return is_much_foreign(began_ns, now_ns,
                           was_contested_lately(now_ns) ? still_foreign_ns : much_foreign_ns);
  }
  void contest(std::uint64_t now_ns) noexcept {
    const std::uint32_t longer = was_contested_lately(now_ns) ? 2 * look(contested_ms_) : 0;
    const std::uint32_t ms = within(longer, first_contested_ms, most_contested_ms);
    const bool was_misled = now_ns - look(over_at_) <= foreign_window_ns;
    const std::uint64_t until = now_ns + ms * std::uint64_t{1'000'000};
    put(contested_ms_, ms);
    put(contested_until_, until);
    put(ask_at_, was_misled ? until : now_ns + ask_every_ns);
  }
  void shun(std::uint64_t now_ns) noexcept {
    const bool was_misled = now_ns - look(believed_at_) <= soon_ns;
    // The system told long ago that the previous process had left.
    if (!was_misled && !has_other_process()) put(other_process_ms_, 0);
    const std::uint32_t ms = within(4 * look(other_process_ms_), first_ms, most_ms);
    const std::uint64_t until = now_ns + ms * std::uint64_t{1'000'000};
    put(short_yields_, 0);
    put(other_process_ms_, ms);
    put(other_process_until_, until);
    if (was_misled) put(look_at_, until);
  }
  void forget() noexcept {
    put(other_process_ms_, 0);
    put(other_process_until_, 0);
  }

  std::atomic<const void*> last_waiter_, running_;
  std::atomic<std::uint64_t> other_process_until_, turn_until_, look_at_, last_slice_, foreign_at_,
      contested_until_, ask_at_, over_at_, believed_at_;
  std::atomic<std::uint32_t> other_process_ms_, contested_ms_, foreign_ns_, short_yields_, waits_;
  core_sharers sharers_;
};

// With more CPUs some share an entry, which at worst causes unnecessary yields.
inline constexpr std::uint32_t core_slots = 256;
TUTTI_API inline cpu_hints hints_of_cpus[core_slots];
inline cpu_hints& cpu_hints::here() noexcept { return hints_of_cpus[current_cpu() % core_slots]; }

#else

// Without an operating system every core belongs to its thread.
struct cpu_hints : undisturbed_cpu {
  bool visited_by_another() const noexcept { return false; }
  static cpu_hints& here() noexcept {
    static cpu_hints only;
    return only;
  }
};

#endif

}  // namespace tutti::platform
