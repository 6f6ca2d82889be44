// SPDX-License-Identifier: Apache-2.0
// The barriers of this machine's programs, in the order of their numbers. The harness reads the
// names too (names.hpp), and compares them with tutti's registry.
#pragma once

#include "hardware/machine/software/names.hpp"
#include "hardware/machine/software/platform.hpp"
#include "tutti/barrier/atomic.hpp"
#include "tutti/barrier/central.hpp"
#include "tutti/barrier/combining.hpp"
#include "tutti/barrier/counting.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/barrier/flags.hpp"
#include "tutti/barrier/hierarchical.hpp"
#include "tutti/barrier/mcs.hpp"
#include "tutti/barrier/mutex.hpp"
#include "tutti/barrier/pool.hpp"
#include "tutti/barrier/recursive.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/tournament.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::rtl {

using spin = spin_wait<machine>;

// Those that registry.hpp makes by arguments have a class here.
class radix_4_dissemination : public dissemination_barrier<machine, spin> {
 public:
  explicit radix_4_dissemination(rank_t n) : dissemination_barrier(n, 4) {}
};
class hierarchical : public hierarchical_barrier<machine, spin> {
 public:
  explicit hierarchical(rank_t n) : hierarchical_barrier(machine::cache_groups(n)) {}
};

// Calls visit(a barrier's type) for the algorithm with this number. Returns false if there is none.
template <class Visit>
bool with_algorithm(std::uint32_t number, Visit visit) {
  const auto as = [&]<class Barrier>() {
    visit.template operator()<Barrier>();
    return true;
  };
  switch (static_cast<algorithm>(number)) {
    case algorithm::counting: return as.template operator()<counting_barrier<machine, spin>>();
    case algorithm::central: return as.template operator()<central_barrier<machine, spin>>();
    case algorithm::ticket: return as.template operator()<ticket_barrier<machine, spin>>();
    case algorithm::pool: return as.template operator()<pool_barrier<machine, spin>>();
    case algorithm::striped: return as.template operator()<striped_barrier<machine, spin>>();
    case algorithm::flags: return as.template operator()<flags_barrier<machine, spin>>();
    case algorithm::flags_padded:
      return as.template operator()<flags_barrier<machine, spin, true>>();
    case algorithm::recursive: return as.template operator()<recursive_barrier<machine, spin>>();
    case algorithm::recursive_padded:
      return as.template operator()<recursive_barrier<machine, spin, true>>();
    case algorithm::atomic: return as.template operator()<atomic_barrier<machine, spin>>();
    case algorithm::mutex: return as.template operator()<mutex_barrier<machine, spin>>();
    case algorithm::combining: return as.template operator()<combining_barrier<machine, spin>>();
    case algorithm::mcs: return as.template operator()<mcs_barrier<machine, spin>>();
    case algorithm::dissemination:
      return as.template operator()<dissemination_barrier<machine, spin>>();
    case algorithm::dissemination_4: return as.template operator()<radix_4_dissemination>();
    case algorithm::tournament: return as.template operator()<tournament_barrier<machine, spin>>();
    case algorithm::hierarchical: return as.template operator()<hierarchical>();
  }
  return false;
}

}  // namespace tutti::rtl
