// SPDX-License-Identifier: Apache-2.0
// The list of peers.
#include "bench/barrier/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/barrier/providers.hpp"
#include "bench/harness/names.hpp"
#include "bench/harness/peer_program.hpp"

#ifndef TUTTI_HAVE_BOOST
#define TUTTI_HAVE_BOOST 0
#endif
#ifndef TUTTI_HAVE_ABSL
#define TUTTI_HAVE_ABSL 0
#endif

namespace tutti::bench {
namespace {

provider openmp(const std::string& runtime, const std::string& name, const std::string& summary,
                environment settings) {
  return {runtime,
          name,
          "",
          summary,
          nullptr,
          find_peer_program(runtime),
          openmp_settings(std::move(settings))};
}

provider libomp(const std::string& pattern, const std::string& summary) {
  const std::string both = pattern + "," + pattern;
  return openmp("libomp", pattern, summary,
                {{"KMP_PLAIN_BARRIER_PATTERN", both},
                 {"KMP_FORKJOIN_BARRIER_PATTERN", both},
                 {"KMP_REDUCTION_BARRIER_PATTERN", both}});
}

std::vector<provider> all_peers() {
  std::vector<provider> peers;
  const auto in_process = [&](const char* family, const char* name, const char* summary,
                              auto make) {
    peers.push_back({family, name, "", summary, make, "", {}});
  };
  in_process("pthread", "pthread_barrier", "glibc: sleeps at once", make_pthread_barrier);
  in_process("std", "std::barrier", "C++ library: 16 polls, then sleeps", make_std_barrier);
  in_process("mutex_condvar", "mutex+condvar", "the textbook's", make_mutex_condvar);
#if TUTTI_HAVE_BOOST
  in_process("boost", "boost::barrier", "Boost.Thread: mutex and condition variable",
             make_boost_barrier);
#endif
#if TUTTI_HAVE_ABSL
  in_process("absl", "absl::Barrier", "Abseil: one-shot, a new one each episode",
             make_absl_barrier);
#endif
  peers.push_back(openmp("libgomp", "default", "GNU OpenMP: spins a while, then sleeps", {}));
  peers.push_back(openmp("libgomp", "active", "GNU OpenMP, OMP_WAIT_POLICY=active: spins",
                         {{"OMP_WAIT_POLICY", "active"}}));
  peers.push_back(openmp("libgomp", "passive", "GNU OpenMP, OMP_WAIT_POLICY=passive: sleeps",
                         {{"OMP_WAIT_POLICY", "passive"}}));
  peers.push_back(libomp("hyper", "LLVM OpenMP: hypercube tree, the default"));
  peers.push_back(openmp("libomp", "active", "LLVM OpenMP, OMP_WAIT_POLICY=active: spins",
                         {{"OMP_WAIT_POLICY", "active"}}));
  peers.push_back(openmp("libomp", "passive", "LLVM OpenMP, OMP_WAIT_POLICY=passive: sleeps",
                         {{"OMP_WAIT_POLICY", "passive"}}));
  peers.push_back(libomp("linear", "LLVM OpenMP: one gathers all"));
  peers.push_back(libomp("tree", "LLVM OpenMP: tree"));
  peers.push_back(libomp("hierarchical", "LLVM OpenMP: tree shaped by the machine"));
  peers.push_back(libomp("dist", "LLVM OpenMP: distributed flags"));
  return peers;
}

bool can_run(const provider& p) { return p.in_process() || !p.executable.empty(); }

std::string known_families() {
  std::vector<std::string> families;
  for (const auto& p : all_peers()) {
    if (families.empty() || families.back() != p.family) families.push_back(p.family);
  }
  return fmt::format("{}", fmt::join(families, ", "));
}

}  // namespace

std::vector<provider> available_peers() {
  std::vector<provider> peers = all_peers();
  std::erase_if(peers, [](const provider& p) { return !can_run(p); });
  return peers;
}

std::vector<missing_peer> missing_peers() {
  std::vector<missing_peer> missing;
#if !TUTTI_HAVE_BOOST
  missing.push_back({"boost", "Boost.Thread was not there when tutti was built"});
#endif
#if !TUTTI_HAVE_ABSL
  missing.push_back({"absl", "Abseil was not there when tutti was built"});
#endif
  for (const auto& p : all_peers()) {
    if (can_run(p) || (!missing.empty() && missing.back().family == p.family)) continue;
    missing.push_back({p.family, missing_peer_program(p.family)});
  }
  return missing;
}

std::vector<provider> choose_peers(const std::vector<std::string>& names) {
  return choose_from(available_peers(), missing_peers(), names, [](const std::string& name) {
    return fmt::format("there is no peer '{}': use all, none, or some of {}", name,
                       known_families());
  });
}

}  // namespace tutti::bench
