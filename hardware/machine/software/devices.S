// SPDX-License-Identifier: Apache-2.0
// Without kernel: what each access to the devices and to the edges of the memory does in both
// modes, and how long interrupts take. Core 0 traces; sim/system_tests.cpp knows what must come:
//   one value for each line of `accesses`: its cause, or 0xff for none
//   for each other core, the cycles from the store that interrupts it to its waking
//   for the timer, the cycles from the time that was set to the first instruction of the handler
//   mip with an external interrupt, and after it was cleared
#define DEVICES 0x20000000
#define VALUE 0x30000000

  .section .init, "ax"
  .globl _start
_start:
  j boot
  .org 0x100

boot:
  li s11, DEVICES
  la t0, handler
  csrw mtvec, t0
  lw t0, 0(s11)
  bnez t0, others

  // ---- accesses ----
  la s1, accesses
  la s2, accesses_end
1:
  li s0, 0xff
  lw s3, 0(s1)            // address
  lw s4, 4(s1)            // 0 lw, 1 sw, 2 lb, 3 sh, 4 amoadd, 5 lr; 16 more in user mode
  lw s6, 8(s1)            // value
  la t0, 2f
  csrw mepc, t0
  li t1, 3 << 11
  csrc mstatus, t1
  andi t2, s4, 16
  bnez t2, 3f
  csrs mstatus, t1
3:
  andi s4, s4, 15
  mret
2:
  // The handler goes on behind the access.
  li t0, 1
  beq s4, t0, do_sw
  li t0, 2
  beq s4, t0, do_lb
  li t0, 3
  beq s4, t0, do_sh
  li t0, 4
  beq s4, t0, do_amo
  li t0, 5
  beq s4, t0, do_lr
  lw t1, 0(s3)
  j done
do_sw:
  sw s6, 0(s3)
  j done
do_lb:
  lb t1, 0(s3)
  j done
do_sh:
  sh s6, 0(s3)
  j done
do_amo:
  amoadd.w t1, s6, (s3)
  j done
do_lr:
  lr.w t1, (s3)
done:
  ecall                   // back to machine mode; the cause of the access stays in s0
  li t0, VALUE
  or t0, t0, s0
  sw t0, 0x40(s11)
  addi s1, s1, 12
  bltu s1, s2, 1b

  // ---- interrupts between cores ----
  li s1, 1
  lw s2, 4(s11)
  li s3, 0x80010000
  bgeu s1, s2, 5f
4:
  slli t0, s1, 8
  add t0, t0, s3          // a line for each core
6:
  lw t1, 4(t0)            // it sleeps
  beqz t1, 6b
  li t2, 100
7:
  addi t2, t2, -1
  bnez t2, 7b
  lw t1, 0x18(s11)
  sw s1, 0x14(s11)
8:
  lw t2, 0(t0)
  beqz t2, 8b
  sub t2, t2, t1
  li t0, VALUE
  or t0, t0, t2
  sw t0, 0x40(s11)
  addi s1, s1, 1
  bltu s1, s2, 4b
5:

  // ---- the timer ----
  la t0, timer
  csrw mtvec, t0
  li t0, 0x80
  csrw mie, t0
  lw s1, 0x18(s11)
  addi s1, s1, 300
  sw s1, 0x20(s11)
  sw zero, 0x24(s11)
  csrsi mstatus, 8
9:
  j 9b
  .balign 4
timer:
  lw t0, 0x18(s11)
  sub t0, t0, s1
  li t1, VALUE
  or t0, t0, t1
  sw t0, 0x40(s11)

  // ---- an external interrupt, which the harness sends ----
  li t0, 0x800
  csrw mie, t0
  wfi
  csrr t0, mip
  li t1, 0x800
  and t0, t0, t1
  li t2, VALUE
  or t0, t0, t2
  sw t0, 0x40(s11)
  sw zero, 0x28(s11)
  csrr t0, mip
  and t0, t0, t1
  or t0, t0, t2
  sw t0, 0x40(s11)
  sw zero, 0x48(s11)
10:
  wfi
  j 10b

