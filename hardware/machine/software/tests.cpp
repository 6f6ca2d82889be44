// SPDX-License-Identifier: Apache-2.0
// Programs that use the kernel and the barrier unit, and programs that misuse them. Parameter
// `program` chooses one; sim/tests.cpp knows what each must do.
#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/names.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"

extern "C" void remote_call_entry();
extern "C" void timeout_entry();

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) std::int32_t numbers[2];
alignas(cache_line) padded<std::uint32_t> published[MOST_CORES];
padded<std::atomic<std::uint32_t>> calls_of[MOST_CORES];

void value(std::int32_t v) { trace(TRACE_VALUE, static_cast<std::uint32_t>(v)); }

// ---- what ends a thread. Each returns only if the machine has let it pass. ----

volatile std::uint32_t& word(std::uint32_t address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}
void read(std::uint32_t address) { (void)+word(address); }

void misuse(test_program which) {
  switch (which) {
    case test_program::zero_instruction: asm volatile(".word 0"); break;
    case test_program::privileged_register: asm volatile("csrr t0, mstatus" ::: "t0"); break;
    case test_program::return_from_trap: asm volatile("mret"); break;
    case test_program::breakpoint: asm volatile("ebreak"); break;
    case test_program::misaligned_load: asm volatile("lw t0, 1(%0)" ::"r"(numbers) : "t0"); break;
    case test_program::misaligned_store: asm volatile("sw zero, 2(%0)" ::"r"(numbers)); break;
    case test_program::load_of_the_kernels: read(RAM); break;
    case test_program::store_to_the_kernels: word(RAM) = 0; break;
    case test_program::atomic_on_the_kernels:
      asm volatile("amoadd.w t0, zero, (%0)" ::"r"(RAM) : "t0");
      break;
    case test_program::store_to_the_program: word(PARAMETERS) = 0; break;
    case test_program::load_from_nowhere: read(0x40000000u); break;
    case test_program::store_to_nowhere: word(0x40000000u) = 0; break;
    case test_program::jump_to_data: asm volatile("jr %0" ::"r"(numbers)); break;
    case test_program::interrupt_without_the_kernel: SOFTWARE_SEND = 0; break;
    case test_program::timer_without_the_kernel: COMPARE_LOW = 0; break;
    case test_program::barrier_set_by_a_thread: (void)barset(BAR_PARTICIPANTS, 0, 1); break;
    case test_program::unknown_extension: asm volatile(".insn r 0x0b, 0, 0, x0, x0, x0"); break;
    case test_program::move_with_bits_without_a_meaning:
      asm volatile(".insn r 0x2b, 5, 8, x0, x0, x0");
      break;
    case test_program::structure_without_the_kernel:
      UNIT(0u, DEVICE_STRUCTURE, 0x10000u) = 1;
      break;
    case test_program::counting_unit_set_by_a_thread: UNIT(0u, DEVICE_COUNTING, 0xc0u) = 1; break;
    case test_program::counting_unit_in_another_socket:
      UNIT(1u, DEVICE_COUNTING, 0x4000u) = 0;
      break;
    case test_program::no_barrier_unit: (void)+UNIT(0u, 3u, 0x8000u); break;
    case test_program::half_a_word_of_a_unit:
      asm volatile("sh zero, (%0)" ::"r"(&COUNTING_TRIGGER(0u, 0u)));
      break;
    case test_program::remote_call_to_nobody: REMOTE_CALL = CORES; break;
    case test_program::callers_set_by_a_thread: CALLABLE_LOW = 1; break;
    case test_program::remote_calls_taken_without_the_kernel: asm volatile("csrwi 0x7c0, 1"); break;
    case test_program::return_without_a_call: asm volatile(".word 0x00200073"); break;
    default: break;
  }
}

// ---- the kernel ----

// The timer interrupts this core; nothing else happens.
void count_ticks() {
  const std::uint64_t start = machine_time();
  while (timer_ticks() < 5) {
  }
  value(static_cast<std::int32_t>(machine_time() - start));
}

