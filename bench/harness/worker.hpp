// SPDX-License-Identifier: Apache-2.0
// A peer in a process of its own: one JSON object a line in each direction, asleep in read(2) between rounds.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "harness/round.hpp"

namespace tutti::bench {

using environment = std::vector<std::pair<std::string, std::string>>;

// The side of the harness. All throw std::runtime_error when the process cannot be started or has ended.
class worker {
 public:
  worker(const std::string& executable, const environment& settings);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  round_outcome run(const round_request& request);
  std::string check(const round_request& request);
  pid_t pid() const { return pid_; }

 private:
  std::string ask(const std::string& line);

  std::string executable_;
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// The side of the peer: serves requests from standard input until its end. `make_team` and `barrier` are the peer's.
int serve(team& (*team_of)(rank_t threads), subject& barrier);

}  // namespace tutti::bench
