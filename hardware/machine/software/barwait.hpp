// SPDX-License-Identifier: Apache-2.0
// The barrier instruction as a barrier: each socket has a unit. In one socket an episode is one
// barwait. Over several sockets the cores of a socket meet, their first ones meet by a software
// barrier over the links, and the cores of a socket meet again, which is their release.
#pragma once

#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::rtl {

class hardware_barrier {
 public:
  // Every participant calls it once before the first barrier is made. The first thread of each
  // socket makes the socket's barrier in hardware. Returns false if a unit refuses it.
  static bool prepare(rank_t rank, rank_t n) {
    const std::uint32_t each = cores_of_socket(), socket = rank / each;
    if (rank % each == 0) {
      std::uint8_t list[MOST_CORES];
      std::uint32_t count = 0;
      for (std::uint32_t thread = rank; thread < n && thread < rank + each; ++thread)
        list[count++] = static_cast<std::uint8_t>(thread);
      number_[socket] = create_barrier(list, count, PARAMETER(PARAM_TIMEOUT));
    }
    made_.pass(n);
    for (std::uint32_t s = 0; s * each < n; ++s)
      if (number_[s] < 0) return false;
    return true;
  }

  explicit hardware_barrier(rank_t n)
      : each_(cores_of_socket()), sockets_((n + each_ - 1) / each_), leaders_(sockets_) {}

  // Returns false if the kernel has broken the barrier after a timeout.
  bool arrive_and_wait(rank_t rank) {
    const std::uint32_t socket = sockets_ == 1 ? 0 : rank / each_;
    const auto mine = static_cast<std::uint32_t>(number_[socket]);
    if (sockets_ == 1) return barwait(mine) == 0;
    if (barwait(mine) != 0) return false;
    if (rank == socket * each_) leaders_.arrive_and_wait(socket);
    return barwait(mine) == 0;
  }

 private:
  static inline gate made_;
  // Written before made_ is passed.
  alignas(cache_line) static inline std::int32_t number_[4]{};

  const std::uint32_t each_, sockets_;
  dissemination_barrier<machine, spin_wait<machine>> leaders_;
};

}  // namespace tutti::rtl
