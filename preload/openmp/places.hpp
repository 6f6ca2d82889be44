// SPDX-License-Identifier: Apache-2.0
// Places (OMP_PLACES) and how the threads of a region are bound to them (OMP_PROC_BIND).
#pragma once

#include <sched.h>

#include <string>
#include <vector>

namespace tutti::openmp {

struct context;
struct omp_team;
struct thread;

struct place {
  cpu_set_t cpus;
};
// Null if threads are not bound.
extern constinit std::vector<place>* places_;

// Sets the places from the value of OMP_PLACES, or of GOMP_CPU_AFFINITY. Returns false, and changes
// nothing, if the value is wrong.
bool parse_places(const char* text);
bool parse_places_of_cpus(const char* text);
// The places as omp_display_env prints them.
std::string describe_places();
// The format that the program has set, or the default.
std::string affinity_format();
// Chooses the place of each rank of a region, from 1, and binds the opener to its own.
void place_ranks(omp_team& team, const context& opener, unsigned char bind,
                 std::vector<unsigned>& of_rank);
void bind_to_place(unsigned place);
// Prints what omp_display_affinity prints.
void show_affinity(thread& me);

}  // namespace tutti::openmp
