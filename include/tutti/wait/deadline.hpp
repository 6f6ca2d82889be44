// SPDX-License-Identifier: Apache-2.0
// How long a wait may last. `no_deadline` is known at compile time, so a wait without a deadline
// costs nothing extra.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

struct no_deadline {
  static constexpr std::uint64_t ns() noexcept { return platform::forever_ns; }
  static constexpr std::uint64_t park_ns() noexcept { return platform::forever_ns; }
  template <class Memory>
  static constexpr bool passed() noexcept {
    return false;
  }
};

// Ends the waits of a group early because one of its members has failed and will not arrive. Any
// thread may call request() and requested(); reset() must not overlap a wait.
template <class Memory>
class basic_cancellation {
 public:
  // relaxed: a waiter that sees it leaves with an error and reads nothing that the failed member
  // wrote.
  void request() noexcept { requested_.store(true, relaxed); }
  bool requested() const noexcept { return requested_.load(relaxed); }
  void reset() noexcept { requested_.store(false, relaxed); }

 private:
  typename Memory::template atomic<bool> requested_{false};
};
using cancellation = basic_cancellation<native>;

// An instant of the monotonic clock in nanoseconds, the moment of a cancellation, or the earlier of
// both. The cancellation must outlive the deadline.
template <class Memory>
class basic_deadline {
 public:
  explicit constexpr basic_deadline(std::uint64_t ns) noexcept : ns_(ns) {}
  explicit constexpr basic_deadline(const basic_cancellation<Memory>& cancelled,
                                    std::uint64_t ns = platform::forever_ns) noexcept
      : ns_(ns), cancelled_(&cancelled) {}

  // Returns the instant, forever_ns if there is none, or 0 once cancelled.
  std::uint64_t ns() const noexcept { return is_cancelled() ? 0 : ns_; }
  // Returns the instant at which a sleeper must look again. A cancellation wakes no sleeper, so a
  // deadline with a cancellation makes it look every 5 ms.
  std::uint64_t park_ns() const noexcept {
    constexpr std::uint64_t look_every_ns = 5'000'000;
    return cancelled_ == nullptr ? ns_ : smaller(ns(), Memory::now_ns() + look_every_ns);
  }
  // Returns true once the instant or the cancellation has come. `Waiting` is the platform on which
  // the caller waits.
  template <class Waiting>
  bool passed() const noexcept {
    return is_cancelled() || (ns_ != platform::forever_ns && Waiting::now_ns() >= ns_);
  }

 private:
  bool is_cancelled() const noexcept { return cancelled_ != nullptr && cancelled_->requested(); }

  std::uint64_t ns_;
  const basic_cancellation<Memory>* cancelled_ = nullptr;
};

// The deadline of a wait on the native platform. (It is no alias, because compilers warn about
// parameters of the same name as an alias.)
class deadline : public basic_deadline<native> {
 public:
  using basic_deadline::basic_deadline;
  constexpr deadline(basic_deadline<native> same) noexcept : basic_deadline(same) {}
};

}  // namespace tutti
