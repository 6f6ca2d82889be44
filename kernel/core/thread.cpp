// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/thread.hpp"

#include "kernel/core/core.hpp"
#include "kernel/core/memory.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/core/park.hpp"

extern "C" char tls_begin[], tls_data_end[], tls_end[];

namespace tutti::kernel {

namespace {

constinit core all_cores[machine::most_cores];

// The word at the low end of a stack; whoever overflows the stack changes it.
constexpr u64 stack_mark = 0x7475747469737461;

u64& mark_of(thread& t) noexcept { return *reinterpret_cast<u64*>(t.stack); }

// The thread-local variables of compiled code lie below the thread pointer, which points to itself.
void make_thread_locals(thread& t) noexcept {
  if (tls_end - tls_begin == 0) return;
  constexpr u64 alignment = 64, control_block = 64;
  const u64 data = static_cast<u64>(tls_data_end - tls_begin);
  const u64 size = (static_cast<u64>(tls_end - tls_begin) + alignment - 1) / alignment * alignment;
  u8* block = static_cast<u8*>(allocate_aligned(alignment, size + control_block));
  for (u64 i = 0; i < size + control_block; ++i) block[i] = 0;
  // The linker rounds the size of the block up to its alignment, and the data begin it.
  for (u64 i = 0; i < data; ++i) block[i] = static_cast<u8>(tls_begin[i]);
  u64* pointer = reinterpret_cast<u64*>(block + size);
  *pointer = address_of(pointer);
  t.thread_local_block = block;
  machine::set_thread_pointer(t.context, address_of(pointer));
}

// The first thing that a thread does when it runs again: nobody uses the stack and the context of
// the thread before it any more.
void finish_switch() noexcept {
  thread& before = *machine::here().leaving;
  // relaxed: this core wrote it.
  if (before.has_ended.load(relaxed) != 0)
    // release: the thread's memory may be freed; pairs with join().
    before.has_left.store(true, release);
}

void run_thread(void* argument) {
  finish_switch();
  machine::interrupts_on();
  thread& me = *static_cast<thread*>(argument);
  me.run(me.argument);
  end_thread();
}

void arm(core& here, u64 at) noexcept {
  if (here.armed_for != 0 && here.armed_for <= at) return;
  const u64 now = machine::ticks();
  here.armed_for = at;
  machine::arm_timer(at > now ? at - now : 1);
}

void begin_slice(core& here) noexcept {
  here.slice_ends = machine::ticks() + here.slice;
  arm(here, here.slice_ends);
}

// Wakes the threads of this core whose time has come, and arms the timer for the next one. A thread
// that is ready but has not run yet is still in the list: the timer must not be armed for it again,
// or its interrupts would follow each other without an instruction in between.
void wake_timed(core& here) noexcept {
  const u64 now = machine::ticks();
  u64 first = 0;
  for (thread* t = here.timed; t != nullptr;) {
    thread* const following = t->next_timed;
    if (t->wake_at <= now)
      end_wait_at_deadline(*t);
    else if (first == 0 || t->wake_at < first)
      first = t->wake_at;
    t = following;
  }
  if (first != 0) arm(here, first);
}

void on_timer() noexcept {
  core& here = machine::here();
  here.armed_for = 0;
  wake_timed(here);
  if (here.current == &here.idle) return reschedule();
  if (here.slice == 0) return;
  // The timer's clock is not quite that of the ticks: it may be early.
  if (machine::ticks() < here.slice_ends) return arm(here, here.slice_ends);
  reschedule();
}

void on_kick() noexcept { reschedule(); }

extern "C" void thread_returned() { panic("a thread returned"); }

}  // namespace

core& core_of(u32 index) noexcept { return all_cores[index]; }
thread& self() noexcept {
  const without_interrupts off;
  return *machine::here().current;
}

thread* create(u32 where, void (*run)(void*), void* argument, const char* name,
               u64 stack_bytes) noexcept {
  if (where >= cores()) panic("thread ", name, ": there is no core ", where);
  thread* t = new (allocate_aligned(64, sizeof(thread))) thread;
  t->home = &all_cores[where];
  t->name = name;
  t->run = run;
  t->argument = argument;
  t->stack_bytes = stack_bytes;
  t->stack = static_cast<u8*>(allocate_aligned(4096, stack_bytes));
  mark_of(*t) = stack_mark;
  make_thread_locals(*t);
  machine::prepare(t->context, address_of(t->stack) + stack_bytes, run_thread, t);
  const without_interrupts off;
  t->now = thread::state::blocked;
  make_ready(*t, wake_up::kicked);
  return t;
}

void join(thread* t) noexcept {
  // acquire: pairs with end_thread(), so that what the thread wrote is seen.
  while (t->has_ended.load(acquire) == 0)
    // relaxed: read again above.
    park(&t->has_ended, [t] { return t->has_ended.load(relaxed) == 0; });
  // It has announced its end but may still be leaving its core, on its stack.
  // acquire: pairs with finish_switch().
  while (!t->has_left.load(acquire)) yield();
  give_back(t->stack);
  give_back(t->thread_local_block);
  give_back(t);
}

void end_thread() noexcept {
  machine::interrupts_off();
  thread& me = *machine::here().current;
  me.now = thread::state::blocked;
  // release: publishes what the thread wrote; pairs with join().
  me.has_ended.store(1, release);
  unpark(&me.has_ended);
  reschedule();
  panic("an ended thread runs");
}

void make_ready(thread& t, wake_up how) noexcept {
  core& home = *t.home;
  home.ready_lock.lock();
  t.now = thread::state::ready;
  if (how == wake_up::kicked)
    home.ready.prepend(t);
  else
    home.ready.append(t);
  home.ready_lock.unlock();
  if (how == wake_up::kicked && &home != &machine::here())
    machine::interrupt_core(home.index, machine::kick_interrupt);
}

void reschedule() noexcept {
  core& here = machine::here();
  thread* const me = here.current;
  if (me->stack != nullptr && mark_of(*me) != stack_mark)
    panic("the stack of thread ", me->name, " is too small");
  here.ready_lock.lock();
  if (me->now == thread::state::running && me != &here.idle) {
    me->now = thread::state::ready;
    here.ready.append(*me);
  }
  thread* next = here.ready.take_first();
  if (next == nullptr) next = &here.idle;
  next->now = thread::state::running;
  here.current = next;
  here.ready_lock.unlock();
  if (here.slice != 0 && next != &here.idle) begin_slice(here);
  // Alone, it need not hurry: other cores of a virtual machine may wait for the processor.
  if (next == me) return machine::pause();
  here.leaving = me;
  machine::switch_context(me->context, next->context);
  finish_switch();
}

void yield() noexcept {
  const without_interrupts off;
  reschedule();
}

void wake_at(thread& t, u64 at) noexcept {
  core& here = *t.home;
  t.wake_at = at;
  t.next_timed = here.timed;
  here.timed = &t;
  arm(here, at);
}

void cancel_wake(thread& t) noexcept {
  thread** link = &t.home->timed;
  while (*link != &t) link = &(*link)->next_timed;
  *link = t.next_timed;
  t.wake_at = 0;
}

void sleep_until(u64 at) noexcept {
  park(
      &self().wake_at, [] { return true; }, at);
}

void start_threads(u32 index) noexcept {
  core& here = all_cores[index];
  here.index = index;
  here.node = machine::described().node_of_core[index];
  here.idle.home = &here;
  here.idle.name = "idle";
  here.idle.now = thread::state::running;
  here.current = &here.idle;
  machine::on_interrupt(machine::timer_interrupt, on_timer);
  machine::on_interrupt(machine::kick_interrupt, on_kick);
}

void run_idle() noexcept {
  // A thread may be made ready without a kick: an idle core looks as often as this.
  const u64 longest_sleep = 10'000 * machine::ticks_per_us();
  for (;;) {
    machine::interrupts_off();
    core& here = machine::here();
    here.ready_lock.lock();
    const bool has_work = !here.ready.is_empty();
    here.ready_lock.unlock();
    if (has_work) {
      reschedule();
      continue;
    }
    arm(here, machine::ticks() + longest_sleep);
    machine::sleep_until_interrupt();
  }
}

void set_slice(u64 ticks) noexcept {
  for (u32 i = 0; i < cores(); ++i) all_cores[i].slice = ticks;
  const without_interrupts off;
  if (ticks != 0) begin_slice(machine::here());
}

}  // namespace tutti::kernel
