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

  // Each core fills its lines of the RAM, every n-th of n cores. All ends are aligned to lines.
  li a4, 0x20000000
  lw a5, 4(a4)
  slli a2, a5, 6
  slli a3, a0, 6
  la t0, data_load
  la t1, data_begin
  la t2, data_end
  add t0, t0, a3
  add t1, t1, a3
1:
  bgeu t1, t2, 2f
  .irp place, 0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60
  lw t3, \place(t0)
  sw t3, \place(t1)
  .endr
  add t0, t0, a2
  add t1, t1, a2
  j 1b
2:
  la t1, bss_begin
  la t2, bss_end
  jal t0, clear
  la t1, kernel_bss_begin
  la t2, kernel_bss_end
  jal t0, clear
  // A software interrupt goes round when a core has filled its lines, and back to core 0, which
  // then sends one to each of the others: everything is filled.
  beqz a0, 3f
  jal t0, await
3:
  addi t2, a0, 1
  bltu t2, a5, 4f
  li t2, 0
4:
  sw t2, 0x14(a4)
  jal t0, await
  bnez a0, enter
  li t2, 1
5:
  bgeu t2, a5, enter
  sw t2, 0x14(a4)
  addi t2, t2, 1
  j 5b

  // Fills this core's lines from t1 to t2 with zeros.
clear:
  add t1, t1, a3
6:
  bgeu t1, t2, 7f
  .irp place, 0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60
  sw zero, \place(t1)
  .endr
  add t1, t1, a2
  j 6b
7:
  jr t0

  // Until a software interrupt comes, which it takes.
await:
  csrr t3, mip
  andi t3, t3, 8
  beqz t3, await
  sw zero, 0x10(a4)
  fence
  jr t0

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
