// SPDX-License-Identifier: Apache-2.0
// The RTL machine (hardware/machine) as the kernel's machine, all in machine mode.
//
// A core has one software interrupt, which has no number and is pending once, however often it is
// sent. So the sender of a numbered interrupt first sets the number's bit in a word of the
// receiver. The interrupt of events needs no number: its handler looks into the core's inbox at
// every software interrupt.
#include "hardware/machine/software/machine.h"

#include <atomic>

#include "kernel/core/core.hpp"
#include "kernel/core/panic.hpp"

extern "C" {
extern const char command_line[];
extern char image_end[];
void switch_stacks(tutti::kernel::native_word* save_here, tutti::kernel::native_word other);
void thread_entry();
extern const char call_entry[];
// The stack of core 0 until its first thread runs, and the stack that the next core takes.
alignas(16) char first_stack[4096];
tutti::kernel::native_word next_stack;
}

namespace tutti::kernel {

// kernel/main.cpp
[[noreturn]] void start() noexcept;

namespace machine {
namespace {

constexpr u32 causes = 32;
constexpr u32 software = 3, timer = 7, breakpoint = 3, call = 11;
constexpr u32 ram_bytes = 16 << 20;

description the_description;

struct alignas(cache_line) numbers {
  std::atomic<u32> sent{0};
};
numbers sent_to[most_cores];

// Which bit of the word a number has; on_interrupt() refuses two numbers of one bit.
constexpr u32 bit_of(u8 number) noexcept { return (number + (number >> 4)) % 32; }
struct entry {
  u32 number = 0;
  handler act = nullptr;
};
// On lines of its own, which nobody writes while interrupts come. entry.S reads the first word.
struct alignas(cache_line) handlers {
  call_handler of_calls = nullptr;
  handler of_events = nullptr;
  entry by_bit[32];
};
static_assert(offsetof(handlers, of_calls) == 0);

std::atomic<u32> started{0};
void (*run_core)(u32) = nullptr;

void set_timer(u64 when) noexcept {
  // In between, the time is never earlier than both the old one and the new one.
  COMPARE_HIGH = 0xffffffffu;
  COMPARE_LOW = static_cast<u32>(when);
  COMPARE_HIGH = static_cast<u32>(when >> 32);
}

void become(u32 index) noexcept {
  core& mine = core_of(index);
  mine.self = &mine;
  asm volatile("mv tp, %0" ::"r"(&mine) : "memory");
  set_timer(~u64{0});
  asm volatile("csrw mie, %0" ::"r"(1u << software | 1u << timer) : "memory");
  // Remote calls: where they enter; they are taken in machine mode.
  asm volatile("csrw 0x7c1, %0; csrwi 0x7c0, 3" ::"r"(call_entry) : "memory");
}

void describe() noexcept {
  description& d = the_description;
  d.loader = "image";
  d.controller = "software interrupts";
  d.command_line = command_line;
  d.cores = CORES;
  for (u32 i = 0; i < d.cores; ++i) d.hardware_id[i] = i;
  // The homes of the lines are spread over all sockets, so that the memory is one node. The cores'
  // inboxes and stacks fit into this part of it, whose table the allocator clears.
  const u64 begin = (reinterpret_cast<native_word>(image_end) + 4095) / 4096 * 4096;
  u64 end = begin + (u64{3} << 20) + d.cores * (u64{192} << 10);
  if (end > RAM + u64{ram_bytes}) end = RAM + u64{ram_bytes};
  d.memory[0] = {begin, end, 0};
  d.memory_ranges = 1;
}

}  // namespace

extern "C" {
handlers all_handlers;
}

const description& described() noexcept { return the_description; }

extern "C" [[noreturn]] void start_first_core() {
  become(0);
  describe();
  start();
}

extern "C" void start_other_core() {
  const u32 index = THIS_CORE;
  become(index);
  // release: publishes what this core wrote about itself; pairs with start_cores().
  started.store(index, std::memory_order_release);
  run_core(index);
}

void start_cores(u64 (*stack_end)(u32), void (*run)(u32)) noexcept {
  run_core = run;
  for (u32 index = 1; index < described().cores; ++index) {
    next_stack = static_cast<native_word>(stack_end(index));
    SOFTWARE_SEND = index;
    // acquire: pairs with start_other_core().
    while (started.load(std::memory_order_acquire) != index) pause();
  }
}

void write(const char* text, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) CONSOLE = static_cast<u8>(text[i]);
}

void power_off(u8 status) noexcept {
  END = status == all_is_well ? 0 : status;
  asm volatile("csrw mie, zero" ::: "memory");
  for (;;) asm volatile("wfi");
}

// A nominal rate, so that the kernel's times are short in simulation.
u64 ticks_per_us() noexcept { return 100; }
void arm_timer(u64 ticks) noexcept { set_timer(ticks == 0 ? ~u64{0} : machine_time() + ticks); }

// ---- interrupts ----

handler on_interrupt(u8 number, handler act) noexcept {
  if (number == event_interrupt) {
    const handler before = all_handlers.of_events;
    all_handlers.of_events = act;
    return before;
  }
  entry& e = all_handlers.by_bit[bit_of(number)];
  if (e.act != nullptr && e.number != number) panic("two interrupts share a bit: ", number);
  const handler before = e.act;
  e.number = number;
  e.act = act;
  return before;
}
void on_shortcut(handler act) noexcept { on_interrupt(shortcut_interrupt, act); }

void interrupt_core(u32 core, u8 number) noexcept {
  if (core >= described().cores) panic("an interrupt to core ", core, ", which is not there");
  if (number != event_interrupt)
    // release: publishes what the interrupt is about; pairs with take_software_interrupt().
    sent_to[core].sent.fetch_or(1u << bit_of(number), std::memory_order_release);
  SOFTWARE_SEND = core;
}
void interrupt_others(u8 number) noexcept {
  const u32 me = here().index, count = described().cores;
  if (number != event_interrupt)
    for (u32 i = 0; i < count; ++i)
      // release: publishes what the interrupt is about; pairs with take_software_interrupt().
      if (i != me) sent_to[i].sent.fetch_or(1u << bit_of(number), std::memory_order_release);
  SOFTWARE_SEND = EVERYBODY;
}

void on_remote_call(call_handler act) noexcept { all_handlers.of_calls = act; }
void call_core(u32 core) noexcept {
  if (core >= described().cores) panic("a remote call to core ", core, ", which is not there");
  REMOTE_CALL = core;
}
void call_others() noexcept { REMOTE_CALL = EVERYBODY; }

namespace {

void run(u32 bit) noexcept {
  if (all_handlers.by_bit[bit].act == nullptr) panic("an interrupt without a handler: bit ", bit);
  all_handlers.by_bit[bit].act();
}

void take_software_interrupt() noexcept {
  // What is sent from here on interrupts again.
  SOFTWARE_CLEAR = 0;
  std::atomic<u32>& mine = sent_to[here().index].sent;
  // relaxed: the exchange orders.
  u32 bits = mine.load(std::memory_order_relaxed);
  // acquire: pairs with interrupt_core().
  if (bits != 0) bits = mine.exchange(0, std::memory_order_acquire);
  constexpr u32 kick = 1u << bit_of(kick_interrupt);
  const bool is_kicked = (bits & kick) != 0;
  bits &= ~kick;
  for (; bits != 0; bits &= bits - 1) run(static_cast<u32>(__builtin_ctz(bits)));
  if (all_handlers.of_events != nullptr) all_handlers.of_events();
  // The last: another thread may run before it returns.
  if (is_kicked) run(bit_of(kick_interrupt));
}

}  // namespace

extern "C" void handle_interrupt(u32 cause) {
  if (cause % causes == software) return take_software_interrupt();
  if (cause % causes != timer) panic("an interrupt of cause ", cause % causes);
  set_timer(~u64{0});
  run(bit_of(timer_interrupt));
}

extern "C" u32 handle_exception(u32 cause, u32 pc, u32 value) {
  if (cause == breakpoint)
    run(bit_of(self_interrupt));
  else if (cause != call)
    panic("exception ", cause, " at ", hex{pc}, ", value ", hex{value});
  return pc + 4;
}

void interrupt_self_by_instruction() noexcept { asm volatile("ebreak" ::: "memory"); }

u64 ticks_of_system_call() noexcept {
  const native_word begin = stamp();
  asm volatile("ecall" ::: "memory");
  return stamp() - begin;
}

// ---- threads ----

void prepare(context& fresh, u64 stack_end, void (*run)(void*), void* argument) noexcept {
  // switch_stacks leaves them so: s0 to s11, and ra.
  u32* const top = reinterpret_cast<u32*>(static_cast<native_word>(stack_end / 16 * 16)) - 16;
  for (int i = 0; i < 16; ++i) top[i] = 0;
  top[0] = reinterpret_cast<native_word>(run);
  top[1] = reinterpret_cast<native_word>(argument);
  top[13] = reinterpret_cast<native_word>(thread_entry);
  fresh.stack = reinterpret_cast<native_word>(top);
}

void switch_context(context& from, context& to) noexcept { switch_stacks(&from.stack, to.stack); }

u64 frame_here() noexcept { return reinterpret_cast<native_word>(__builtin_frame_address(0)); }

void walk_stack(u64 frame, visitor visit) noexcept {
  constexpr int most_frames = 24;
  const u64 end = RAM + u64{ram_bytes};
  for (int depth = 0; depth < most_frames && frame % 4 == 0 && RAM + 8 <= frame && frame <= end;
       ++depth) {
    const u32* const words = reinterpret_cast<const u32*>(static_cast<native_word>(frame));
    if (words[-1] == 0) return;
    visit(words[-1]);
    if (words[-2] <= frame) return;
    frame = words[-2];
  }
}

}  // namespace machine
}  // namespace tutti::kernel
