// SPDX-License-Identifier: Apache-2.0
// What is checked: each algorithm of the registry, tutti::barrier, the sleepers' protocol, reductions, regions, messages,
// and the controls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explore.hpp"

namespace tutti::model {

struct subject {
  std::string name;
  std::vector<program> programs;  // those that find most soonest first
  // Only sites with this beginning are weakened; empty: all but the sleepers', which are a subject themselves.
  std::string_view sites_of = {};
};

// A mistake put in on purpose.
struct control {
  std::string name;
  program flawed;
  program sound;  // the same without the mistake
};

std::vector<subject> algorithm_subjects();
std::vector<subject> barrier_subjects();
std::vector<subject> reduction_subjects();
std::vector<subject> region_subjects();
std::vector<subject> message_subjects();
std::vector<control> controls();
std::vector<control> litmus_tests();

// Memory orders that are stronger than what the checks can tell from a weaker one, each with its reason.
struct exception {
  std::string_view site;
  std::string_view weakened;  // the name of the order
  std::string_view reason;
};
const std::vector<exception>& exceptions();

}  // namespace tutti::model
