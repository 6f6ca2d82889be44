// SPDX-License-Identifier: Apache-2.0
// Runs a program by the launcher of an MPI, as a user would.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_program.hpp"

namespace tutti::test {

struct family {
  std::string name;
  // Empty: not installed.
  std::string launcher;
  bool is_open_mpi() const { return name == "openmpi"; }
  friend void PrintTo(const family& which, std::ostream* out) { *out << which.name; }
};

inline const family open_mpi{"openmpi", TUTTI_MPIRUN_OPENMPI};
inline const family mpich{"mpich", TUTTI_MPIRUN_MPICH};

struct start {
  family by;
  int processes = 2;
  // Options of the launcher.
  std::string options = {};
  std::string environment = {};
  int seconds = 100;
};

inline output run_launched(const start& how, const std::string& command) {
  // More processes than cores are intended, and containers are run by root.
  const std::string usual = how.by.is_open_mpi() ? " --allow-run-as-root --oversubscribe --bind-to "
                                                   "none --mca btl_base_warn_component_unused 0"
                                                 : "";
  return run_shell(how.environment + " " + TUTTI_MPI_ENVIRONMENT + " timeout -k 5 " +
                   std::to_string(how.seconds) + " " + how.by.launcher + usual + " " + how.options +
                   " -n " + std::to_string(how.processes) + " " + command + " 2>&1");
}

inline std::string worker(int threads, const std::string& transport, const std::string& detector,
                          const std::string& scenarios, int packet_bytes = 16384) {
  return std::string(TUTTI_MPI_WORKER) + " " + std::to_string(threads) + " " + transport + " " +
         detector + " " + std::to_string(packet_bytes) + " " + scenarios;
}

inline void expect_all_held(const output& result) {
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("all scenarios held"), std::string::npos) << result.text;
}

// The beginning of both families' tests.
#define TUTTI_SKIP_WITHOUT(which) \
  if ((which).launcher.empty()) GTEST_SKIP() << (which).name << " is not installed"

}  // namespace tutti::test
