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
// A thread's place, from 1, or 0 if it has none, and the part of the places that its task may use.
struct placement {
  unsigned place = 0, first_place = 0, places = 0;
  bool operator==(const placement&) const = default;
};
// Chooses the place of each rank of a region, as libgomp does: all at the opener's (primary), next
// to each other (close), or each in a part of its own (spread).
void place_ranks(const context& opener, unsigned char bind, unsigned threads,
                 std::vector<placement>& of_rank);
void bind_to_place(unsigned place);
// If threads are bound, and the calling one has no place yet, binds it to the first place. libgomp
// does so when a thread opens a region or asks for its place.
void take_place(placement& mine);
// The CPUs as a list of ranges, with `between` between the first and the last CPU of a range, or,
// if it is a colon, between the first one and how many there are.
std::string describe(const cpu_set_t& cpus, const char* between);
// With OMP_DISPLAY_AFFINITY: prints a line for each rank of a region that opens, if the region is
// nested, if the last one had another number of threads, or if the ranks had other places. `bind`
// tells how they are bound.
void show_affinity(thread& me, const omp_team& team, unsigned char bind);

}  // namespace tutti::openmp
