// SPDX-License-Identifier: Apache-2.0
// The subjects of the check: each algorithm of the registry, tutti::barrier, the sleepers'
// protocol, reductions, regions, messages, events, and the controls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/model/explore.hpp"

namespace tutti::model {

struct subject {
  std::string name;
  // The programs that find most come first.
  std::vector<program> programs;
  // Only sites with this beginning are weakened; empty: all but the sleepers', which are a subject
  // of their own.
  std::string_view sites_of = {};
};

// A mistake made on purpose.
struct control {
  std::string name;
  program flawed;
  // The same without the mistake.
  program sound;
};

std::vector<subject> algorithm_subjects();
std::vector<subject> barrier_subjects();
std::vector<subject> reduction_subjects();
std::vector<subject> region_subjects();
std::vector<subject> message_subjects();
std::vector<subject> event_subjects();
std::vector<subject> shared_subjects();
std::vector<subject> task_barrier_subjects();
std::vector<subject> eventcount_subjects();
// Programs whose waiters and notifiers meet by the sleepers' protocol and by a wake word.
std::vector<program> eventcount_programs();
std::vector<control> controls();
std::vector<control> bugs_of_others();
std::vector<control> litmus_tests();

// Memory orders that are stronger than what the checks can distinguish from a weaker one, each with
// its reason.
struct exception {
  std::string_view site;
  // The name of the order.
  std::string_view weakened;
  std::string_view reason;
};
const std::vector<exception>& exceptions();

}  // namespace tutti::model
