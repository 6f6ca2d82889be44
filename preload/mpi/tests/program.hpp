// SPDX-License-Identifier: Apache-2.0
// What the scenarios of the program share. Each checks its results, and ends the job if they are
// wrong.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <string>

namespace program {

inline int world_rank = 0, world_size = 0;
// The folder of the program, with a slash at its end.
inline std::string folder;

[[noreturn]] void fail(const std::string& what);
void expect(bool holds, const std::string& what);
int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);
// Everybody adds a number that all others can compute.
void check_sum(MPI_Comm comm, std::int64_t salt);

// A function of the MPI library itself, whatever the loader has put before it.
template <class Function>
Function* own(const char* name) {
  Dl_info where;
  const auto inside = reinterpret_cast<void*>(&MPI_Comm_rank);
  expect(dladdr(inside, &where) != 0, "the library of MPI is not found");
  void* const library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// program_errors.cpp: mistakes, which MPI reports as it does without the preload.
void errors_are_reported();
// The name of a scenario says which call is made.
void call_before_init(const std::string& scenario);
void each_error_is_told_once();
void jumps_out_of_freeing();
void a_barrier_without_request_is_not_started();
void a_started_barrier_is_not_freed();
void a_started_barrier_is_not_cancelled();
void a_started_barrier_is_not_completed();

// program_messages.cpp: large messages beside collective calls.
void rendezvous();
void sent_by_the_last();

// program_started.cpp: MPI_Ibarrier.
void started();
void freed();
void started_alone();
void started_by_threads();

// program_surroundings.cpp: what programs do beside and around these calls.
void at_bottom();
void files();
void constant_data();
void forked();
void pending();
void small_files();
void loading();
// Rank 1 never makes the first call.
void missing_first();

// program_mpi4.cpp: what MPI 4 has.
void large_counts();
// Calls no MPI_Init.
void sessions();

}  // namespace program
