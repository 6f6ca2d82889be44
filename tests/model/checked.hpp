// SPDX-License-Identifier: Apache-2.0
// The platform on which every algorithm is checked: Relacy's relaxed memory, whose loads may
// return stale values wherever C++ allows it, and a scheduler that decides before every operation
// which thread runs next.
//
// This file adds to Relacy:
//  * The one order of seq_cst operations and fences together ([atomics.order], paragraph 4). Relacy
//    alone orders operations with operations and fences with fences.
//  * Lifetime: each operation reads plain data beside the atomic, and the destructor writes it, so
//    that an operation that does not happen before the destruction is a data race.
//  * The futex: compare and sleep are one step, and steps on one word are totally ordered, as the
//    manual promises; no fence beyond that is assumed. A sleeper may wake for no reason.
//  * Hints (clock, hints about cores) are answered at random: whatever an algorithm learns from
//    them must be harmless.
#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <vector>

#include "tests/model/relacy.hpp"
#include "tests/model/sites.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/undisturbed_cpu.hpp"

namespace tutti::model {

inline constexpr int most_threads = 4;

// When the seq_cst fences of each thread and the modifications were made, by one clock that never
// goes back. Times are compared only within an execution.
struct one_order {
  std::uint64_t now = 0;
  std::array<std::uint64_t, most_threads> last_fence{};
};
inline one_order the_one_order;

// The number of executions that have begun.
inline std::uint64_t executions_begun = 0;

inline rl::memory_order relacy_order(std::memory_order o) noexcept {
  switch (o) {
    case std::memory_order_relaxed: return rl::mo_relaxed;
    case std::memory_order_consume: return rl::mo_consume;
    case std::memory_order_acquire: return rl::mo_acquire;
    case std::memory_order_release: return rl::mo_release;
    case std::memory_order_acq_rel: return rl::mo_acq_rel;
    case std::memory_order_seq_cst: break;
  }
  return rl::mo_seq_cst;
}

// The weakened order is one that the operation cannot have (a load that releases), so this mutant
// does not exist.
inline void no_such_mutant() {
  rl::ctx().fail_test("no such mutant", rl::test_result_inconsistent_test_suite, RL_INFO);
}

template <class T>
class checked_atomic {
 public:
  checked_atomic(T value = T()) noexcept : value_(value), kernel_(0), life_(1) {
    recent_[0].value = value;
  }
  // After this, no thread may access the atomic, nor may one that was not waited for have accessed
  // it.
  ~checked_atomic() { life_(RL_INFO).store(0); }
  checked_atomic(const checked_atomic&) = delete;
  checked_atomic& operator=(const checked_atomic&) = delete;

  T load(std::memory_order o) const noexcept {
    if (o == std::memory_order_release || o == std::memory_order_acq_rel) no_such_mutant();
    rl::ctx().sched();
    const rl::preemption_disabler step(rl::ctx());
    touch();
    const T seen = value_(RL_INFO).load(relacy_order(o));
    return is_too_old(seen, o) ? load_latest(o) : seen;
  }

  void store(T value, std::memory_order o) noexcept {
    if (o == std::memory_order_acquire || o == std::memory_order_acq_rel) no_such_mutant();
    rl::ctx().sched();
    const rl::preemption_disabler step(rl::ctx());
    touch();
    value_(RL_INFO).store(value, relacy_order(o));
    note_modification(o);
  }

  T exchange(T value, std::memory_order o) noexcept {
    return modify(o, [&](auto order) { return value_(RL_INFO).exchange(value, order); });
  }
  T fetch_add(T value, std::memory_order o) noexcept {
    return modify(o, [&](auto order) { return value_(RL_INFO).fetch_add(value, order); });
  }
  T fetch_sub(T value, std::memory_order o) noexcept {
    return modify(o, [&](auto order) { return value_(RL_INFO).fetch_sub(value, order); });
  }
  T fetch_and(T value, std::memory_order o) noexcept {
    return modify(o, [&](auto order) { return value_(RL_INFO).fetch_and(value, order); });
  }
  T fetch_or(T value, std::memory_order o) noexcept {
    return modify(o, [&](auto order) { return value_(RL_INFO).fetch_or(value, order); });
  }

  // It may fail for no reason.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    rl::ctx().sched();
    const rl::preemption_disabler step(rl::ctx());
    touch();
    const bool is_done = value_(RL_INFO).compare_exchange_weak(
        expected, desired, relacy_order(success), relacy_order(failure));
    if (is_done) note_modification(success);
    return is_done;
  }

  void sleep_while(T seen) const noexcept {
    rl::ctx().sched();
    {
      const rl::preemption_disabler step(rl::ctx());
      touch();
      enter_kernel();
      if (value_(RL_INFO).load(rl::mo_relaxed) != seen) return;
      if (rl::ctx().is_random_sched() && rl::rand(8) == 0) return;
    }
    value_.wait(rl::ctx(), false, false, RL_INFO);
  }

  void wake(int how_many = INT_MAX) const noexcept {
    rl::ctx().sched();
    const rl::preemption_disabler step(rl::ctx());
    touch();
    enter_kernel();
    value_.wake(rl::ctx(), how_many, RL_INFO);
  }

 private:
  struct modification {
    T value{};
    std::uint64_t at = 0;
    unsigned by = 0;
    bool is_seq_cst = false;
  };

  void touch() const noexcept { (void)life_(RL_INFO).load(); }

  // The order that the kernel's lock of a futex word provides.
  void enter_kernel() const noexcept { kernel_(RL_INFO).fetch_add(1, rl::mo_acq_rel); }

