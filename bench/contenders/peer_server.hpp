// SPDX-License-Identifier: Apache-2.0
// The side of a peer that is a process of its own: what its runtime can do is a contender there,
// and rounds and checks of it are asked for by requests.
#pragma once

#include <map>
#include <memory>

#include "bench/contenders/contender.hpp"
#include "cli/json.hpp"

namespace tutti::bench {

class peer_server {
 public:
  explicit peer_server(contender who) : who_(std::move(who)) {}
  // To {"round": request}: {"outcome": ...}; to {"check": request}: {"fault": ...}.
  cli::json answer(const cli::json& asked);

 private:
  struct barrier_threads {
    std::unique_ptr<team> threads;
    std::unique_ptr<timed_barrier> barrier;
  };
  barrier_threads& threads_for(const round_request& request);

  contender who_;
  neighbours neighbours_;
  std::map<rank_t, barrier_threads> threads_;
};

// Answers requests from standard input until its end. Returns the exit status of the process.
int serve(contender who);

// A round or a check of regions or collectives: the runtime is made for it, and ended after it.
round_outcome run_runtime_round(const round_request& request, const contender& who);
std::string check_runtime(const round_request& request, const contender& who);

}  // namespace tutti::bench
