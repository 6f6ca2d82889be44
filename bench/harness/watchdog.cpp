// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps until the guarded section is over or its time is up.
#include "bench/harness/watchdog.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace tutti::bench {

watchdog::watchdog(unsigned seconds, std::string what)
    : thread_([this, seconds, what = std::move(what)] {
        std::unique_lock lock(mutex_);
        if (wake_.wait_for(lock, std::chrono::seconds(seconds), [this] { return over_; })) return;
        fmt::print(stderr, "tutti: {} did not finish a round within {} s\n", what, seconds);
        std::_Exit(hung_status);
      }) {}

watchdog::~watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

}  // namespace tutti::bench
