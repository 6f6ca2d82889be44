// SPDX-License-Identifier: Apache-2.0
// The peers of teams and of reductions.
#include "bench/reduce/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/crew/providers.hpp"
#include "bench/harness/names.hpp"
#include "bench/harness/peer_program.hpp"
#include "bench/region/peers.hpp"

#ifndef TUTTI_HAVE_TBB
#define TUTTI_HAVE_TBB 0
#endif
#ifndef TUTTI_HAVE_EIGEN_POOL
#define TUTTI_HAVE_EIGEN_POOL 0
#endif
#ifndef TUTTI_HAVE_FORKUNION
#define TUTTI_HAVE_FORKUNION 0
#endif
#ifndef TUTTI_MPI_FAMILY
#define TUTTI_MPI_FAMILY "mpi"
#define TUTTI_MPI_LAUNCHER ""
#endif

namespace tutti::bench {
namespace {

using makers_of_regions = decltype(crew_makers::regions);
using makers_of_meetings = decltype(crew_makers::meetings);

crew_provider in_process(const char* family, const char* name, const char* summary,
                         makers_of_regions regions, makers_of_meetings meetings) {
  crew_provider p;
  p.family = family;
  p.name = name;
  p.summary = summary;
  p.has_regions = static_cast<bool>(regions);
  p.has_meetings = static_cast<bool>(meetings);
  p.makers = {std::move(regions), std::move(meetings)};
  return p;
}

crew_provider openmp(const char* runtime, const char* name, const std::string& summary,
                     environment settings) {
  crew_provider p;
  p.family = runtime;
  p.name = name;
  p.summary = summary;
  p.has_regions = p.has_meetings = true;
  p.executable = find_peer_program(runtime);
  p.settings = openmp_settings(std::move(settings));
  return p;
}

void add_openmp(std::vector<crew_provider>& peers) {
  struct runtime {
    const char* name;
    const char* title;
    unsigned widest;
  };
  // LLVM 14 loses additions when the reduction is over a section of an array: the check refuses it.
  for (const auto& r :
       {runtime{"libgomp", "GNU OpenMP", UINT32_MAX}, runtime{"libomp", "LLVM OpenMP", 2}}) {
    const auto add = [&](const char* setting, const char* what, environment settings) {
      peers.push_back(
          openmp(r.name, setting, fmt::format("{}{}", r.title, what), std::move(settings)));
      peers.back().widest = r.widest;
    };
    add("default", ": spins a while, then sleeps", {});
    add("active", ", OMP_WAIT_POLICY=active: spins", {{"OMP_WAIT_POLICY", "active"}});
    add("passive", ", OMP_WAIT_POLICY=passive: sleeps", {{"OMP_WAIT_POLICY", "passive"}});
  }
}

crew_provider rayon(const char* opener, const char* summary) {
  crew_provider p;
  p.family = "rayon";
  p.name = opener;
  p.summary = summary;
  p.has_regions = true;
  p.executable = find_peer_program("rayon");
  p.settings = {{"TUTTI_RAYON_OPENER", opener}};
  return p;
}

crew_provider mpi() {
  crew_provider p;
  p.family = TUTTI_MPI_FAMILY;
  p.name = "default";
  p.summary = "MPI_Barrier and MPI_Allreduce, a process a rank";
  p.has_meetings = true;
  p.a_process_each_rank = true;
  p.executable = find_peer_program("mpi");
  // Open MPI refuses to run as root otherwise, which is who runs things in a container.
  p.settings = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return p;
}

bool can_run(const crew_provider& p) { return p.in_process() || !p.executable.empty(); }

std::vector<crew_provider> those_that_run(std::vector<crew_provider> peers) {
  std::erase_if(peers, [](const crew_provider& p) { return !can_run(p); });
  return peers;
}

std::vector<missing_crew> missing_programs(const std::vector<crew_provider>& peers) {
  std::vector<missing_crew> missing;
  for (const auto& p : peers) {
    if (can_run(p) || (!missing.empty() && missing.back().family == p.family)) continue;
    missing.push_back({p.family, missing_peer_program(p.a_process_each_rank ? "mpi" : p.family)});
  }
  return missing;
}

std::string families_of(const std::vector<crew_provider>& peers) {
  std::vector<std::string> families;
  for (const auto& p : peers) {
    if (families.empty() || families.back() != p.family) families.push_back(p.family);
  }
  return fmt::format("{}", fmt::join(families, ", "));
}

}  // namespace

std::vector<crew_provider> known_region_peers() {
  std::vector<crew_provider> peers;
  add_openmp(peers);
#if TUTTI_HAVE_TBB
  peers.push_back(in_process("tbb", "parallel_for", "oneTBB: a chunk a thread, which meet",
                             make_tbb_arena, nullptr));
#endif
#if TUTTI_HAVE_FORKUNION
  peers.push_back(in_process("forkunion", "yields",
                             "ForkUnion: sched_yield at every look, for ever",
                             make_forkunion_yielding, nullptr));
  peers.push_back(in_process("forkunion", "spins", "ForkUnion: pauses the core, for ever",
                             make_forkunion_spinning, nullptr));
#endif
#if TUTTI_HAVE_EIGEN_POOL
  peers.push_back(in_process("eigen", "thread pool", "Eigen: a task a worker, which meet",
                             make_eigen_pool, nullptr));
#endif
  peers.push_back(
      rayon("inside", "Rayon's broadcast, opened by a thread of its pool: yields, then sleeps"));
  peers.push_back(rayon("outside", "the same, opened by a thread that is not: which sleeps"));
  peers.push_back(in_process("pthread", "pthread_barrier pool", "a pool between two of glibc's",
                             make_pthread_barrier_pool, nullptr));
  peers.push_back(in_process("mutex_condvar", "mutex+condvar pool", "the textbook's",
                             make_mutex_condvar_pool, nullptr));
  peers.push_back(in_process("handwritten", "fork-join",
                             "a line for each worker, there and back, with the doubles; spins",
                             make_handwritten_fork_join, nullptr));
  peers.push_back(in_process("serial", "loop", "no threads: a loop", make_serial_loop, nullptr));
  peers.back().has_regions = false;
  peers.back().has_loops = true;
  peers.push_back(in_process("std_thread", "std::thread", "new threads in each region, joined",
                             make_new_threads, nullptr));
  return peers;
}

std::vector<crew_provider> known_reduction_peers() {
  std::vector<crew_provider> peers;
  add_openmp(peers);
  peers.push_back(mpi());
  peers.push_back(in_process("pthread", "pthread_barrier", "an array, glibc's barrier, a loop",
                             nullptr, make_pthread_barrier_sums));
  peers.push_back(in_process("std", "std::barrier", "an array, the C++ library's barrier, a loop",
                             nullptr, make_std_barrier_sums));
  return peers;
}

std::vector<crew_provider> region_peers() { return those_that_run(known_region_peers()); }

std::vector<missing_crew> missing_region_peers() {
  auto missing = missing_programs(known_region_peers());
#if !TUTTI_HAVE_TBB
  missing.push_back({"tbb", "oneTBB was not there when tutti was built"});
#endif
#if !TUTTI_HAVE_FORKUNION
  missing.push_back({"forkunion", "ForkUnion could not be fetched by cargo when tutti was built"});
#endif
#if !TUTTI_HAVE_EIGEN_POOL
  missing.push_back({"eigen", "Eigen's pool was not there when tutti was built"});
#endif
  return missing;
}

std::vector<crew_provider> reduction_peers() { return those_that_run(known_reduction_peers()); }

std::vector<missing_crew> missing_reduction_peers() {
  return missing_programs(known_reduction_peers());
}

std::vector<crew_provider> choose(const std::vector<crew_provider>& peers,
                                  const std::vector<missing_crew>& missing,
                                  const std::vector<std::string>& names) {
  return choose_from(peers, missing, names, [&](const std::string& name) {
    return fmt::format("there is no peer '{}' here: use all, none, or some of {}", name,
                       families_of(peers));
  });
}

std::vector<std::string> command_of(const crew_provider& who, rank_t ranks) {
  if (!who.a_process_each_rank) return {who.executable};
  std::vector<std::string> command{TUTTI_MPI_LAUNCHER, "-n", std::to_string(ranks)};
  // The harness places the processes, and there may be more of them than cores.
  if (who.family == "openmpi") {
    command.insert(command.end(), {"--bind-to", "none", "--oversubscribe"});
  }
  command.push_back(who.executable);
  return command;
}

}  // namespace tutti::bench
