// SPDX-License-Identifier: Apache-2.0
// The barriers of cores that the instructions barinit and barwait of Hetland et al. 2019 name. The
// kernel keeps for each what the paper's unit keeps: which cores participate, and which have
// arrived.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel {

inline constexpr u32 hardware_barriers = 16;

// Makes a barrier of the cores whose bits are set and returns its number, or -1 if all are in use,
// or a core is not there, or the caller's is not among them. Each participant executes barinit
// before its first barwait.
int create_barrier(u64 cores_of_group) noexcept;
// Gives it back. No participant may be in a wait.
void destroy_barrier(u64 barrier) noexcept;

// What the instructions do. They return false if this core does not participate, or did not
// execute barinit; then the program sees an invalid opcode. barrier_wait() returns when all
// participants have arrived, and lets other threads of the core run meanwhile.
bool barrier_init(u64 barrier) noexcept;
bool barrier_wait(u64 barrier) noexcept;

// The instructions.
void execute_barinit(u64 barrier) noexcept;
void execute_barwait(u64 barrier) noexcept;

}  // namespace tutti::kernel
