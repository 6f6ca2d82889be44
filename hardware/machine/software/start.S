// SPDX-License-Identifier: Apache-2.0
// Reset, traps, and the way into user mode. Each core has a block in the kernel's part of the RAM:
// a frame for the registers of its thread, and the kernel's stack. mscratch always points to it.
#include "hardware/machine/software/block.h"

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
  bnez a0, wait_for_data

  // Core 0 fills the RAM. All ends are aligned to 16 bytes.
  la t0, data_load
  la t1, data_begin
  la t2, data_end
  j 2f
1:
  .irp place, 0,4,8,12
  lw t3, \place(t0)
  sw t3, \place(t1)
  .endr
  addi t0, t0, 16
  addi t1, t1, 16
2:
  bltu t1, t2, 1b
  la t1, bss_begin
  la t2, bss_end
  jal t0, clear
  la t1, kernel_bss_begin
  la t2, kernel_bss_end
  jal t0, clear
  // The others may go on: one software interrupt to each.
  fence
  li t0, 0x20000000
  lw t1, 4(t0)
  li t2, 1
3:
  bgeu t2, t1, enter
  sw t2, 0x14(t0)
  addi t2, t2, 1
  j 3b

4:
  .irp place, 0,4,8,12
  sw zero, \place(t1)
  .endr
  addi t1, t1, 16
clear:
  bltu t1, t2, 4b
  jr t0

wait_for_data:
  csrr t0, mip
  andi t0, t0, 8
  beqz t0, wait_for_data
  li t0, 0x20000000
  sw zero, 0x10(t0)
  fence

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
