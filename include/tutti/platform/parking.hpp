// SPDX-License-Identifier: Apache-2.0
// The sleep of a native platform: a thread or fiber sleeps while a word has a value. Without an
// operating system it polls instead.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::platform {

#if TUTTI_HOSTED

template <futex_scope Scope>
struct parking {
  static constexpr bool can_park = true;
  static void park(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(&word, seen, deadline_ns);
  }
  static void park(const std::atomic<std::uint64_t>& word, std::uint64_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(low_half(word), static_cast<std::uint32_t>(seen), deadline_ns);
  }
  static void unpark(const std::atomic<std::uint32_t>& word) noexcept {
    futex_wake_all(&word, Scope);
  }
  static void unpark(const std::atomic<std::uint64_t>& word) noexcept {
    futex_wake_all(low_half(word), Scope);
  }
  static void unpark_one(const std::atomic<std::uint32_t>& word) noexcept {
    futex_wake_one(&word, Scope);
  }

 private:
  static void sleep(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) noexcept {
    if (!park_fiber(word, seen, deadline_ns, Scope)) futex_wait(word, seen, deadline_ns, Scope);
  }
};

#else

template <futex_scope>
struct parking {
  static constexpr bool can_park = false;
  template <class Word, class Value>
  static void park(const Word&, Value, std::uint64_t) noexcept {
    pause();
  }
  template <class Word>
  static void unpark(const Word&) noexcept {}
  template <class Word>
  static void unpark_one(const Word&) noexcept {}
};

#endif

}  // namespace tutti::platform
