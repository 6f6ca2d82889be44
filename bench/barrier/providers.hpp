// SPDX-License-Identifier: Apache-2.0
// Everything that `tutti bench barrier` can measure: tutti's own algorithms and their peers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/subject.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {

struct provider {
  std::string family;  // tutti, pthread, std, ...
  std::string name;    // of the algorithm, the type, or the runtime's setting
  std::string wait;    // of tutti: the wait policy
  std::string summary;
  std::function<std::unique_ptr<subject>(rank_t)> make;  // empty: a process of its own
  std::string executable;                                // of that process
  environment settings;

  bool in_process() const { return static_cast<bool>(make); }
};

struct missing_peer {
  std::string family;
  std::string reason;
};

// The peers that can run here, and those that cannot.
std::vector<provider> available_peers();
std::vector<missing_peer> missing_peers();

// Throws std::invalid_argument for a name that is not known.
std::vector<provider> choose_peers(const std::vector<std::string>& names);

// Names that --algorithms knows.
std::vector<std::string> algorithm_names();

// Every algorithm with every wait policy; tutti::barrier itself once, with its own. Throws std::invalid_argument for a
// name that is not known or a wait policy that this machine does not have.
std::vector<provider> choose_tutti(const std::vector<std::string>& algorithms,
                                   const std::vector<std::string>& waits);

}  // namespace tutti::bench
