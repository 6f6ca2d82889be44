// SPDX-License-Identifier: Apache-2.0
// `tutti bench reduce`: sums to all ranks inside a region, beside the barrier alone.
#include "command/bench_crews.hpp"

namespace tutti::command {

void add_bench_reduce(CLI::App& bench, action& chosen) {
  add_bench_crews(bench, chosen,
                  {.subcommand = "reduce",
                   .description = "Sums of doubles to all ranks, beside the same barrier alone: "
                                  "tutti's teams and what you use today, interleaved in one run",
                   .benchmark = "reduce",
                   .algorithms = "default,flags,recursive",
                   .kinds = bench::kinds_of_reductions(),
                   .peers = bench::reduction_peers,
                   .missing = bench::missing_reduction_peers});
}

}  // namespace tutti::command
