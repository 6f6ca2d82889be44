// SPDX-License-Identifier: Apache-2.0
// For programs that run with or without MPI and link to none: finds out whether a launcher of an
// MPI has started this process, and loads that MPI's functions at run time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/mpi/calls.hpp"

namespace tutti::mpi {

struct launch {
  // "openmpi" or "mpich".
  std::string family;
  int size = 1;
  int rank = 0;
};

// Reads the launchers' variables (OMPI_COMM_WORLD_SIZE and _RANK, PMI_SIZE and PMI_RANK) by
// `variable`, which is std::getenv except in tests. Returns nothing if there is no launcher. Throws
// std::runtime_error if the variables contradict each other.
std::optional<launch> find_launch(const char* (*variable)(const char*));
std::optional<launch> find_launch();

// Replaces this program by the one that measures episodes and messages between processes of that
// MPI (bench/mpi/), with these arguments; `tutti bench idle` does so under a launcher. Throws
// std::runtime_error if there is no such program.
[[noreturn]] void become_bench_program(const launch& how,
                                       const std::vector<std::string>& arguments);

// The plugin of an MPI, with MPI initialized while this object lives. A process can make only one,
// because MPI cannot be initialized again.
class library {
 public:
  // `several_threads`: more than one thread will call MPI, in turns. Throws std::runtime_error if
  // there is no plugin of that MPI, if it cannot be loaded, or if MPI does not start or does not
  // agree with the launcher.
  library(const launch& how, bool several_threads);
  // Finalizes MPI, unless another process may be dead: finalizing would then wait for ever.
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  const calls& functions() const noexcept { return *calls_; }
  // Ends all processes of the job with this status, after an error of which the others cannot know.
  [[noreturn]] void abort(int status) const;

 private:
  const calls* calls_ = nullptr;
};

}  // namespace tutti::mpi