  template <class Operation>
  T modify(std::memory_order o, Operation operation) noexcept {
    rl::ctx().sched();
    const rl::preemption_disabler step(rl::ctx());
    touch();
    const T before = operation(relacy_order(o));
    note_modification(o);
    return before;
  }

  void note_modification(std::memory_order o) noexcept {
    recent_[++latest_ % recent_.size()] = {value_.debug_value(), ++the_one_order.now,
                                           rl::thread_index(), o == std::memory_order_seq_cst};
  }

  // Whether the one order would have shown this thread a newer value.
  bool is_too_old(T seen, std::memory_order o) const noexcept {
    const auto& fences = the_one_order.last_fence;
    for (std::size_t age = 0; age < recent_.size() && age <= latest_; ++age) {
      const modification& m = recent_[(latest_ - age) % recent_.size()];
      if (m.value == seen) return false;
      // Either a seq_cst modification, then this thread's fence, then this load; or a modification,
      // its thread's fence, then this seq_cst load.
      if (m.is_seq_cst && m.at < fences[rl::thread_index()]) return true;
      if (o == std::memory_order_seq_cst && m.at < fences[m.by]) return true;
    }
    return false;
  }

  // A compare-and-swap that fails reads the latest value and writes nothing.
  T load_latest(std::memory_order o) const noexcept {
    T other = static_cast<T>(value_.debug_value() + 1);
    const rl::memory_order order = relacy_order(o);
    value_(RL_INFO).compare_exchange_strong(other, other, order, order);
    return other;
  }

  mutable rl::atomic<T> value_;
  mutable rl::atomic<unsigned> kernel_;
  mutable rl::var<int> life_;
  // The same number of modifications as Relacy remembers.
  std::array<modification, rl::atomic_history_size> recent_{};
  std::size_t latest_ = 0;
};

// Plain data: an access that races is an error.
template <class T>
class checked_plain {
 public:
  checked_plain(T value = T()) : value_(value) {}
  operator T() const { return value_(RL_INFO).load(); }
  checked_plain& operator=(T value) {
    value_(RL_INFO).store(value);
    return *this;
  }

 private:
  rl::var<T> value_;
};

class checked_mutex {
 public:
  void lock() { mutex_.lock(RL_INFO); }
  void unlock() { mutex_.unlock(RL_INFO); }

 private:
  rl::mutex mutex_;
};

struct checked {
  template <class T>
  using atomic = checked_atomic<T>;
  // It publishes nothing, so its accesses are not worth exploring.
  template <class T>
  using setting = std::atomic<T>;
  template <class T>
  using plain = checked_plain<T>;
  using mutex = checked_mutex;
  static constexpr bool can_park = true;

  static std::memory_order order(const char* site, std::memory_order o) noexcept {
    return sites.pass(site, o);
  }
  static void fence(const char* site, std::memory_order o) noexcept {
    const std::memory_order used = sites.pass(site, o);
    if (used == std::memory_order_relaxed) return;
    rl::atomic_thread_fence(relacy_order(used), RL_INFO);
    if (used == std::memory_order_seq_cst)
      the_one_order.last_fence[rl::thread_index()] = ++the_one_order.now;
  }

  static void relax() noexcept { rl::yield(1, RL_INFO); }
  static void relax_long() noexcept { relax(); }
  static void yield() noexcept { rl::yield(1, RL_INFO); }

  template <class T>
  static void park(const checked_atomic<T>& word, T seen, std::uint64_t /*deadline_ns*/) noexcept {
    word.sleep_while(seen);
  }
  template <class T>
  static void unpark(const checked_atomic<T>& word) noexcept {
    word.wake();
  }
  template <class T>
  static void unpark_one(const checked_atomic<T>& word) noexcept {
    word.wake(1);
  }

  static std::uint64_t now_ns() noexcept {
    static std::uint64_t now = 0, execution = 0;
    if (execution != executions_begun) now = 0;
    execution = executions_begun;
    constexpr std::uint64_t longer_than_patience_ns = 60'000;
    return now += rl::rand(2) * longer_than_patience_ns;
  }
  static std::uint32_t place() noexcept { return 0; }
  static std::uint32_t cpus() noexcept { return 1; }
  // The topology of this machine does not matter here.
  static std::vector<rank_t> cache_groups(rank_t n) {
    return n == 2 ? std::vector<rank_t>{1, 1} : std::vector<rank_t>{2, n - 2};
  }
  // What a thread learns changes only its waits, so Relacy's threads may share it. At random they
  // keep it from one execution to the next. A systematic search repeats the beginning of an
  // execution, which must not depend on the executions before.
  template <class T>
  static T& local() noexcept {
    static thread_local T object{};
    static thread_local std::uint64_t execution = 0;
    if (execution != executions_begun && !rl::ctx().is_random_sched()) object = T{};
    execution = executions_begun;
    return object;
  }
  template <class T, class Changed>
  static void nap(const checked_atomic<T>&, Changed changed) noexcept {
    if (!changed()) relax();
  }

  struct hints : platform::undisturbed_cpu {
    bool visited_by_another() const noexcept { return rl::rand(2) == 0; }
    bool has_other_process() const noexcept { return rl::rand(2) == 0; }
    bool is_shunned(std::uint64_t) const noexcept { return rl::rand(2) == 0; }
    bool is_contested(std::uint64_t) const noexcept { return rl::rand(2) == 0; }
    bool is_contest_over(std::uint64_t, std::uint32_t) const noexcept { return rl::rand(2) == 0; }
    bool may_try_yielding(std::uint64_t, std::uint32_t) const noexcept { return rl::rand(2) == 0; }
  };
  static hints& core() noexcept {
    static hints any;
    return any;
  }
};

}  // namespace tutti::model
