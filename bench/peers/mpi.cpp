// SPDX-License-Identifier: Apache-2.0
// MPI_Barrier and MPI_Allreduce of whichever MPI is installed, between processes that its launcher
// starts.
#include "bench/contenders/contender.hpp"

namespace tutti::bench {

std::vector<contender> peer_mpi() {
  const std::string family = TUTTI_MPI_FAMILY;
  contender all{.family = family,
                .name = "default",
                .summary = "MPI_Barrier and MPI_Allreduce, a process for each rank",
                .process = {.program = "mpi",
                            .does = {operation::collective},
                            .launcher = {TUTTI_MPI_LAUNCHER, "-n"}}};
  // Open MPI refuses to run as root otherwise, which is who runs things in a container.
  all.process.settings = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  // The harness places the processes, and there may be more of them than cores.
  if (family == "openmpi") {
    all.process.launcher_options = {"--bind-to", "none", "--oversubscribe"};
  }
  return {all};
}

}  // namespace tutti::bench
