// SPDX-License-Identifier: Apache-2.0
// Reset and interrupts. A thread's registers are saved in kernel_frame; the kernel may exchange
// them; then they are restored from there. Interrupts are PicoRV32's own (custom-0): q0 holds the
// return address, q1 the causes, and q2 is free.
  .macro getq rd, q
  .insn r 0x0b, 4, 0, \rd, x\q, x0
  .endm
  .macro setq q, rs
  .insn r 0x0b, 2, 1, x\q, \rs, x0
  .endm

  .section .init
  .globl _start
_start:
  j boot

  .org 0x10
interrupt:
  setq 2, x1
  la x1, kernel_frame
  sw x2, 8(x1)
  getq x2, 2
  sw x2, 4(x1)
  getq x2, 0
  sw x2, 0(x1)
  .irp r, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  sw x\r, 4*\r(x1)
  .endr
  la sp, kernel_stack
  getq a0, 1
  call kernel_interrupt
leave:
  la x1, kernel_frame
  lw x2, 0(x1)
  setq 0, x2
  .irp r, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  lw x\r, 4*\r(x1)
  .endr
  lw x1, 4(x1)
  // Ends the privilege that the core has after reset; later it has no effect.
  .insn r 0x2b, 7, 3, x0, x0, x0
  .insn r 0x0b, 0, 2, x0, x0, x0   // retirq

boot:
  la sp, kernel_stack
  call kernel_boot
  j leave

// A thread begins here, with interrupts allowed and its number on this core in a0.
  .text
  .globl thread_start
thread_start:
  .insn r 0x0b, 6, 3, x0, x0, x0   // maskirq: no interrupt masked
  call thread_main
  // Exit with the result.
  li a7, 5
  ecall
1:
  j 1b

  .section .kernel_data, "aw"
  .globl kernel_frame
  .balign 4
kernel_frame:
  .zero 128
