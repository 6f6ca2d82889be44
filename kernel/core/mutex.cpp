// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/mutex.hpp"

#include "kernel/core/park.hpp"

namespace tutti::kernel {

void mutex::wait() noexcept {
  // acquire: pairs with unlock().
  while (word_.exchange(is_awaited, std::memory_order_acquire) != is_free)
    // relaxed: the exchange above orders what the owner reads.
    park(&word_, [this] { return word_.load(std::memory_order_relaxed) == is_awaited; });
}

// Nobody waits at a word that is free: who comes later takes it or marks it again.
void mutex::wake() noexcept { unpark(&word_, 1); }

}  // namespace tutti::kernel
