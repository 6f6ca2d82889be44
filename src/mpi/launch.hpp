// SPDX-License-Identifier: Apache-2.0
// For programs that run with or without MPI and are linked to none: whether a launcher of an MPI has started this process,
// and that MPI's functions, loaded when the program runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/mpi/calls.hpp"

namespace tutti::mpi {

struct launch {
  std::string family;  // "openmpi" or "mpich"
  int size = 1;
  int rank = 0;
};

// What the launchers' variables say (OMPI_COMM_WORLD_SIZE and _RANK, PMI_SIZE and PMI_RANK), looked up by `variable`, which
// is std::getenv but in tests. Nothing if there is none. Throws std::runtime_error when they contradict each other.
std::optional<launch> find_launch(const char* (*variable)(const char*));
std::optional<launch> find_launch();

// Goes on as the program that measures episodes and messages between processes of that MPI (bench/mpi/), with these
// arguments: what `tutti bench idle` does under a launcher. Throws std::runtime_error when there is none.
[[noreturn]] void become_bench_program(const launch& how,
                                       const std::vector<std::string>& arguments);

// The plugin of an MPI, with MPI initialized while this object lives. One a process, ever: MPI cannot begin anew.
class library {
 public:
  // `several_threads` will use MPI, in turns. Throws std::runtime_error when there is no plugin of that MPI, when it cannot
  // be loaded, or when MPI does not start or does not agree with the launcher.
  library(const launch& how, bool several_threads);
  // Finalizes MPI, unless another process may be dead: then that would wait for ever.
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  const calls& functions() const noexcept { return *calls_; }
  // Ends all processes of the job with this status: after an error that the others cannot know of.
  [[noreturn]] void abort(int status) const;

 private:
  const calls* calls_ = nullptr;
};

}  // namespace tutti::mpi
