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
  // Every participant calls it once before the first barrier is made. The first core of each socket
  // makes the socket's barrier in hardware. Returns false if a unit refuses it.
  static bool prepare(rank_t rank, rank_t n) {
    const std::uint32_t of_socket = CORES / SOCKETS, first = rank / of_socket * of_socket;
    const std::uint32_t socket = rank / of_socket;
    if (rank == first) {
      std::uint8_t list[32];
      std::uint32_t count = 0;
      for (std::uint32_t core = first; core < n && core < first + of_socket && count < 32; ++core)
        list[count++] = static_cast<std::uint8_t>(core);
      number_[socket] = create_barrier(list, count, PARAMETER(PARAM_TIMEOUT));
    }
    made_.pass(n);
    for (std::uint32_t s = 0; s * of_socket < n; ++s)
      if (number_[s] < 0) return false;
    return true;
  }

  explicit hardware_barrier(rank_t n)
      : of_socket_(CORES / SOCKETS),
        sockets_((n + of_socket_ - 1) / of_socket_),
        leaders_(sockets_) {}

  bool arrive_and_wait(rank_t rank) {
    const std::uint32_t socket = sockets_ == 1 ? 0 : rank / of_socket_;
    const auto mine = static_cast<std::uint32_t>(number_[socket]);
    bool good = barwait(mine) == 0;
    if (sockets_ == 1) return good;
    if (rank == socket * of_socket_) leaders_.arrive_and_wait(socket);
    good &= barwait(mine) == 0;
    return good;
  }

 private:
  static inline gate made_;
  // Written before made_ is passed.
  alignas(cache_line) static inline std::int32_t number_[4]{};

  const std::uint32_t of_socket_, sockets_;
  dissemination_barrier<machine, spin_wait<machine>> leaders_;
};

}  // namespace tutti::rtl
