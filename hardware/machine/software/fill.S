// SPDX-License-Identifier: Apache-2.0
// The RAM before the program begins, for start code: the first values of data, and zeros.
// Start code includes it.

  // Goes on at \next when all cores have filled the RAM. a0 is the number of this core, interrupts
  // are off; changes a2 to a5 and t0 to t3. The link script has the ends of the sections, all
  // aligned to lines.
  .macro fill_ram next
  // Each core fills its lines of the RAM, every n-th of n cores.
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
  jal t0, fill_lines
  la t1, kernel_bss_begin
  la t2, kernel_bss_end
  jal t0, fill_lines
  // A software interrupt goes round when a core has filled its lines, and back to core 0, which
  // then sends one to each of the others: everything is filled.
  beqz a0, 3f
  jal t0, await_software_interrupt
3:
  addi t2, a0, 1
  bltu t2, a5, 4f
  li t2, 0
4:
  sw t2, 0x14(a4)
  jal t0, await_software_interrupt
  bnez a0, \next
  li t2, 1
5:
  bgeu t2, a5, \next
  sw t2, 0x14(a4)
  addi t2, t2, 1
  j 5b

  // Fills this core's lines from t1 to t2 with zeros.
fill_lines:
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
await_software_interrupt:
  csrr t3, mip
  andi t3, t3, 8
  beqz t3, await_software_interrupt
  sw zero, 0x10(a4)
  fence
  jr t0
  .endm
