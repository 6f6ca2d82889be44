// SPDX-License-Identifier: Apache-2.0
// Reset, interrupts and exceptions, and the switch between two threads. Handlers run on the stack
// that they interrupt: compiled code keeps nothing below its stack pointer.
#include "hardware/machine/software/block.h"
#include "hardware/machine/software/fill.S"

  .section .init, "ax"
  .globl _start
_start:
  j boot

  // The harness writes the command line here.
  .org PARAMETERS_OFFSET
  .globl command_line
command_line:
  .zero 128

boot:
  la t0, trap
  csrw mtvec, t0
  csrw mie, zero
  csrr a0, mhartid
  fill_ram started

started:
  bnez a0, 1f
  la sp, first_stack_end
  call start_first_core
1:
  // Another core waits until core 0 gives it a stack.
  csrwi mie, 8
2:
  wfi
  csrr t0, mip
  andi t0, t0, 8
  beqz t0, 2b
  sw zero, 0x10(a4)
  la t0, next_stack
  lw sp, 0(t0)
  call start_other_core

// What a function may change; mstatus and mepc are above them.
  .macro caller_saved op
  .set place, 0
  .irp r, 1,5,6,7,10,11,12,13,14,15,16,17,28,29,30,31
  \op x\r, place(sp)
  .set place, place + 4
  .endr
  .endm

  .text
  .balign 4
trap:
  // mscratch keeps when the first instruction ran.
  csrw mscratch, t0
  rdcycle t0
  csrrw t0, mscratch, t0
  addi sp, sp, -80
  caller_saved sw
  csrr t0, mstatus
  sw t0, 64(sp)
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  sw a1, 68(sp)
  bltz a0, 1f
  call handle_exception
  // It returns where the program goes on.
  sw a0, 68(sp)
  j 2f
1:
  call handle_interrupt
2:
  // Another thread may have run meanwhile.
  lw t0, 68(sp)
  csrw mepc, t0
  lw t0, 64(sp)
  csrw mstatus, t0
  caller_saved lw
  addi sp, sp, 80
  mret

// A remote call: this code and the handler have ra, t0 to t6 and a0 to a7 of their own, and the stack
// of what they interrupt.
  .globl call_entry
  .balign 4
call_entry:
  rdcycle a0
  la t0, all_handlers
  lw t0, 0(t0)
  jalr t0
  uret

// switch_stacks(word* save_here, word other): keeps what a function keeps, and goes on as the other
// thread.
  .globl switch_stacks
switch_stacks:
  addi sp, sp, -64
  sw ra, 52(sp)
  .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
  sw s\r, 4*\r(sp)
  .endr
  sw sp, 0(a0)
  mv sp, a1
  lw ra, 52(sp)
  .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
  lw s\r, 4*\r(sp)
  .endr
  addi sp, sp, 64
  ret

// The first instructions of a thread: s0 is its function, s1 the argument.
  .globl thread_entry
thread_entry:
  mv a0, s1
  jalr s0
  call thread_returned
