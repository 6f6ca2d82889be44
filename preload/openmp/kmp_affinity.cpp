// SPDX-License-Identifier: Apache-2.0
// Sets of processors, with which a program of clang binds its threads itself.
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "preload/openmp/kmpc.hpp"

using namespace tutti::openmp;

namespace {

// A program's variable holds the address of one.
struct mask {
  cpu_set_t processors;
};

cpu_set_t processors_at_start() {
  cpu_set_t all;
  CPU_ZERO(&all);
  sched_getaffinity(getpid(), sizeof all, &all);
  return all;
}
const cpu_set_t& usable() {
  static const cpu_set_t all = processors_at_start();
  return all;
}

}  // namespace

TUTTI_KMPC int kmp_get_affinity_max_proc() {
  return static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
}

namespace {

constexpr int out_of_range = -1, not_usable = -2;

bool is_processor(int processor) {
  return processor >= 0 && processor < CPU_SETSIZE && processor < kmp_get_affinity_max_proc();
}

// Returns 0, or why no set can get or lose the processor.
int why_refused(int processor) {
  if (!is_processor(processor)) return out_of_range;
  return CPU_ISSET(processor, &usable()) ? 0 : not_usable;
}

}  // namespace

TUTTI_KMPC void kmp_create_affinity_mask(mask** made) {
  usable();
  *made = new mask;
  CPU_ZERO(&(*made)->processors);
}
TUTTI_KMPC void kmp_destroy_affinity_mask(mask** made) {
  delete *made;
  *made = nullptr;
}

TUTTI_KMPC int kmp_set_affinity_mask_proc(int processor, mask** m) {
  const int refused = why_refused(processor);
  if (refused == 0) CPU_SET(processor, &(*m)->processors);
  return refused;
}
TUTTI_KMPC int kmp_unset_affinity_mask_proc(int processor, mask** m) {
  const int refused = why_refused(processor);
  if (refused == 0) CPU_CLR(processor, &(*m)->processors);
  return refused;
}
TUTTI_KMPC int kmp_get_affinity_mask_proc(int processor, mask** m) {
  if (!is_processor(processor)) return out_of_range;
  return CPU_ISSET(processor, &usable()) && CPU_ISSET(processor, &(*m)->processors) ? 1 : 0;
}

// These concern the calling thread. They return an error's number.
TUTTI_KMPC int kmp_set_affinity(mask** m) {
  return sched_setaffinity(0, sizeof(cpu_set_t), &(*m)->processors) == 0 ? 0 : errno;
}
TUTTI_KMPC int kmp_get_affinity(mask** m) {
  return sched_getaffinity(0, sizeof(cpu_set_t), &(*m)->processors) == 0 ? 0 : errno;
}
TUTTI_KMPC int kmp_set_thread_affinity_mask_initial() {
  return sched_setaffinity(0, sizeof(cpu_set_t), &usable()) == 0 ? 1 : 0;
}

// Fortran.
TUTTI_KMPC int kmp_get_affinity_max_proc_() { return kmp_get_affinity_max_proc(); }
TUTTI_KMPC void kmp_create_affinity_mask_(mask** m) { kmp_create_affinity_mask(m); }
TUTTI_KMPC void kmp_destroy_affinity_mask_(mask** m) { kmp_destroy_affinity_mask(m); }
TUTTI_KMPC int kmp_set_affinity_mask_proc_(const int* processor, mask** m) {
  return kmp_set_affinity_mask_proc(*processor, m);
}
TUTTI_KMPC int kmp_unset_affinity_mask_proc_(const int* processor, mask** m) {
  return kmp_unset_affinity_mask_proc(*processor, m);
}
TUTTI_KMPC int kmp_get_affinity_mask_proc_(const int* processor, mask** m) {
  return kmp_get_affinity_mask_proc(*processor, m);
}
TUTTI_KMPC int kmp_set_affinity_(mask** m) { return kmp_set_affinity(m); }
TUTTI_KMPC int kmp_get_affinity_(mask** m) { return kmp_get_affinity(m); }
