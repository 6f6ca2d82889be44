// SPDX-License-Identifier: Apache-2.0
// The multiboot 1 header. QEMU takes it before the PVH note if the image has both, so the image
// for PVH is linked without this file.
#define MAGIC 0x1BADB002
// Page-aligned modules, a memory map, and the addresses below instead of an ELF32 header.
#define FLAGS 0x00010003
        .section .multiboot, "a"
        .align 4
multiboot_header:
        .long MAGIC
        .long FLAGS
        .long -(MAGIC + FLAGS)
        .long multiboot_header
        .long image_begin
        .long image_data_end
        .long image_end
        .long multiboot_entry

        .section .note.GNU-stack, "", @progbits
