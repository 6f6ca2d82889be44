// SPDX-License-Identifier: Apache-2.0
// Reset, traps, and the way into user mode. Each core has a block in the kernel's part of the RAM:
// a frame for the registers of its thread, another one, and the kernel's stack. mscratch always points to it.
#include "hardware/machine/software/block.h"
#include "hardware/machine/software/fill.S"

  .section .init, "ax"
  .globl _start
_start:
  j boot

  // The harness writes the parameters here.
  .org PARAMETERS_OFFSET
  .zero 128

boot:
  la t0, trap
  csrw mtvec, t0
  csrw mie, zero
  csrr a0, mhartid
  // The address of the block.
  li t0, BLOCK_SIZE
  mul t0, t0, a0
  la t1, kernel_blocks
  add t0, t0, t1
  csrw mscratch, t0
  li t1, BLOCK_SIZE
  add sp, t0, t1

  fill_ram enter

enter:
  csrr a1, mscratch
  call kernel_boot

  // Restores the thread's registers from the block and returns to it.
leave:
  csrr sp, mscratch
  lw t0, 0(sp)
  csrw mepc, t0
  .irp r, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  lw x\r, 4*\r(sp)
  .endr
  lw sp, 8(sp)
  mret

  .balign 4
trap:
  csrrw sp, mscratch, sp
  .irp r, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  sw x\r, 4*\r(sp)
  .endr
  csrrw t0, mscratch, sp
  sw t0, 8(sp)
  csrr t0, mepc
  sw t0, 0(sp)
  mv a0, sp
  csrr a1, mcause
  csrr a2, mtval
  addi sp, sp, BLOCK_SIZE
  call kernel_trap
  j leave

// Where remote calls enter, in the program that takes them. The handler gets the time of the first
// instruction, and has the registers that it may change for itself.
  .text
  .weak remote_call_handler
  .globl remote_call_entry
  .balign 4
remote_call_entry:
  rdcycle a0
  call remote_call_handler
  uret

// Where the kernel lets a thread go on after a timeout (on_timeout): the handler gets the barrier,
// the address of the barwait and the missing cores, and returns what to do about the wait.
  .weak timeout_handler
  .globl timeout_entry
  .balign 4
timeout_entry:
  call timeout_handler
  li a7, RESUME_CALL
  ecall

// A thread begins here in user mode, with the core's number in a0, which it keeps in tp.
  .text
  .globl thread_start
thread_start:
  mv tp, a0
  call thread_main
  li a7, 0
  ecall
1:
  j 1b
