// SPDX-License-Identifier: Apache-2.0
// `tutti bench message`: small messages to random destinations.
#include "command/bench_idle.hpp"

namespace tutti::command {

void add_bench_message(CLI::App& bench, action& chosen) {
  const auto peers = [](rank_t n) {
    auto all = bench::queue_trials(n);
    std::erase_if(all, [](const bench::trial& t) { return t.benchmark != "message"; });
    return all;
  };
  add_bench_idle(bench, chosen,
                 {.subcommand = "message",
                  .description = "Small messages to random destinations (random: oneself among "
                                 "them; others: never)",
                  .detectors = "default",
                  .own = bench::message_trials,
                  .peers = peers,
                  .fiber_peers = [](rank_t) { return std::vector<bench::trial>{}; },
                  .across_processes = {"message"}});
}

}  // namespace tutti::command
