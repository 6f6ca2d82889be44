// SPDX-License-Identifier: Apache-2.0
// How the kernel ends: with a status for QEMU, and if something is wrong with the calls that led
// there.
#pragma once

#include "kernel/core/print.hpp"

namespace tutti::kernel {

// QEMU's device for it makes 2 s + 1 of a status s.
inline constexpr u8 all_is_well = 0x10, a_test_failed = 0x11, panicked = 0x12;

// Prints the functions that are being executed, and ends the machine. The other cores run on until
// then: a real machine halts this core alone.
[[noreturn]] void end_with_trace(u64 frame, u64 instruction) noexcept;

// Prints "panic on core N: PARTS" and the trace, and ends the machine.
template <class... Parts>
[[noreturn]] void panic(const Parts&... parts) noexcept;

// Returns on the first core that panics; others that panic later stop there.
void enter_panic() noexcept;
u32 index_of_this_core() noexcept;

template <class... Parts>
[[noreturn]] void panic(const Parts&... parts) noexcept {
  enter_panic();
  print("panic on core ", index_of_this_core(), ": ", parts...);
  end_with_trace(machine::frame_here(), 0);
}

// Ends the program if the condition does not hold.
inline void expect(bool holds, const char* what) noexcept {
  if (!holds) panic(what);
}

}  // namespace tutti::kernel
