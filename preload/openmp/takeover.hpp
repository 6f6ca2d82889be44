// SPDX-License-Identifier: Apache-2.0
// Whether this runtime can run the objects that the program loads.
#pragma once

#include <link.h>

#include <cstdint>
#include <vector>

#include "preload/openmp/reproducible.hpp"

namespace tutti::openmp {

// Calls `found` for each loaded object that defines the function, in the order in which the dynamic
// linker searches them, with the object's file, which is empty for the program. Leaves out objects
// that also define `unless`.
void for_each_definition(const char* name, const char* unless, void* raw,
                         void (*found)(void* raw, const char* file, void* function));
// Whether it is a name of OpenMP's and OpenACC's runtimes.
bool is_of_openmp(const char* name);
bool imports_openmp(const dl_phdr_info& object);
// The places at which the object has the addresses of imported functions whose names begin so.
std::vector<std::uintptr_t> places_of_imports(const dl_phdr_info& object, const char* prefix);
// Whether a loaded object is for LLVM's runtime.
bool has_objects_of_clang();
// Reads the objects that dlopen has brought since the last call. Ends the program if one of them
// needs what this runtime lacks.
void check_new_objects();
// The same; returns whether a loaded object defines ompt_start_tool. Unlike for_each_definition, it
// looks at each object only once.
bool may_have_tool();

// Around a fork, because the child has only one thread and may look at objects, and around reading
// what was found in them.
void lock_looks();
void unlock_looks();
void reset_looks();

// Notes that a region with this function opens. It may be the first one of an object that dlopen
// has brought, so it looks for new objects unless the thread remembers the function. A thread
// remembers one function for each of 64 hashes; if two functions have the same hash, it looks
// again, which costs time only. With --reproducible it always looks, because a library that comes
// where another one has gone may have its region at the same address.
inline void note_region(thread& me, region_function function) {
  region_function& checked = me.checked[reinterpret_cast<std::uintptr_t>(function) / 16 % 64];
  if (checked != function || is_reproducible()) {
    checked = function;
    check_new_objects();
  }
  if (is_reproducible()) note_serial(me, function);
}

}  // namespace tutti::openmp