others:
  // Says that it sleeps, and then when it woke.
  li t1, 0x80010000
  slli t0, t0, 8
  add t0, t0, t1
  li t1, 8
  csrw mie, t1
  sw t1, 4(t0)
  wfi
  lw t1, 0x18(s11)
  sw t1, 0(t0)
  sw zero, 0x10(s11)
  sw zero, 0x48(s11)
11:
  wfi
  j 11b

  .balign 4
handler:
  csrr t0, mcause
  li t1, 8
  beq t0, t1, 12f
  li t1, 11
  beq t0, t1, 12f
  mv s0, t0
  csrr t0, mtval
  beq t0, s3, 13f
  li s0, 0xee             // mtval is not the address
13:
  csrr t0, mepc
  addi t0, t0, 4
  csrw mepc, t0
  mret
12:
  csrr t0, mepc
  addi t0, t0, 4
  jr t0

  .balign 4
#define ACCESS(address, kind, value) .word address, kind, value
#define USER 16
accesses:
  ACCESS(DEVICES + 0x00, 0, 0)
  ACCESS(DEVICES + 0x00, 0 + USER, 0)
  ACCESS(DEVICES + 0x00, 1, 0)
  ACCESS(DEVICES + 0x0c, 0 + USER, 0)
  ACCESS(DEVICES + 0x10, 0, 0)
  ACCESS(DEVICES + 0x10, 0 + USER, 0)
  ACCESS(DEVICES + 0x10, 1 + USER, 0)
  ACCESS(DEVICES + 0x14, 0, 0)
  ACCESS(DEVICES + 0x14, 1, 64)
  ACCESS(DEVICES + 0x14, 1 + USER, 0)
  ACCESS(DEVICES + 0x18, 0 + USER, 0)
  ACCESS(DEVICES + 0x1c, 0 + USER, 0)
  ACCESS(DEVICES + 0x1c, 1, 0)
  ACCESS(DEVICES + 0x20, 0 + USER, 0)
  ACCESS(DEVICES + 0x24, 0, 0)
  ACCESS(DEVICES + 0x28, 1 + USER, 0)
  ACCESS(DEVICES + 0x2c, 0, 0)
  ACCESS(DEVICES + 0x2c, 1, 64)
  ACCESS(DEVICES + 0x2c, 1 + USER, 1)
  ACCESS(DEVICES + 0x30, 0 + USER, 0)
  ACCESS(DEVICES + 0x34, 1 + USER, 0)
  ACCESS(DEVICES + 0x30, 1, 14)
  ACCESS(DEVICES + 0x2c, 1 + USER, 1)
  ACCESS(DEVICES + 0x2c, 1 + USER, 0)
  ACCESS(DEVICES + 0x2c, 1 + USER, 0xffffffff)
  ACCESS(DEVICES + 0x30, 1, 15)
  ACCESS(DEVICES + 0x2c, 1 + USER, 0xffffffff)
  ACCESS(DEVICES + 0x3c, 0, 0)
  ACCESS(DEVICES + 0x40, 0, 0)
  ACCESS(DEVICES + 0x44, 1 + USER, 'x')
  ACCESS(DEVICES + 0x00, 2, 0)
  ACCESS(DEVICES + 0x44, 3, 'y')
  ACCESS(DEVICES + 0x44, 4, 'z')
  ACCESS(DEVICES + 0x02, 0, 0)
  ACCESS(DEVICES + 0x100, 0, 0)
  ACCESS(0x00000080, 0 + USER, 0)
  ACCESS(0x00000080, 1, 0)
  ACCESS(0x00000080, 5, 0)
  ACCESS(0x003ffffc, 0 + USER, 0)
  ACCESS(0x00400000, 0, 0)
  ACCESS(0x7ffffffc, 0, 0)
  ACCESS(0x80000000, 0, 0)
  ACCESS(0x80000000, 0 + USER, 0)
  ACCESS(0x8000fffc, 1 + USER, 0)
  ACCESS(0x8000fffc, 5 + USER, 0)
  ACCESS(0x80010000, 4 + USER, 0)
  ACCESS(0x80010002, 5 + USER, 0)
  ACCESS(0x80010002, 4, 0)
  ACCESS(0x80ffffff, 2 + USER, 0)
  ACCESS(0x81000000, 0, 0)
  ACCESS(0x81000000, 1 + USER, 0)
  ACCESS(0xfffffffc, 1, 0)
accesses_end:
