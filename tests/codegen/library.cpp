// SPDX-License-Identifier: Apache-2.0
// The library's barriers on the native platform, as separate functions that are compared with
// handwritten.cpp.
#define TUTTI_CHECKS 0

#include "tutti/barrier/barrier.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/wait/spin.hpp"

using wait = tutti::spin_wait<tutti::native>;
using dissemination_barrier = tutti::dissemination_barrier<tutti::native, wait>;
using ticket_barrier = tutti::ticket_barrier<tutti::native, wait>;
using default_barrier = tutti::barrier<tutti::no_completion, tutti::native, wait>;

// flatten inlines the called functions, as in handwritten code.
[[gnu::flatten]] void ticket_meet(ticket_barrier& barrier, tutti::rank_t rank) {
  barrier.arrive_and_wait(rank);
}

[[gnu::flatten]] void dissemination_meet(dissemination_barrier& barrier, tutti::rank_t rank) {
  barrier.arrive_and_wait(rank);
}

// tutti::barrier, whose rare paths are calls of functions that are never inlined.
[[gnu::flatten]] void default_meet(default_barrier& barrier) { barrier.arrive_and_wait(); }

[[gnu::flatten]] void default_meet_as(default_barrier& barrier, tutti::rank_t rank) {
  barrier.arrive_and_wait(rank);
}

// The form that users have; only the number of instructions is compared.
[[gnu::flatten]] void adaptive_meet(tutti::barrier<>& barrier) { barrier.arrive_and_wait(); }

[[gnu::flatten]] void adaptive_meet_as(tutti::barrier<>& barrier, tutti::rank_t rank) {
  barrier.arrive_and_wait(rank);
}
