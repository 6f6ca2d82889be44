// SPDX-License-Identifier: Apache-2.0
// dlsym, for programs that take OpenMP's routines from a handle of the runtime's library: Python's
// ctypes and threadpoolctl, Julia, and others. They would call the program's own runtime, which
// runs nothing, so the number of threads that they set would have no effect. Such a look-up gives
// what the program's own calls reach; any other one is glibc's, which returns to the caller itself,
// because it asks which object calls it.
#include <dlfcn.h>

#if defined(__x86_64__) && defined(__GLIBC__)

#include <atomic>
#include <cstring>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/takeover.hpp"

namespace tutti::openmp {
namespace {

using lookup = void* (*)(void* handle, const char* name);

// glibc's, or that of another preloaded library. Constructors of other libraries may call dlsym
// before those of this one have run.
lookup next_lookup() {
  static constinit std::atomic<lookup> known{nullptr};
  // relaxed: all threads find the same.
  lookup next = known.load(relaxed);
  if (next != nullptr) return next;
  void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  next = reinterpret_cast<lookup>(found);
  known.store(next, relaxed);
  return next;
}

bool is_mine(const Dl_info& object) {
  static constinit char here = 0;
  Dl_info mine;
  return dladdr(&here, &mine) != 0 && mine.dli_fbase == object.dli_fbase;
}

// Whether the object is the library of a runtime. Wheels give libgomp longer names.
bool is_runtime(const Dl_info& object) {
  if (object.dli_fname == nullptr || is_mine(object)) return false;
  const char* const slash = std::strrchr(object.dli_fname, '/');
  const char* const file = slash != nullptr ? slash + 1 : object.dli_fname;
  for (const char* const each : {"libgomp", "libomp", "libiomp"})
    if (std::strncmp(file, each, std::strlen(each)) == 0) return true;
  return false;
}

void* look_up_routine(void* handle, const char* name) {
  void* const found = next_lookup()(handle, name);
  Lmid_t space = LM_ID_BASE;
  Dl_info object;
  // A name space of its own has a runtime of its own.
  if (found == nullptr || dlinfo(handle, RTLD_DI_LMID, &space) != 0 || space != LM_ID_BASE ||
      dladdr(found, &object) == 0 || !is_runtime(object))
    return found;
  void* const ours = next_lookup()(RTLD_DEFAULT, name);
  if (ours != nullptr && dladdr(ours, &object) != 0 && is_mine(object)) return ours;
  (void)dlerror();
  return found;
}

}  // namespace
}  // namespace tutti::openmp

// What a call of dlsym returns, or where it goes on.
struct tutti_openmp_answer {
  void* pointer;
  bool goes_on;
};
extern "C" [[gnu::visibility("hidden"), gnu::used]] tutti_openmp_answer tutti_openmp_lookup(
    void* handle, const char* name) {
  using namespace tutti::openmp;
  const bool is_routine =
      handle != RTLD_DEFAULT && handle != RTLD_NEXT && name != nullptr && is_of_openmp(name);
  if (is_routine) return {look_up_routine(handle, name), false};
  return {reinterpret_cast<void*>(next_lookup()), true};
}

// glibc has the function with two versions. The answer comes in the registers rax and dl.
#define TUTTI_DLSYM(name, version)                                                           \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n.symver " #name \
          ", dlsym" version "\n" #name                                                       \
          ":\n.cfi_startproc\nendbr64\npush %rdi\n.cfi_adjust_cfa_offset 8\n"                \
          "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                            \
          "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall tutti_openmp_lookup\n"               \
          "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                                        \
          "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                            \
          "pop %rdi\n.cfi_adjust_cfa_offset -8\ntest %dl, %dl\njz 1f\n"                      \
          "jmp *%rax\n1: ret\n.cfi_endproc\n.size " #name ", .-" #name "\n.popsection")

TUTTI_DLSYM(tutti_openmp_dlsym, "@@GLIBC_2.34");
TUTTI_DLSYM(tutti_openmp_old_dlsym, "@GLIBC_2.2.5");
#endif
