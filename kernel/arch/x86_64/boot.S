// SPDX-License-Identifier: Apache-2.0
// From the boot loader to C++ on the first core, and from a start-up IPI to C++ on the others. The
// loader leaves the first core in 32-bit protected mode without paging, by PVH (an ELF note names
// the entry) or by multiboot 1. Both cores end in 64-bit mode with the first 4 GiB mapped to
// themselves.

#define PAGE_PRESENT_WRITABLE 0x03
#define PAGE_LARGE 0x80
#define PAGE_UNCACHED 0x18
// The last 32 MiB below 4 GiB hold the local APIC, the I/O APIC and the firmware.
#define FIRST_DEVICE_PAGE 2032

#define CR0_PAGED_WITH_SSE 0x80010033  // PG, WP, NE, ET, MP, PE; EM and TS are clear
#define CR4_BITS 0x6A0                 // PAE, PGE, OSFXSR, OSXMMEXCPT
#define MSR_EFER 0xC0000080
#define EFER_BITS 0x101                // long mode, and the instruction syscall
#define CODE64 0x08
#define DATA 0x10
#define CODE32 0x18

#define AP_START 0x8000
#define IN_AP(label) (label - ap_begin + AP_START)

        // The note that PVH loaders look for: the physical address of the entry.
        .section .note.pvh, "a", @note
        .align 4
        .long 4, 8, 18  // length of the name, length of the value, XEN_ELFNOTE_PHYS32_ENTRY
        .asciz "Xen"
        .quad pvh_entry

        .section .text.boot, "ax"
        .code32
        .global pvh_entry, multiboot_entry
pvh_entry:
        xorl %eax, %eax
multiboot_entry:
        cli
        cld
        movl %eax, %esi  // 0, or the multiboot magic
        movl %ebx, %edi  // what the loader says about the machine

        movl $boot_pdpt + PAGE_PRESENT_WRITABLE, boot_pml4
        movl $boot_pdpt, %eax
        movl $boot_pages + PAGE_PRESENT_WRITABLE, %ebx
        movl $4, %ecx
1:      movl %ebx, (%eax)
        addl $8, %eax
        addl $4096, %ebx
        loop 1b

        movl $boot_pages, %eax
        movl $PAGE_PRESENT_WRITABLE + PAGE_LARGE, %ebx
        xorl %ecx, %ecx
2:      movl %ebx, (%eax)
        cmpl $FIRST_DEVICE_PAGE, %ecx
        jb 3f
        orl $PAGE_UNCACHED, (%eax)
3:      addl $8, %eax
        addl $0x200000, %ebx
        incl %ecx
        cmpl $2048, %ecx
        jb 2b

        lgdt boot_gdt_pointer
        movl $CR4_BITS, %eax
        movl %eax, %cr4
        movl $boot_pml4, %eax
        movl %eax, %cr3
        movl $MSR_EFER, %ecx
        rdmsr
        orl $EFER_BITS, %eax
        wrmsr
        movl $CR0_PAGED_WITH_SSE, %eax
        movl %eax, %cr0
        ljmp $CODE64, $first_core

        .code64
first_core:
        movl $DATA, %eax
        movl %eax, %ds
        movl %eax, %es
        movl %eax, %ss
        movq $boot_stack_top, %rsp
        xorl %ebp, %ebp
        movl %edi, %edi
        movl %esi, %esi
        xchgq %rdi, %rsi
        call start_first_core
        ud2

        // Copied to AP_START. A start-up IPI begins here, in real mode.
        .global ap_begin, ap_end, ap_stack, ap_core
        .code16
ap_begin:
        cli
        cld
        xorw %ax, %ax
        movw %ax, %ds
        lgdtl IN_AP(ap_gdt_pointer)
        movl $0x11, %eax
        movl %eax, %cr0
        ljmpl $CODE32, $IN_AP(ap_protected)
        .code32
ap_protected:
        movl $DATA, %eax
        movl %eax, %ds
        movl %eax, %ss
        movl $CR4_BITS, %eax
        movl %eax, %cr4
        movl $boot_pml4, %eax
        movl %eax, %cr3
        movl $MSR_EFER, %ecx
        rdmsr
        orl $EFER_BITS, %eax
        wrmsr
        movl $CR0_PAGED_WITH_SSE, %eax
        movl %eax, %cr0
        ljmp $CODE64, $IN_AP(ap_long)
        .code64
ap_long:
        movl $DATA, %eax
        movl %eax, %ds
        movl %eax, %es
        movl %eax, %ss
        movq ap_stack, %rsp
        movq ap_core, %rdi
        xorl %ebp, %ebp
        movq $start_other_core, %rax
        call *%rax
        ud2
        .align 8
ap_gdt_pointer:
        .word boot_gdt_end - boot_gdt - 1
        .long boot_gdt
ap_end:

        .section .rodata
        .align 16
boot_gdt:
        .quad 0
        .quad 0x00AF9B000000FFFF  // CODE64
        .quad 0x00CF93000000FFFF  // DATA
        .quad 0x00CF9B000000FFFF  // CODE32
boot_gdt_end:
boot_gdt_pointer:
        .word boot_gdt_end - boot_gdt - 1
        .long boot_gdt

        .data
        .align 8
ap_stack: .quad 0
ap_core:  .quad 0

        .bss
        .align 4096
        .global boot_pml4
boot_pml4: .skip 4096
boot_pdpt: .skip 4096
boot_pages: .skip 4 * 4096
        .align 16
        .skip 16384
boot_stack_top:

        .section .note.GNU-stack, "", @progbits