// A signal goes around all cores so many times.
void pass_signals(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  for (std::uint32_t turn = 0; turn < PARAMETER(PARAM_EPISODES); ++turn) {
    if (rank != 0 || turn != 0)
      while (await_signal(1u << 20) == 0) {
      }
    // Plain data go with the signal.
    std::uint32_t& mine = published[0].value;
    if (mine != turn * n + rank) trace(TRACE_WRONG, mine);
    ++mine;
    signal_core(rank + 1 == n ? 0 : rank + 1);
  }
  // The last signal of the ring.
  if (rank == 0) {
    while (await_signal(1u << 20) == 0) {
    }
    value(static_cast<std::int32_t>(published[0].value));
  }
}

void await_nothing() {
  const std::uint64_t start = machine_time();
  value(static_cast<std::int32_t>(await_signal(3000)));
  value(static_cast<std::int32_t>(machine_time() - start));
  value(signal_core(CORES));
  value(system_call(99, 0, 0, 0));
}

// ---- barriers ----

std::int32_t create(std::uint32_t first, std::uint32_t count, std::uint32_t timeout) {
  std::uint8_t list[MOST_CORES];
  for (std::uint32_t i = 0; i < count; ++i) list[i] = static_cast<std::uint8_t>(first + i);
  return create_barrier(list, count, timeout);
}

// Makes a barrier of all cores, as parameter A says.
std::int32_t make_for_all() {
  const std::uint32_t n = CORES, timeout = PARAMETER(PARAM_TIMEOUT);
  switch (static_cast<made_by>(PARAMETER(PARAM_A))) {
    case made_by::create: return create(0, n, timeout);
    case made_by::open_mask: {
      const std::int32_t refused = open_unit(DEVICE_MASK, n);
      return refused != 0 ? refused : static_cast<std::int32_t>(MASK_BARRIER);
    }
    case made_by::create_structure: break;
  }
  std::uint8_t list[MOST_CORES];
  for (std::uint32_t i = 0; i < n; ++i) list[i] = static_cast<std::uint8_t>(i);
  return create_structure_barrier(list, n, timeout);
}

// Episodes with plain data, delays and a timer that interrupts the waits.
void wait_in_episodes(std::uint32_t rank) {
  const std::uint32_t n = CORES, episodes = PARAMETER(PARAM_EPISODES);
  if (rank == 0) numbers[0] = make_for_all();
  start_gate.pass(n);
  value(numbers[0]);
  random_numbers random(PARAMETER(PARAM_SEED) + rank);
  std::uint32_t wrong = 0;
  for (std::uint32_t episode = 0; episode < episodes; ++episode) {
    const std::uint32_t longest = PARAMETER(PARAM_DELAY);
    if (longest != 0 && random() >> 30 != 0) delay((random() >> 8) % longest);
    // Two numbers in turn tell this episode from the next.
    static_cast<volatile std::uint32_t&>(published[rank].value) = episode;
    trace(TRACE_ARRIVE, episode);
    wrong += barwait(static_cast<std::uint32_t>(numbers[0])) != 0;
    trace(TRACE_DEPART, episode);
    for (std::uint32_t other = 0; other < n; ++other)
      wrong += static_cast<volatile std::uint32_t&>(published[other].value) - episode > 1;
  }
  if (wrong != 0) trace(TRACE_WRONG, wrong);
}

// The last core never arrives.
void wait_for_an_absent_core(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if (rank == 0) numbers[0] = create(0, n, PARAMETER(PARAM_TIMEOUT));
  start_gate.pass(n);
  if (rank + 1 == n) return;
  const std::uint64_t start = machine_time();
  const std::uint32_t result = barwait(static_cast<std::uint32_t>(numbers[0]));
  trace(TRACE_VALUE, (result >> 31) << 16 | (result & 0xffffu));
  value(static_cast<std::int32_t>(machine_time() - start));
}

volatile std::uint32_t handlers_so_far;

void destroy_twice(std::uint32_t barrier) {
  value(destroy_barrier(barrier));
  value(destroy_barrier(barrier));
}

