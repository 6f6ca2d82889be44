// SPDX-License-Identifier: Apache-2.0
// One polite poll: tells the core that this is a waiting loop.
#pragma once

namespace tutti::platform {

// x86: 5 to 45 ns, leaves the pipeline to the other hyper-thread and avoids the mis-speculation flush when
// the word changes. Elsewhere: the nearest equivalent, or only a compiler barrier.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile(
      "isb" ::
          : "memory");  // `yield` is a no-op on most cores; isb waits about as long as pause
#elif defined(__riscv)
  asm volatile(".insn i 0x0F, 0, x0, x0, 0x010" ::
                   : "memory");  // Zihintpause; a no-op where it is absent
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace tutti::platform
