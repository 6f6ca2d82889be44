// SPDX-License-Identifier: Apache-2.0
// The names of the algorithms that the programs of the machine run, as tutti's registry spells
// them. Programs and harness include it.
#pragma once

#include <cstdint>

namespace tutti::rtl {

enum class algorithm : std::uint32_t {
  counting,
  central,
  ticket,
  pool,
  striped,
  flags,
  flags_padded,
  recursive,
  recursive_padded,
  atomic,
  mutex,
  combining,
  mcs,
  dissemination,
  dissemination_4,
  tournament,
  hierarchical
};

inline constexpr const char* algorithm_names[] = {
    "counting",     "central",       "ticket",           "pool",       "striped",     "flags",
    "flags_padded", "recursive",     "recursive_padded", "atomic",     "mutex",       "combining",
    "mcs",          "dissemination", "dissemination_4",  "tournament", "hierarchical"};
inline constexpr std::uint32_t algorithm_count = sizeof algorithm_names / sizeof *algorithm_names;

// What else bench.cpp measures, behind the algorithms.
enum class contender : std::uint32_t {
  none = 100,
  barwait = 101,
  // A barwait at a barrier of the structures, and at the mask unit; registers of the counting unit.
  structure = 102,
  mask = 103,
  counting = 104,
  // The region of tutti's teams (regions.cpp), which is no barrier.
  fork_join = 105
};
inline constexpr const char* contender_names[] = {"none", "barwait",       "structure",
                                                  "mask", "counting_unit", "fork_join"};

// What costs.cpp measures.
enum class cost : std::uint32_t {
  ping_pong,
  contended_add,
  local_poll,
  // A store to a line that all others have read; the same, and all others see it.
  invalidate,
  release,
  // One access: two readings of the counter alone, then to a line that the core owns, that nobody
  // has, that another core has read, and that another core has written.
  nothing,
  load_hit,
  load_memory,
  load_shared,
  load_dirty,
  store_hit,
  store_memory,
  store_shared,
  store_dirty,
  add_hit,
  add_dirty
};

// The programs of tests.cpp. Those before `ticks` end with a trap.
enum class test_program : std::uint32_t {
  zero_instruction,
  privileged_register,
  return_from_trap,
  breakpoint,
  misaligned_load,
  misaligned_store,
  load_of_the_kernels,
  store_to_the_kernels,
  atomic_on_the_kernels,
  store_to_the_program,
  load_from_nowhere,
  store_to_nowhere,
  jump_to_data,
  interrupt_without_the_kernel,
  timer_without_the_kernel,
  barrier_set_by_a_thread,
  unknown_extension,
  move_with_bits_without_a_meaning,
  structure_without_the_kernel,
  counting_unit_set_by_a_thread,
  counting_unit_in_another_socket,
  no_barrier_unit,
  half_a_word_of_a_unit,
  remote_call_to_nobody,
  callers_set_by_a_thread,
  remote_calls_taken_without_the_kernel,
  return_without_a_call,
  ticks,
  signals,
  no_signal,
  episodes,
  absent_core,
  foreign_barrier,
  refusals,
  late_core,
  structure_refusals,
  // Remote calls between threads.
  remote_calls,
  called_waits,
  foreign_call,
  // Timeouts with a handler.
  handled_timeout,
  // What threads must not do to the kernel and to each other.
  changed_list,
  early_destroy,
  calls_taken_in_a_handler,
  barrier_in_x0,
  destroyed_in_a_handler
};

// How the program `episodes` makes its barrier: parameter A.
enum class made_by : std::uint32_t { create, create_structure, open_mask };

// The programs of messages.cpp. Those from `to_nobody` on end with a trap.
enum class message_program : std::uint32_t {
  random,
  late,
  flood,
  stuck,
  interrupted,
  ping_pong,
  idle_episodes,
  tree_episodes,
  to_nobody,
  too_long,
  no_slot,
  send_without_slot,
  given_twice,
  send_a_given_slot,
  store_to_a_given_slot,
  receive_nothing,
  store_behind_the_slots,
  store_behind_the_words,
  byte_of_a_slot,
  unknown,
  pairs
};
// Groups of threads that are idle together, as rtl/tutti_machine_config_pkg.sv says; in the last
// one the threads of each socket are a group of their own.
inline constexpr std::uint32_t message_groups = 4, local_group = 3;
// The programs of groups.cpp. Those from `no_total` on end with a trap.
enum class group_program : std::uint32_t {
  random,
  apart,
  total_of_hardware,
  total_of_tree,
  total_beside,
  group_of_hardware,
  group_of_tree,
  no_total,
  mixed_total,
  no_group,
  from_group_to_group,
  to_another_group,
  to_another_socket
};
// What both find wrong: a message's content, its number among those of its pair, its episode; a
// thread that was released before others were idle; sent is not received; the result of the vote; a
// misuse that has passed; a total; the number of the own group.
enum class message_fault : std::uint32_t {
  content,
  order,
  episode,
  early,
  sums,
  vote,
  passed,
  total,
  group
};

}  // namespace tutti::rtl