// Cores 0 and 1 are in the handlers of their waits when core 2 completes the episode. Then the core
// that parameter A names, 0 or 2, destroys the barrier twice, at which both are owed departures.
void destroy_in_a_handler(std::uint32_t rank) {
  const auto has_come = [](std::uint32_t which) {
    return static_cast<volatile std::uint32_t&>(published[which].value) != 0;
  };
  if (rank == 0) numbers[0] = create(0, CORES, PARAMETER(PARAM_TIMEOUT));
  start_gate.pass(CORES);
  if (rank == 2)
    while (!has_come(0) || !has_come(1)) {
    }
  else if (on_timeout(timeout_entry) != 0)
    trace(TRACE_WRONG, 1);
  const std::uint32_t result = barwait(static_cast<std::uint32_t>(numbers[0]));
  value(static_cast<std::int32_t>(result));
  if (rank == 2 && PARAMETER(PARAM_A) == 2) destroy_twice(static_cast<std::uint32_t>(numbers[0]));
  static_cast<volatile std::uint32_t&>(published[rank].value) = 2;
}
std::uint32_t handle_and_destroy(std::uint32_t barrier) {
  const auto now = [](std::uint32_t which) -> volatile std::uint32_t& {
    return published[which].value;
  };
  const std::uint32_t rank = this_core();
  now(rank) = 1;
  while (now(2) == 0) {
  }
  if (rank == 0) {
    if (PARAMETER(PARAM_A) == 0) destroy_twice(barrier);
  } else {
    // Core 0 has learned what became of its wait.
    while (now(0) != 2) {
    }
  }
  return POLICY_WAIT_ON;
}

// Parameter A: how often the handler waits on before it breaks the barrier; with 100 it waits at
// the barrier itself.
std::uint32_t handle_timeout(std::uint32_t barrier, std::uint32_t address, std::uint32_t missing) {
  const std::uint32_t count = handlers_so_far + 1, a = PARAMETER(PARAM_A);
  handlers_so_far = count;
  if (barrier != static_cast<std::uint32_t>(numbers[0])) trace(TRACE_WRONG, 1);
  if (PARAMETER(PARAM_PROGRAM) == static_cast<std::uint32_t>(test_program::destroyed_in_a_handler))
    return handle_and_destroy(barrier);
  if ((word(address) & 0xfe00707fu) != 0x2b) trace(TRACE_WRONG, 2);
  value(static_cast<std::int32_t>(missing));
  if (a != 100) return count <= a ? POLICY_WAIT_ON : POLICY_BREAK;
  trace(TRACE_VALUE, barwait(barrier) & 0xffffu);
  return POLICY_WAIT_ON;
}

// The last core never arrives, and core 0 has a handler, which it gives up for a second barrier.
void handle_an_absent_core(std::uint32_t rank) {
  if (rank != 0) return;
  if (on_timeout(timeout_entry) != 0) trace(TRACE_WRONG, 3);
  for (int turn = 0; turn < 2; ++turn) {
    numbers[0] = create(0, CORES, PARAMETER(PARAM_TIMEOUT));
    const std::uint64_t start = machine_time();
    const std::uint32_t result = barwait(static_cast<std::uint32_t>(numbers[0]));
    trace(TRACE_VALUE, (result >> 31) << 16 | (result & 0xffffu));
    value(static_cast<std::int32_t>(machine_time() - start));
    if (on_timeout(nullptr) != 0) trace(TRACE_WRONG, 4);
  }
}

// Even and odd cores have groups and barriers of their own; core 1 waits at that of the others.
void wait_at_a_foreign_barrier(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if (rank < 2) {
    std::uint8_t list[MOST_CORES];
    std::uint32_t count = 0;
    for (std::uint32_t core = rank; core < n; core += 2)
      list[count++] = static_cast<std::uint8_t>(core);
    numbers[rank] = create_barrier(list, count, 1u << 16);
    value(numbers[rank]);
  }
  start_gate.pass(n);
  if (rank == 1) {
    value(static_cast<std::int32_t>(barwait(static_cast<std::uint32_t>(numbers[0]))));
    value(static_cast<std::int32_t>(barwait(200)));
    value(destroy_barrier(static_cast<std::uint32_t>(numbers[0])));
  }
  value(static_cast<std::int32_t>(barwait(static_cast<std::uint32_t>(numbers[rank % 2]))));
}

