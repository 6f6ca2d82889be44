// SPDX-License-Identifier: Apache-2.0
// The mutexes of the native platform: that of the operating system, and one that spins where
// there is no operating system. They do without <mutex>, which adds 2,000 lines.
#pragma once

#include <atomic>

#include "tutti/platform/config.hpp"
#include "tutti/platform/pause.hpp"

#if TUTTI_HOSTED
#include <pthread.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED
class system_mutex {
 public:
  system_mutex() noexcept = default;
  ~system_mutex() { pthread_mutex_destroy(&mutex_); }
  system_mutex(const system_mutex&) = delete;
  system_mutex& operator=(const system_mutex&) = delete;

  // A mutex of the default kind reports no error unless its owner locks it again.
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
#endif

class spin_mutex {
 public:
  void lock() noexcept {
    // acquire: pairs with unlock, so that what the last owner wrote is seen.
    while (locked_.exchange(true, acquire)) pause();
  }
  void unlock() noexcept {
    // release: publishes what was written under the lock to the next owner.
    locked_.store(false, release);
  }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace tutti::platform
