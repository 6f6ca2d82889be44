// SPDX-License-Identifier: Apache-2.0
// Everything that opens regions or sums inside them: tutti's teams and their peers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/crew/serve.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {

struct crew_provider {
  std::string family;  // tutti, pthread, libgomp, ...
  std::string name;    // of the barrier, the type, or the runtime's setting
  std::string wait;    // of tutti: the wait policy
  std::string summary;
  bool has_regions = false;
  bool has_meetings = false;
  bool has_loops = false;        // without regions: one thread alone
  bool has_fibers = false;       // more ranks than threads
  unsigned widest = UINT32_MAX;  // doubles that it sums at once
  crew_makers makers;            // in this process
  std::string executable;        // of another process
  environment settings;
  bool a_process_each_rank = false;  // started by a launcher, again for each number of ranks

  bool in_process() const { return makers.regions || makers.meetings; }
};

struct missing_crew {
  std::string family;
  std::string reason;
};

// Peers of `tutti bench team` (regions) or of `tutti bench reduce`: those that can run here, and those that cannot.
std::vector<crew_provider> region_peers();
std::vector<missing_crew> missing_region_peers();
std::vector<crew_provider> reduction_peers();
std::vector<missing_crew> missing_reduction_peers();

// The same, whether or not their programs are found.
std::vector<crew_provider> known_region_peers();
std::vector<crew_provider> known_reduction_peers();

// Those of `peers` that are named: all, none, FAMILY or FAMILY:NAME. Throws std::invalid_argument.
std::vector<crew_provider> choose(const std::vector<crew_provider>& peers,
                                  const std::vector<missing_crew>& missing,
                                  const std::vector<std::string>& names);

// tutti::team with each of these barriers and each of these wait policies; "default" once, with its own. Throws
// std::invalid_argument for a name that is not known or a wait policy that this machine does not have.
std::vector<crew_provider> choose_teams(const std::vector<std::string>& algorithms,
                                        const std::vector<std::string>& waits);

// What starts the program of a peer for so many ranks.
std::vector<std::string> command_of(const crew_provider& who, rank_t ranks);

}  // namespace tutti::bench
