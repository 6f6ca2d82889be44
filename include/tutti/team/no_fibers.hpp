// SPDX-License-Identifier: Apache-2.0
// The `fiber_group` of a platform that runs no fibers: its teams have a thread for each rank.
#pragma once

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

class no_fibers {
 public:
  // Throws std::invalid_argument.
  [[noreturn]] no_fibers(rank_t /*count*/, rank_t /*first_rank*/, const auto& /*options*/) {
    refuse("this platform has no virtual ranks: a team has as many ranks as threads");
  }
  static rank_t size() noexcept { return 0; }
  static void run(void (*)(void* context, rank_t i), void*) noexcept {}
  static void let_others_run() noexcept {}
  template <class Wait>
  static auto on_behalf_of_all(Wait wait) {
    return wait();
  }
};

}  // namespace tutti
