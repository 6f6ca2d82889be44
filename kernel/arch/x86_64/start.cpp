// SPDX-License-Identifier: Apache-2.0
// Starts the first core and, by INIT and start-up IPIs, the others.
#include <atomic>

#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/core.hpp"
#include "kernel/core/panic.hpp"

extern "C" {
extern char ap_begin[], ap_end[];
extern char image_begin[], image_end[];
extern tutti::kernel::u64 ap_stack, ap_core;
extern tutti::kernel::u64 boot_pml4[];
void switch_stacks(tutti::kernel::u64** save_here, tutti::kernel::u64* other);
void thread_entry();
}

namespace tutti::kernel {
// kernel/main.cpp
[[noreturn]] void start() noexcept;

namespace machine {
namespace {

constexpr u64 ap_address = 0x8000;
constexpr u16 serial = 0x3F8, debug_exit = 0xF4;
constexpr u32 core_pointer_msr = 0xC0000101, thread_pointer_msr = 0xC0000100;

std::atomic<u32> started{0};
void (*run_core)(u32) = nullptr;

void start_serial() noexcept {
  out8(serial + 1, 0);     // no interrupts
  out8(serial + 3, 0x80);  // the divisor follows: 115,200 baud
  out8(serial + 0, 1);
  out8(serial + 1, 0);
  out8(serial + 3, 0x03);  // eight bits, no parity
  out8(serial + 2, 0xC7);
  out8(serial + 4, 0x03);
}

void become(u32 index) noexcept {
  core& mine = core_of(index);
  mine.self = &mine;
  write_msr(core_pointer_msr, reinterpret_cast<u64>(&mine));
  load_descriptors(index);
}

}  // namespace

extern "C" [[noreturn]] void start_first_core(u64 protocol, u64 information) {
  start_serial();
  become(0);
  start_controller();
  enable_controller();
  read_boot_information(protocol, information);
  measure_clock();
  for (u32 i = 0; i < described().memory_ranges; ++i)
    map(described().memory[i].begin, described().memory[i].end);
  start();
}

extern "C" void start_other_core(u64 index) {
  become(static_cast<u32>(index));
  enable_controller();
  // release: publishes what this core wrote about itself; pairs with start_cores().
  started.store(static_cast<u32>(index), std::memory_order_release);
  run_core(static_cast<u32>(index));
}

void start_cores(u64 (*stack_end)(u32), void (*run)(u32)) noexcept {
  run_core = run;
  for (u64 i = 0; i < static_cast<u64>(ap_end - ap_begin); ++i)
    *reinterpret_cast<volatile char*>(ap_address + i) = ap_begin[i];
  for (u32 index = 1; index < described().cores; ++index) {
    ap_stack = stack_end(index);
    ap_core = index;
    const u32 target = described().hardware_id[index];
    // acquire: pairs with start_other_core().
    const auto is_up = [&] { return started.load(std::memory_order_acquire) == index; };
    send_init(target);
    wait_us(10'000);
    for (int attempt = 0; attempt < 2 && !is_up(); ++attempt) {
      send_startup(target, ap_address >> 12);
      constexpr u64 longest_us = 2'000'000, first_us = 200;
      for (u64 us = 0; us < (attempt == 0 ? first_us : longest_us) && !is_up(); us += 10)
        wait_us(10);
    }
    if (!is_up()) panic("a core does not start: its controller has the number ", target);
  }
}

void write(const char* text, std::size_t bytes) noexcept {
  constexpr u8 can_send = 0x20;
  for (std::size_t i = 0; i < bytes; ++i) {
    for (int tries = 0; (in8(serial + 5) & can_send) == 0 && tries < 100'000; ++tries) pause();
    out8(serial, static_cast<u8>(text[i]));
  }
}

void power_off(u8 status) noexcept {
  out32(debug_exit, status);
  // On a machine without QEMU's device for that this core stops here.
  for (;;) asm volatile("cli; hlt");
}

void prepare(context& fresh, u64 stack_end, void (*run)(void*), void* argument) noexcept {
  fresh.floating_point[0] = 0x7F;  // x87: as after fninit
  fresh.floating_point[1] = 0x03;
  fresh.floating_point[24] = 0x80;  // SSE: all exceptions masked
  fresh.floating_point[25] = 0x1F;
  u64* top = reinterpret_cast<u64*>(stack_end / 16 * 16);
  top -= 2;
  top[0] = top[1] = 0;
  *--top = reinterpret_cast<u64>(thread_entry);
  *--top = reinterpret_cast<u64>(run);  // rbx
  *--top = 0;                           // rbp
  *--top = reinterpret_cast<u64>(argument);
  for (int i = 0; i < 3; ++i) *--top = 0;
  fresh.stack = top;
}

void switch_context(context& from, context& to) noexcept {
  asm volatile("fxsave64 %0" : "=m"(from.floating_point));
  if (to.thread_pointer != from.thread_pointer) write_msr(thread_pointer_msr, to.thread_pointer);
  // A fresh thread does not return here from switch_stacks, so its registers are loaded before. The
  // kernel's code in between uses none of them.
  asm volatile("fxrstor64 %0" ::"m"(to.floating_point));
  switch_stacks(&from.stack, to.stack);
}

u64 frame_here() noexcept { return reinterpret_cast<u64>(__builtin_frame_address(0)); }

namespace {
// Code of the C++ library keeps other values where the kernel's has the frame.
bool is_in_memory(u64 address) noexcept {
  const auto at = reinterpret_cast<const char*>(address);
  if (image_begin <= at && at < image_end) return true;
  const description& d = described();
  for (u32 i = 0; i < d.memory_ranges; ++i)
    if (d.memory[i].begin <= address && address < d.memory[i].end) return true;
  return false;
}
}  // namespace

void walk_stack(u64 frame, visitor visit) noexcept {
  constexpr int most_frames = 24;
  for (int depth = 0; depth < most_frames && frame % 8 == 0 && is_in_memory(frame); ++depth) {
    const u64* words = reinterpret_cast<const u64*>(frame);
    if (words[1] == 0) return;
    visit(words[1]);
    if (words[0] <= frame || words[0] - frame > 0x100000) return;
    frame = words[0];
  }
}

void map(u64 begin, u64 end) noexcept {
  constexpr u64 gib = u64{1} << 30, mapped_at_boot = 4 * gib, large_page = u64{1} << 21;
  // Tables for 60 GiB more; memory beyond is not used.
  constexpr u64 most_gib = 64;
  alignas(4096) static u64 pages[most_gib - 4][512];
  u64* upper = reinterpret_cast<u64*>(boot_pml4[0] & ~u64{0xFFF});
  if (begin < mapped_at_boot) begin = mapped_at_boot;
  for (u64 g = begin / gib; g * gib < end && g < most_gib; ++g) {
    if (upper[g] != 0) continue;
    for (u64 i = 0; i < 512; ++i) pages[g - 4][i] = (g * gib + i * large_page) | 0x83;
    upper[g] = reinterpret_cast<u64>(pages[g - 4]) | 3;
  }
}

}  // namespace machine
}  // namespace tutti::kernel
