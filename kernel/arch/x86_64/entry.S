// SPDX-License-Identifier: Apache-2.0
// The ways into C++ from an interrupt, and the switch between two threads.
//
// Code of the standard library keeps values up to 128 bytes below the stack pointer (the red zone),
// so no interrupt may use the stack that it interrupts. The processor changes to a stack of its own
// at every interrupt (the TSS has three). A handler that may switch to another thread first moves
// its frame to the interrupted stack, below the red zone.

        .text

        // Saves what C++ functions may change. The vector number lies above.
        .macro SAVE_CALLER_SAVED
        pushq %rax
        pushq %rcx
        pushq %rdx
        pushq %rsi
        pushq %rdi
        pushq %r8
        pushq %r9
        pushq %r10
        pushq %r11
        .endm
        .macro RESTORE_CALLER_SAVED
        popq %r11
        popq %r10
        popq %r9
        popq %r8
        popq %rdi
        popq %rsi
        popq %rdx
        popq %rcx
        popq %rax
        .endm

        // An entry for each vector, 16 bytes apart, which pushes an error code if the processor did
        // not, and the vector.
        .global interrupt_entries
        .align 16
interrupt_entries:
        .set vector, 0
        .rept 256
        .align 16
        .if vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || vector == 29 || vector == 30
        .else
        pushq $0
        .endif
        .if vector < 128
        pushq $vector
        .else
        pushq $(vector - 256)  // a short push extends the sign
        .endif
        .if vector < 32
        jmp exception_entry
        .elseif vector < 0x40
        jmp switching_entry
        .else
        jmp plain_entry
        .endif
        .set vector, vector + 1
        .endr

        // An interrupt whose handler runs to its end on the interrupt stack.
        .align 16
plain_entry:
        SAVE_CALLER_SAVED
        cld
        movzbl 72(%rsp), %edi
        call handle_interrupt
        RESTORE_CALLER_SAVED
        addq $16, %rsp
        iretq

        // An interrupt whose handler may switch to another thread.
        .align 16
switching_entry:
        pushq %rax
        pushq %rbx
        // On the stack: rbx, rax, vector, error code, rip, cs, rflags, rsp, ss.
        movq 56(%rsp), %rax
        subq $128, %rax
        andq $-16, %rax
        subq $64, %rax
        // At rax: rbx, rax, vector, rip, cs, rflags, rsp, ss.
        .irp offsets, 0, 8, 16
        movq \offsets(%rsp), %rbx
        movq %rbx, \offsets(%rax)
        .endr
        .irp offset, 24, 32, 40, 48, 56
        movq \offset+8(%rsp), %rbx
        movq %rbx, \offset(%rax)
        .endr
        movq %rax, %rsp
        popq %rbx
        pushq %rcx
        pushq %rdx
        pushq %rsi
        pushq %rdi
        pushq %r8
        pushq %r9
        pushq %r10
        pushq %r11
        cld
        movzbl 72(%rsp), %edi
        subq $8, %rsp
        call handle_interrupt
        addq $8, %rsp
        RESTORE_CALLER_SAVED
        addq $8, %rsp
        iretq

        // An exception: all registers are saved in the order of struct exception_frame.
        .align 16
exception_entry:
        pushq %rax
        pushq %rbx
        pushq %rcx
        pushq %rdx
        pushq %rsi
        pushq %rdi
        pushq %rbp
        pushq %r8
        pushq %r9
        pushq %r10
        pushq %r11
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        cld
        movq %rsp, %rdi
        cmpq $6, 120(%rsp)
        je invalid_opcode
2:      call handle_exception
        // It returns only if the instruction was emulated.
3:      popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %r11
        popq %r10
        popq %r9
        popq %r8
        popq %rbp
        popq %rdi
        popq %rsi
        popq %rdx
        popq %rcx
        popq %rbx
        popq %rax
        addq $16, %rsp
        iretq

        // The emulation of an instruction may wait, so it runs on the interrupted stack.
invalid_opcode:
        movq 160(%rsp), %rax
        subq $128, %rax
        andq $-16, %rax
        subq $176, %rax
        movq %rsp, %rsi
        movq %rax, %rdi
        movl $22, %ecx
        rep movsq
        movq %rax, %rsp
        movq %rax, %rdi
        call handle_exception
        jmp 3b

        // The short cut for a single type of event: nothing lies between the interrupt and the
        // action but the registers that C++ may change.
        .global event_shortcut_entry
        .align 16
event_shortcut_entry:
        pushq %rax
        pushq %rcx
        pushq %rdx
        pushq %rsi
        pushq %rdi
        pushq %r8
        pushq %r9
        pushq %r10
        pushq %r11
        subq $8, %rsp
        cld
        call *event_shortcut_action
        call end_shortcut
        addq $8, %rsp
        RESTORE_CALLER_SAVED
        iretq

        // switch_stacks(u64** save_here, u64* other): keeps what C++ functions must not change.
        .global switch_stacks
        .align 16
switch_stacks:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        movq %rsp, (%rdi)
        movq %rsi, %rsp
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret

        // A new thread begins here, interrupts off, with its function in rbx and the argument in r12.
        .global thread_entry
thread_entry:
        xorl %ebp, %ebp
        movq %r12, %rdi
        call *%rbx
        call thread_returned
        ud2

        // What the instruction syscall does in ring 0: the handler, and the way back by a jump.
        // u64 measure_syscall(): clock ticks from the instruction to the first one of the handler.
        .global syscall_entry, measure_syscall
syscall_entry:
        rdtsc
        jmp *%rcx
        .align 16
measure_syscall:
        pushfq
        cli
        rdtsc
        movl %eax, %esi
        syscall
        subl %esi, %eax
        popfq
        ret

        .section .note.GNU-stack, "", @progbits
