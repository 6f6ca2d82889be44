// SPDX-License-Identifier: Apache-2.0
// The kernel as a platform (include/tutti/platform/native.hpp lists what a platform provides): with
// it tutti's algorithms wait by the kernel's scheduler.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "kernel/core/mutex.hpp"
#include "kernel/core/park.hpp"
#include "kernel/core/thread.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/standard_words.hpp"
#include "tutti/platform/undisturbed_cpu.hpp"

namespace tutti::kernel {

// What waiting threads have learnt about their core. There are no other processes here, but threads
// of this kernel share cores.
class core_hints : public platform::undisturbed_cpu {
 public:
  bool visited_by_another() noexcept;
  void note_wait() noexcept { waits_ = waits_ + 1; }
  u32 waits() const noexcept { return waits_; }

 private:
  const void* last_waiter_ = nullptr;
  u32 waits_ = 0;
};

u64 now_ns() noexcept;
core_hints& hints_here() noexcept;
u32 index_here() noexcept;
// The ticks of the clock at a time in nanoseconds.
u64 ticks_of(u64 deadline_ns) noexcept;
// Waits while the word is `seen`, until a time in nanoseconds.
template <class Word>
void park_on(const std::atomic<Word>& word, std::type_identity_t<Word> seen,
             u64 deadline_ns) noexcept {
  // seq_cst: the look before the sleep comes after the announcement of the sleeper in the one
  // order, as it does in Linux' futex.
  kernel::park(
      &word, [&] { return word.load(seq_cst) == seen; }, ticks_of(deadline_ns));
}
void wake_waiters(const void* address, u32 most) noexcept;

struct memory : tutti::platform::standard_words {
  using mutex = kernel::mutex;
  static constexpr bool can_park = true;

  static constexpr std::memory_order order(const char* /*site*/, std::memory_order o) noexcept {
    return o;
  }
  static void fence(const char* /*site*/, std::memory_order o) noexcept {
    std::atomic_thread_fence(o);
  }
  static void relax() noexcept { machine::pause(); }
  static void relax_long() noexcept { machine::pause(); }
  static void yield() noexcept { kernel::yield(); }
  static u64 now_ns() noexcept { return kernel::now_ns(); }
  static core_hints& core() noexcept { return hints_here(); }
  static u32 cpus() noexcept { return kernel::cores(); }
  // The kernel gives each thread its thread-local variables.
  template <class T>
  static T& local() noexcept {
    static thread_local constinit T object{};
    return object;
  }
  // The emulated processors have no instruction that waits for a line.
  template <class Word, class Changed>
  static void nap(const Word&, Changed changed) noexcept {
    if (!changed()) relax();
  }
  // A striped barrier has up to 4 participants on a leaf.
  static u32 place() noexcept { return index_here() / 4; }

  template <class Word, class Value>
  static void park(const Word& word, Value seen, u64 deadline_ns) noexcept {
    park_on(word, seen, deadline_ns);
  }
  template <class Word>
  static void unpark(const Word& word) noexcept {
    wake_waiters(&word, ~u32{0});
  }
  template <class Word>
  static void unpark_one(const Word& word) noexcept {
    wake_waiters(&word, 1);
  }
};

}  // namespace tutti::kernel
