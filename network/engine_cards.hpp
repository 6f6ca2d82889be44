// SPDX-License-Identifier: Apache-2.0
// Engines in RTL for the hosts of a test bed: each host has a card (network/engine/card.cpp), whose
// cables lead to the cards of other hosts. The host's device to it is tap0.
//
//   host 0: eth0, and tap0 ── engine ── c0 ────── c1 ── engine ── tap0, and eth0 :host 1
//
// MPI's own messages go through eth0.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "network/testbed.hpp"

namespace tutti::network {

class engine_cards {
 public:
  // The cables are those of the topology. `program` is the path of tutti-network-engine. Throws
  // std::runtime_error if a card does not start.
  engine_cards(testbed& bed, unsigned topology, const std::string& program);
  ~engine_cards();
  engine_cards(const engine_cards&) = delete;
  engine_cards& operator=(const engine_cards&) = delete;

  // Sends a signal to the process of a card.
  void signal(rank_t rank, int number) const;

 private:
  std::vector<pid_t> processes_;
};

}  // namespace tutti::network
