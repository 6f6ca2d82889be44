// SPDX-License-Identifier: Apache-2.0
// What the programs share that measure as processes of an MPI: their options, how their series take
// turns, and how they begin and end.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/mpi/ranks.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "src/mpi/wait_until_read.hpp"

namespace tutti::bench {

class mpi_program : public cli::program {
 public:
  mpi_program(const std::string& what, const std::string& name, std::uint64_t& rounds,
              double& batch_ms)
      : cli::program(what, name), name_(name) {
    add_option("--rounds", rounds, "Samples of each series").between(1, 100000);
    add_option("--batch-ms", batch_ms, "Length of a sample in milliseconds").between(0.01, 10000.0);
  }

  // Reads the arguments and calls work(), which returns the exit status. An error of one process
  // ends the others too: they wait for it.
  template <class Work>
  int run(int argc, char** argv, Work work) {
    return cli::program::run(argc, argv, [&] {
      MPI_Init(nullptr, nullptr);
      int status = cli::failed;
      try {
        status = work();
      } catch (const std::exception& error) {
        cli::complain(name_, error.what(), cli::failed);
        mpi::wait_until_read(STDERR_FILENO);
        MPI_Abort(MPI_COMM_WORLD, cli::failed);
      }
      MPI_Finalize();
      return status;
    });
  }

 private:
  std::string name_;
};

// Takes a sample of each of `count` series in each round, by sample(index). The series take turns,
// each round in another random order, so that a change of the machine hits all alike. All ranks
// draw the same orders.
template <class Sample>
void take_turns(std::size_t count, std::uint64_t rounds, Sample sample) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t at : order) sample(at);
  }
}

// Begins the result line of a series of that provider and name between all processes.
template <class Series>
cli::json line_of_processes(const std::string& benchmark, const Series& series,
                            const char* family) {
  return {{"benchmark", benchmark},
          {"provider", series.provider},
          {"name", series.name},
          {"wait", series.provider == "tutti" ? "adaptive" : "own"},
          {"processes", all_ranks()},
          {"mpi", family},
          {"threads", 1}};
}

}  // namespace tutti::bench
