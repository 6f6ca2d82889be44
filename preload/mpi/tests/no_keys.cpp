// SPDX-License-Identifier: Apache-2.0
// Loaded behind the preload: rank 1 gets no key for an attribute from MPI, as if all were in use.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

int refuse(void*, void*, int*, void*) { return 15; }

bool is_rank_1() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* const rank = std::getenv(name); rank != nullptr) return *rank == '1';
  return false;
}

}  // namespace

extern "C" void* dlsym(void* library, const char* symbol) noexcept {
  if (std::strcmp(symbol, "PMPI_Comm_create_keyval") == 0 && is_rank_1())
    return reinterpret_cast<void*>(refuse);
  void* own = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (own == nullptr) own = dlvsym(RTLD_NEXT, "dlsym", version);
  return reinterpret_cast<decltype(&dlsym)>(own)(library, symbol);
}
