// SPDX-License-Identifier: Apache-2.0
// Tells a process from those that it descends from: what is cheaper than getpid(), and what a child
// may do with data that its parent was just changing.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/found_once.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/thread_sanitizer.hpp"

namespace tutti::detail::shared {

// A number that this process keeps, and that no process has had from which it descends.
//
// It is 0 in a new child, because the kernel clears its page there (MADV_WIPEONFORK, Linux 4.14).
// So every handler of forks sees the new number, and so do children of _Fork() and clone(), which
// call no handlers. Where the kernel cannot do that, the number is that of getpid().
class process_number {
 public:
  static std::uint32_t of_this() noexcept {
    std::atomic<std::uint32_t>& number = *page.get(make_page, [](auto* lost) {
      if (lost != &none) munmap(lost, sizeof *lost);
    });
    // relaxed: the number publishes nothing.
    if (const std::uint32_t mine = number.load(relaxed)) [[likely]]
      return mine;
    return &number == &none ? static_cast<std::uint32_t>(getpid()) : choose(number);
  }

 private:
  using word = std::atomic<std::uint32_t>;

  static word* make_page() noexcept {
    void* const made =
        mmap(nullptr, sizeof(word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return &none;
    // An emulator that ignores advice takes also one that does not exist.
    if (madvise(made, sizeof(word), -1) != 0 && madvise(made, sizeof(word), clear_in_child) == 0)
      return ::new (made) word(0);
    munmap(made, sizeof(word));
    return &none;
  }
  static std::uint32_t choose(word& number) noexcept {
    // relaxed: a child has what its parent had before the fork.
    const std::uint32_t next = last.fetch_add(1, relaxed) + 1;
    std::uint32_t chosen = 0;
    // relaxed, relaxed: of the threads of a process, the first one chooses.
    return number.compare_exchange_strong(chosen, next, relaxed, relaxed) ? next : chosen;
  }

  static constexpr int clear_in_child = 18;  // MADV_WIPEONFORK, which glibc 2.26 does not name
  static inline constinit word none{0};
  static inline constinit word last{0};
  static inline constinit platform::found_once<word*> page{nullptr};
};

// A lock that may be held while another thread forks, even without handlers: the child, which does
// not have the thread that holds it, takes the lock over.
class inherited_lock {
 public:
  enum class was { free, held_in_parent };
  // In the second case the data of the lock may be half changed, and nobody completes it.
  was lock() noexcept {
    const std::uint32_t mine = process_number::of_this();
    for (;;) {
      std::uint32_t holder = 0;
      // acquire: pairs with unlock. relaxed: another try follows.
      if (holder_.compare_exchange_strong(holder, mine, acquire, relaxed)) return was::free;
      // acquire: as above, and nobody unlocks. relaxed: another try follows.
      if (holder != mine && holder_.compare_exchange_strong(holder, mine, acquire, relaxed))
        return was::held_in_parent;
      // Nobody is woken: the lock is held for short, and seldom.
      platform::futex_wait(&holder_, mine, platform::now_ns() + 50'000);
    }
  }
  // release: publishes the data.
  void unlock() noexcept { holder_.store(0, release); }

 private:
  platform::told_atomic<std::uint32_t> holder_{0};
};

}  // namespace tutti::detail::shared