// What create_barrier refuses; only core 0 runs.
void refuse_barriers() {
  const std::uint32_t of_socket = CORES / SOCKETS;
  value(create(0, 1, 0));
  value(create(0, 1, (1u << 20) + 1));
  value(create(0, 0, 100));
  value(create(1, 1, 100));
  value(create(0, of_socket + 1, 100));
  value(create_barrier(reinterpret_cast<const std::uint8_t*>(RAM), 1, 100));
  const std::uint8_t twice[] = {0, 0};
  value(create_barrier(twice, 2, 100));
  const std::uint8_t absent[] = {0, 200};
  value(create_barrier(absent, 2, 100));
  value(destroy_barrier(0));
  // A handler that is no address of the program, and the end of one that does not run.
  value(on_timeout(reinterpret_cast<void (*)()>(RAM)));
  value(system_call(CALL_RESUME, POLICY_BREAK, 0, 0));
  // The unit is full after some; one that is destroyed can be made again.
  std::int32_t made = 0, last = 0;
  for (std::int32_t b = 0; b >= 0;) {
    b = create(0, 1, 100);
    if (b >= 0) last = b, ++made;
    if (b < 0) value(b);
  }
  value(made);
  value(destroy_barrier(static_cast<std::uint32_t>(last)));
  value(create(0, 1, 100) - last);
  value(static_cast<std::int32_t>(barwait(static_cast<std::uint32_t>(last))));
}

// The last core arrives long after the timeout, at a barrier of the structures, which cannot be
// broken.
void wait_for_a_late_core(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if (rank == 0) numbers[0] = make_for_all();
  start_gate.pass(n);
  if (rank + 1 == n) delay(PARAMETER(PARAM_DELAY));
  const std::uint64_t start = machine_time();
  value(static_cast<std::int32_t>(barwait(static_cast<std::uint32_t>(numbers[0]))));
  value(static_cast<std::int32_t>(machine_time() - start));
}

// What the kernel refuses at the structures and the other units. Core 1 is no participant.
void refuse_structures(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if (rank == 0) {
    const std::uint8_t alone[] = {0}, twice[] = {0, 0}, others[] = {1}, absent[] = {0, 200};
    value(create_structure_barrier(alone, 1, 0));
    value(create_structure_barrier(twice, 2, 100));
    value(create_structure_barrier(others, 1, 100));
    value(create_structure_barrier(absent, 2, 100));
    value(destroy_barrier(FIRST_STRUCTURE));
    value(open_unit(DEVICE_STRUCTURE, 1));
    value(open_unit(DEVICE_MASK, 0));
    value(open_unit(DEVICE_MASK, n + 1));
    value(static_cast<std::int32_t>(barwait(MASK_BARRIER)));
    value(open_unit(DEVICE_MASK, 1));
    value(open_unit(DEVICE_MASK, 1));
    value(static_cast<std::int32_t>(barwait(MASK_BARRIER)));
    // A barrier of one is complete at once; one that was destroyed is made again.
    numbers[0] = create_structure_barrier(alone, 1, 100);
    const auto b = static_cast<std::uint32_t>(numbers[0]);
    value(static_cast<std::int32_t>(barwait(b)));
    value(destroy_barrier(b));
    value(static_cast<std::int32_t>(barwait(b)));
    value(create_structure_barrier(alone, 1, 100) - numbers[0]);
    value(static_cast<std::int32_t>(barwait(b)));
    std::int32_t made = 1, last = 0;
    while ((last = create_structure_barrier(alone, 1, 100)) >= 0) ++made;
    value(last);
    value(made);
  }
  start_gate.pass(n);
  if (rank != 1) return;
  value(static_cast<std::int32_t>(barwait(static_cast<std::uint32_t>(numbers[0]))));
  value(static_cast<std::int32_t>(barwait(191)));
  value(static_cast<std::int32_t>(barwait(MASK_BARRIER)));
}

