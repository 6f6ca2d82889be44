// SPDX-License-Identifier: Apache-2.0
// How long a wait may last. `no_deadline` is known at compile time, so that a wait without one pays nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/futex.hpp"

namespace tutti {

struct no_deadline {
  static constexpr std::uint64_t ns() noexcept { return platform::forever_ns; }
  static constexpr std::uint64_t park_ns() noexcept { return platform::forever_ns; }
  template <class Memory>
  static constexpr bool passed() noexcept {
    return false;
  }
};

// What ends the waits of a group early when one of its members has failed and will not arrive.
class cancellation {
 public:
  // relaxed: those who see it leave with an error; they read nothing that the failed one wrote.
  void request() noexcept { requested_.store(true, relaxed); }
  bool requested() const noexcept { return requested_.load(relaxed); }  // relaxed: as above
  void reset() noexcept { requested_.store(false, relaxed); }           // relaxed: nobody waits

 private:
  std::atomic<bool> requested_{false};
};

// An instant of the monotonic clock, in nanoseconds; or the moment of a cancellation; or the earlier of both.
class deadline {
 public:
  explicit constexpr deadline(std::uint64_t ns) noexcept : ns_(ns) {}
  explicit constexpr deadline(const cancellation& cancelled,
                              std::uint64_t ns = platform::forever_ns) noexcept
      : ns_(ns), cancelled_(&cancelled) {}

  // forever_ns if there is no instant.
  std::uint64_t ns() const noexcept { return is_cancelled() ? 0 : ns_; }
  // Until when a sleeper may sleep at a stretch: nobody wakes it to tell of a cancellation.
  std::uint64_t park_ns() const noexcept {
    constexpr std::uint64_t look_every_ns = 5'000'000;
    return cancelled_ == nullptr ? ns_ : std::min(ns(), platform::now_ns() + look_every_ns);
  }
  template <class Memory>
  bool passed() const noexcept {
    return is_cancelled() || (ns_ != platform::forever_ns && Memory::now_ns() >= ns_);
  }

 private:
  bool is_cancelled() const noexcept { return cancelled_ != nullptr && cancelled_->requested(); }

  std::uint64_t ns_;
  const cancellation* cancelled_ = nullptr;
};

}  // namespace tutti
