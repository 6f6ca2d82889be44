// SPDX-License-Identifier: Apache-2.0
// Barriers in hardware as barriers of a program.
#pragma once

#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/algorithms.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::rtl {

// The instruction with a unit in each socket. In one socket an episode is one barwait. Over several
// sockets the cores of a socket meet, their first ones meet by a software barrier over the links,
// and the cores of a socket meet again, which is their release.
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

// One barwait over all sockets: a barrier of the structures, which talk to each other over links.
class structure_barrier {
 public:
  // Every participant calls it once; thread 0 makes the barrier.
  static bool prepare(rank_t rank, rank_t n) {
    if (rank == 0) {
      std::uint8_t list[MOST_CORES];
      for (std::uint32_t thread = 0; thread < n; ++thread)
        list[thread] = static_cast<std::uint8_t>(thread);
      number_ = create_structure_barrier(list, n, PARAMETER(PARAM_TIMEOUT));
    }
    made_.pass(n);
    return number_ >= 0;
  }

  explicit structure_barrier(rank_t) {}
  bool arrive_and_wait(rank_t) { return barwait(static_cast<std::uint32_t>(number_)) == 0; }

 private:
  static inline gate made_;
  // Written before made_ is passed.
  alignas(cache_line) static inline std::int32_t number_{};
};

// The mask unit: each core has a wire to it, and waits in a barwait.
class mask_barrier {
 public:
  static bool prepare(rank_t rank, rank_t n) {
    if (rank == 0) opened_ = open_unit(DEVICE_MASK, n) == 0;
    made_.pass(n);
    return opened_;
  }

  explicit mask_barrier(rank_t) {}
  bool arrive_and_wait(rank_t) { return barwait(MASK_BARRIER) == 0; }

 private:
  static inline gate made_;
  alignas(cache_line) static inline bool opened_{};
};

// The counting unit, as a processor without barrier instructions uses it: each thread stores to its
// trigger and polls its sense; the unit's two copies alternate.
class counting_unit_barrier {
 public:
  static bool prepare(rank_t rank, rank_t n) {
    if (rank == 0) opened_ = open_unit(DEVICE_COUNTING, n) == 0;
    made_.pass(n);
    return opened_;
  }

  explicit counting_unit_barrier(rank_t) {}
  bool arrive_and_wait(rank_t rank) {
    const std::uint32_t episode = episodes_[rank].value++, copy = episode & 1;
    COUNTING_TRIGGER(copy, rank) = 0;
    // The unit counts the episodes of a copy in eight bits.
    while ((COUNTING_EPISODES(copy, rank) - (episode / 2 + 1)) % 256 != 0) {
    }
    return true;
  }

 private:
  static inline gate made_;
  alignas(cache_line) static inline bool opened_{};
  static inline padded<std::uint32_t> episodes_[MOST_CORES]{};
};

// Calls visit(a barrier's type) for the contender with this number, when its barrier has been made.
// Returns false if there is none, or the kernel refuses it. Every thread calls it.
template <class Visit>
bool with_contender(std::uint32_t number, rank_t rank, Visit visit) {
  const auto as = [&]<class Barrier>() {
    if (!Barrier::prepare(rank, CORES)) return false;
    visit.template operator()<Barrier>();
    return true;
  };
  switch (static_cast<contender>(number)) {
    case contender::barwait: return as.template operator()<hardware_barrier>();
    case contender::structure: return as.template operator()<structure_barrier>();
    case contender::mask: return as.template operator()<mask_barrier>();
    case contender::counting: return as.template operator()<counting_unit_barrier>();
    default: return with_algorithm(number, visit);
  }
}

}  // namespace tutti::rtl
