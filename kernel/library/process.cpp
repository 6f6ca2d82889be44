// SPDX-License-Identifier: Apache-2.0
// The end of a program, the tables of the image, and what a system with processes would have.
#include <dlfcn.h>
#include <elf.h>
#include <iconv.h>
#include <libintl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>

#include "kernel/core/panic.hpp"

extern "C" {
extern const char image_begin[], image_end[], unwind_table[];
// The functions that choose, once, the variant of a function of the C library for this processor.
extern const Elf64_Rela __rela_iplt_start[], __rela_iplt_end[];
}

namespace tutti::kernel {

void choose_variants() noexcept {
  for (const Elf64_Rela* r = __rela_iplt_start; r < __rela_iplt_end; ++r) {
    const auto choose = reinterpret_cast<u64 (*)()>(r->r_addend);
    *reinterpret_cast<u64*>(r->r_offset) = choose();
  }
}

}  // namespace tutti::kernel

using namespace tutti::kernel;

namespace {
int lacks() noexcept {
  errno = ENOSYS;
  return -1;
}
}  // namespace

extern "C" {

void* __dso_handle = nullptr;

void abort() noexcept { panic("a program called abort()"); }
void __assert_fail(const char* what, const char* file, unsigned line, const char*) noexcept {
  panic(file, ":", line, ": ", what, " does not hold");
}
void __stack_chk_fail() { panic("a function wrote beyond its variables"); }

// Nothing is destroyed at the end: the machine is switched off.
int __cxa_atexit(void (*)(void*), void*, void*) noexcept { return 0; }

// The unwinder asks for the tables of the image that contains an address.
int _dl_find_object(void* address, dl_find_object* found) noexcept {
  if (address < image_begin || address >= image_end) return -1;
  *found = {};
  found->dlfo_map_start = const_cast<char*>(image_begin);
  found->dlfo_map_end = const_cast<char*>(image_end);
  found->dlfo_eh_frame = const_cast<char*>(unwind_table);
  return 0;
}

// Texts are in one language, and in one encoding.
char* gettext(const char* text) noexcept { return const_cast<char*>(text); }
char* dgettext(const char*, const char* text) noexcept { return const_cast<char*>(text); }
char* bind_textdomain_codeset(const char*, const char*) noexcept { return nullptr; }
iconv_t iconv_open(const char*, const char*) noexcept {
  errno = EINVAL;
  return reinterpret_cast<iconv_t>(-1);
}
std::size_t iconv(iconv_t, char**, std::size_t*, char**, std::size_t*) noexcept {
  errno = EBADF;
  return ~std::size_t{0};
}
int iconv_close(iconv_t) noexcept { return 0; }

// --- the environment

char** environ = nullptr;
char* getenv(const char*) noexcept { return nullptr; }
// What the C++ library asks before it leaves out locks.
char __libc_single_threaded = 0;
thread_local int errno_of_thread __asm__("errno") = 0;
int* __errno_location() noexcept { return &errno_of_thread; }
// The mathematical functions ask here for the processor's features; zeros are the features that
// every x86-64 processor has.
char _dl_x86_cpu_features[1024] = {};
int sched_getaffinity(pid_t, std::size_t, cpu_set_t*) noexcept { return lacks(); }

// --- there are no other processes

pid_t waitpid(pid_t, int*, int) { return lacks(); }
int posix_spawnp(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                 char* const[], char* const[]) {
  return ENOSYS;
}
int posix_spawn_file_actions_init(posix_spawn_file_actions_t*) noexcept { return 0; }
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t*) noexcept { return 0; }
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t*, int, int) noexcept { return 0; }
int posix_spawnattr_init(posix_spawnattr_t*) noexcept { return 0; }
int posix_spawnattr_destroy(posix_spawnattr_t*) noexcept { return 0; }
int posix_spawnattr_setflags(posix_spawnattr_t*, short) noexcept { return 0; }
int posix_spawnattr_setsigdefault(posix_spawnattr_t*, const sigset_t*) noexcept { return 0; }
int sigemptyset(sigset_t*) noexcept { return 0; }
int sigaddset(sigset_t*, int) noexcept { return 0; }

}  // extern "C"
