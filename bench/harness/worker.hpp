// SPDX-License-Identifier: Apache-2.0
// A peer in a process of its own: one JSON object a line in each direction, asleep in read(2)
// between rounds.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/round.hpp"
#include "cli/json.hpp"

namespace tutti::bench {

using environment = std::vector<std::pair<std::string, std::string>>;

// The side of the harness. All throw std::runtime_error when the process cannot be started or has
// ended.
class worker {
 public:
  // The program, or a launcher and its arguments.
  worker(const std::vector<std::string>& command, const environment& settings);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  round_outcome run(const round_request& request);
  std::string check(const round_request& request);
  // Any request that the process knows. Throws std::runtime_error with the "error" of its answer.
  cli::json request(const cli::json& asked);
  pid_t pid() const { return pid_; }

 private:
  std::string ask(const std::string& line);

  std::string executable_;
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// The side of the peer: answers requests from standard input until its end; an exception becomes an
// "error".
int answer_requests(const std::function<cli::json(const cli::json&)>& answer);

}  // namespace tutti::bench