// Core 0 makes barriers of a list that core 1 changes meanwhile, to a core that does not exist.
void change_a_list(std::uint32_t rank) {
  auto& address = static_cast<volatile std::uint32_t&>(published[0].value);
  auto& is_over = static_cast<volatile std::uint32_t&>(published[1].value);
  if (rank == 0) {
    std::uint8_t list[] = {0, 1};
    address = reinterpret_cast<std::uintptr_t>(&list[1]);
    for (std::uint32_t i = 0; i < PARAMETER(PARAM_EPISODES); ++i) {
      const std::int32_t b = static_cast<made_by>(PARAMETER(PARAM_A)) == made_by::create
                                 ? create_barrier(list, 2, 500)
                                 : create_structure_barrier(list, 2, 500);
      if (b >= 0) destroy_barrier(static_cast<std::uint32_t>(b));
    }
    is_over = 1;
  }
  if (rank != 1) return;
  while (address == 0) {
  }
  for (std::uint32_t i = 0; is_over == 0; ++i) {
    auto& core = *reinterpret_cast<volatile std::uint8_t*>(address);
    core = 200;
    delay(i * 7 % 100);
    core = 1;
    delay(i * 13 % 100);
  }
}

// Core 0 destroys each barrier as soon as it has departed; the timer comes into core 1's wait.
void destroy_early(std::uint32_t rank) {
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < PARAMETER(PARAM_EPISODES); ++i) {
    if (rank == 0) numbers[0] = make_for_all();
    start_gate.pass(CORES);
    if (rank == 0) delay(i * 37 % 400);
    const auto b = static_cast<std::uint32_t>(numbers[0]);
    wrong += barwait(b) != 0;
    if (rank == 0) wrong += destroy_barrier(b) != 0;
    start_gate.pass(CORES);
  }
  if (wrong != 0) trace(TRACE_WRONG, wrong);
}

// Core 0 waits at barrier 0, whose number is in x0, and core 1 does not come.
void wait_at_the_barrier_in_x0(std::uint32_t rank) {
  if (rank != 0) return;
  value(create(0, 2, 500));
  std::uint32_t result;
  asm volatile(".insn r 0x2b, 0, 0, %0, x0, x0" : "=r"(result) : : "memory");
  trace(TRACE_VALUE, (result >> 31) << 16 | (result & 0xffffu));
}

// ---- remote calls ----

// ---- remote calls ----

void count_call() {
  // relaxed: a count, whose reader looks for nothing else.
  calls_of[this_core()].value.fetch_add(1, relaxed);
}
std::uint32_t calls_so_far(std::uint32_t core) {
  // relaxed: the same.
  return calls_of[core].value.load(relaxed);
}

// Core 0 calls all others, each time when all have counted the last call; then each calls the next
// one, which sleeps until then.
void call_each_other(std::uint32_t rank) {
  const std::uint32_t n = CORES, episodes = PARAMETER(PARAM_EPISODES);
  // A call before the kernel has been asked waits.
  if (rank == 0) REMOTE_CALL = EVERYBODY;
  start_gate.pass(n);
  if (calls_so_far(rank) != 0) trace(TRACE_WRONG, 1);
  start_gate.pass(n);
  if (take_calls(remote_call_entry) != 0) trace(TRACE_WRONG, 2);
  if (rank != 0)
    while (calls_so_far(rank) == 0) {
    }
  start_gate.pass(n);
  for (std::uint32_t i = 2; rank == 0 && i <= episodes; ++i) {
    REMOTE_CALL = EVERYBODY;
    for (std::uint32_t other = 1; other < n; ++other)
      while (calls_so_far(other) < i) {
      }
  }
  start_gate.pass(n);
  value(static_cast<std::int32_t>(calls_so_far(rank)));
  mask_calls();
  start_gate.pass(n);
  const std::uint32_t before = calls_so_far(rank);
  if (rank != 0) {
    // wfi ends by the call, which is taken behind it.
    asm volatile("wfi" ::: "memory");
    if (calls_so_far(rank) != before) trace(TRACE_WRONG, 3);
    unmask_calls();
    if (calls_so_far(rank) != before + 1) trace(TRACE_WRONG, 4);
  } else {
    unmask_calls();
  }
  REMOTE_CALL = rank + 1 == n ? 0 : rank + 1;
  if (rank == 0)
    while (calls_so_far(0) == before) {
    }
  value(take_calls(reinterpret_cast<void (*)()>(RAM)));
}

