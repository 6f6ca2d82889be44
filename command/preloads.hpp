// SPDX-License-Identifier: Apache-2.0
// The libraries that `tutti run` preloads: one line for each.
#pragma once

namespace tutti::command {

struct preload {
  // The option that chooses it. Without any such option the defaults are chosen.
  const char* option;
  // The file, in build/preload/ or in lib/tutti/.
  const char* library;
  bool is_default;
  const char* help;
};

inline constexpr preload preloads[] = {
    {"--openmp", "libtutti_openmp.so", true,
     "Replace the OpenMP runtime of GCC or clang; also without any of these options"},
    {"--pthread", "libtutti_pthread.so", false, "Replace pthread_barrier_* of glibc"},
    {"--mpi", "libtutti-mpi.so", false,
     "Serve the small collective calls of Open MPI and MPICH between ranks of one node"},
};

}  // namespace tutti::command
