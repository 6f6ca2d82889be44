// SPDX-License-Identifier: Apache-2.0
// GNU's and LLVM's OpenMP, each in a process of its own for each setting, as they read the settings
// when they are loaded.
#include <fmt/format.h>

#include "bench/contenders/contender.hpp"
#include "bench/harness/peer_program.hpp"

namespace tutti::bench {
namespace {

using enum operation;

struct runtime {
  const char* family;
  const char* title;
  unsigned widest;
};

contender with(const runtime& r, const std::string& name, const std::string& how,
               std::vector<operation> does, environment settings) {
  return {.family = r.family,
          .name = name,
          .summary = r.title + how,
          .process = {.program = r.family,
                      .does = std::move(does),
                      .settings = openmp_settings(std::move(settings))},
          .widest = r.widest};
}

void add_policies(const runtime& r, std::vector<operation> of_default,
                  std::vector<contender>& peers) {
  const std::vector<operation> everything{barrier, region, collective};
  peers.push_back(with(r, "default", ": spins a while, then sleeps", std::move(of_default), {}));
  peers.push_back(with(r, "active", ", OMP_WAIT_POLICY=active: spins", everything,
                       {{"OMP_WAIT_POLICY", "active"}}));
  peers.push_back(with(r, "passive", ", OMP_WAIT_POLICY=passive: sleeps", everything,
                       {{"OMP_WAIT_POLICY", "passive"}}));
}

contender pattern_of_barrier(const runtime& r, const std::string& name, const std::string& how) {
  const std::string both = name + "," + name;
  return with(r, name, how, {barrier},
              {{"KMP_PLAIN_BARRIER_PATTERN", both},
               {"KMP_FORKJOIN_BARRIER_PATTERN", both},
               {"KMP_REDUCTION_BARRIER_PATTERN", both}});
}

}  // namespace

std::vector<contender> peer_openmp() {
  // LLVM 14 loses additions when the reduction is over a section of an array: the check refuses it.
  const runtime gnu{"libgomp", "GNU OpenMP", UINT32_MAX}, llvm{"libomp", "LLVM OpenMP", 2};
  std::vector<contender> peers;
  add_policies(gnu, {barrier, region, collective}, peers);
  // Its default barrier is the pattern `hyper`.
  add_policies(llvm, {region, collective}, peers);
  peers.push_back(pattern_of_barrier(llvm, "hyper", ": hypercube tree, the default"));
  peers.push_back(pattern_of_barrier(llvm, "linear", ": one gathers all"));
  peers.push_back(pattern_of_barrier(llvm, "tree", ": tree"));
  peers.push_back(pattern_of_barrier(llvm, "hierarchical", ": tree shaped by the machine"));
  peers.push_back(pattern_of_barrier(llvm, "dist", ": distributed flags"));
  return peers;
}

}  // namespace tutti::bench