// Calls come into the waits at a barrier. The thread that comes last sends them, again and again.
void call_into_waits(std::uint32_t rank) {
  const std::uint32_t n = CORES, episodes = PARAMETER(PARAM_EPISODES);
  if (rank == 0) numbers[0] = make_for_all();
  take_calls(remote_call_entry);
  start_gate.pass(n);
  for (std::uint32_t episode = 0; episode < episodes; ++episode) {
    static_cast<volatile std::uint32_t&>(published[rank].value) = episode;
    if (episode % n == rank) {
      for (int i = 0; i < 3; ++i) {
        delay(150);
        REMOTE_CALL = EVERYBODY;
      }
      delay(150);
    }
    trace(TRACE_ARRIVE, episode);
    if (barwait(static_cast<std::uint32_t>(numbers[0])) != 0) trace(TRACE_WRONG, 1);
    trace(TRACE_DEPART, episode);
    for (std::uint32_t other = 0; other < n; ++other)
      if (static_cast<volatile std::uint32_t&>(published[other].value) - episode > 1)
        trace(TRACE_WRONG, 2);
  }
  start_gate.pass(n);
  value(static_cast<std::int32_t>(calls_so_far(rank)));
}

// Even and odd threads are groups; core 1 calls core 3, and then core 0, or everybody.
void call_another_group(std::uint32_t rank) {
  take_calls(remote_call_entry);
  start_gate.pass(CORES);
  if (rank == 1) REMOTE_CALL = 3;
  // A thread that has ended takes no calls.
  if (rank == 1 || rank == 3)
    while (calls_so_far(3) == 0) {
    }
  if (rank == 1) {
    REMOTE_CALL = PARAMETER(PARAM_A);
    trace(TRACE_WRONG, 1);
  }
}

// Core 0 calls itself. Its handler asks for calls again.
void take_calls_in_a_handler(std::uint32_t rank) {
  if (rank != 0) return;
  take_calls(remote_call_entry);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    REMOTE_CALL = 0;
    while (calls_so_far(0) != i) {
    }
  }
  value(static_cast<std::int32_t>(calls_so_far(0)));
}

void handle_call() {
  if (PARAMETER(PARAM_PROGRAM) ==
      static_cast<std::uint32_t>(test_program::calls_taken_in_a_handler))
    if (take_calls(remote_call_entry) != 0) trace(TRACE_WRONG, 1);
  count_call();
}

void run(std::uint32_t core) {
  const auto which = static_cast<test_program>(PARAMETER(PARAM_PROGRAM));
  if (which < test_program::ticks) {
    if (core == 0) {
      misuse(which);
      trace(TRACE_WRONG, 1);
    }
    return;
  }
  switch (which) {
    case test_program::ticks: return count_ticks();
    case test_program::signals: return pass_signals(core);
    case test_program::no_signal: return await_nothing();
    case test_program::episodes: return wait_in_episodes(core);
    case test_program::absent_core: return wait_for_an_absent_core(core);
    case test_program::foreign_barrier: return wait_at_a_foreign_barrier(core);
    case test_program::refusals: return refuse_barriers();
    case test_program::late_core: return wait_for_a_late_core(core);
    case test_program::structure_refusals: return refuse_structures(core);
    case test_program::remote_calls: return call_each_other(core);
    case test_program::called_waits: return call_into_waits(core);
    case test_program::foreign_call: return call_another_group(core);
    case test_program::handled_timeout: return handle_an_absent_core(core);
    case test_program::changed_list: return change_a_list(core);
    case test_program::early_destroy: return destroy_early(core);
    case test_program::calls_taken_in_a_handler: return take_calls_in_a_handler(core);
    case test_program::barrier_in_x0: return wait_at_the_barrier_in_x0(core);
    case test_program::destroyed_in_a_handler: return destroy_in_a_handler(core);
    default: trace(TRACE_WRONG, 2);
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" void remote_call_handler(std::uint32_t) { tutti::rtl::handle_call(); }

extern "C" std::uint32_t timeout_handler(std::uint32_t barrier, std::uint32_t address,
                                         std::uint32_t missing) {
  return tutti::rtl::handle_timeout(barrier, address, missing);
}

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  tutti::rtl::run(core);
  return 0;
}
