// SPDX-License-Identifier: Apache-2.0
// `tutti bench team`: regions that one thread opens and all run.
#include "command/bench_crews.hpp"

namespace tutti::command {

void add_bench_team(CLI::App& bench, action& chosen) {
  add_bench_crews(
      bench, chosen,
      {.subcommand = "team",
       .description = "Parallel regions, empty and with a sum of two doubles, and loops: tutti's "
                      "teams and what you use today, interleaved in one run",
       .benchmark = "region",
       .algorithms = "default,flags,flags_padded,recursive,recursive_padded,atomic,mutex",
       .kinds = bench::kinds_of_regions(),
       .has_loops = true,
       .peers = bench::region_peers,
       .missing = bench::missing_region_peers});
}

}  // namespace tutti::command
