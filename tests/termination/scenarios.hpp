// SPDX-License-Identifier: Apache-2.0
// The runs of the explorer: the protocols as they ship, and each named choice answered wrongly.
#pragma once

#include <string>
#include <vector>

#include "tests/termination/world.hpp"

namespace tutti::protocol::test {

// Makes a scenario by name, as in tutti::protocol::algorithms. The tree has fan 2 here, so that
// four participants have an inner node.
inline scenario of(const std::string& name, release_scheme scheme, rank_t participants,
                   std::uint32_t messages, bool free_votes) {
  scenario s;
  s.name = name;
  s.scheme = scheme;
  s.participants = participants;
  s.messages = messages;
  s.free_votes = free_votes;
  s.fan = name == "star" ? 4 : 2;
  s.decides_by = name == "waves" ? criterion::four_counter : criterion::safra;
  return s;
}

struct mutant {
  const char* site;
  // The mistake.
  const char* what;
  // The project that made it.
  const char* whose;
  // The smallest scenario in which it shows.
  scenario where;
};

std::vector<scenario> quick_scenarios();
std::vector<scenario> long_scenarios();
// Pairs of scenarios, under epochs and under phases, in which the programs must be able to observe
// the same.
std::vector<std::pair<scenario, scenario>> equivalent_scenarios();
std::vector<mutant> mutants();

}  // namespace tutti::protocol::test
