// SPDX-License-Identifier: Apache-2.0
// What the programs share that measure as processes of an MPI: their options, and how they begin
// and end.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <string>

#include "cli/errors.hpp"
#include "cli/options.hpp"

namespace tutti::bench {

inline void add_length_options(cli::program& program, std::uint64_t& rounds, double& batch_ms) {
  program.add_option("--rounds", rounds, "Samples of each series").between(1, 100000);
  program.add_option("--batch-ms", batch_ms, "Length of a sample in milliseconds")
      .between(0.01, 10000.0);
}

// Calls run(), which returns the exit status. An error of one process ends the others too: they
// wait for it.
template <class Run>
int run_in_mpi(const std::string& program, Run run) {
  MPI_Init(nullptr, nullptr);
  int status = cli::failed;
  try {
    status = run();
  } catch (const std::exception& error) {
    cli::complain(program, error.what(), cli::failed);
    MPI_Abort(MPI_COMM_WORLD, cli::failed);
  }
  MPI_Finalize();
  return status;
}

}  // namespace tutti::bench
