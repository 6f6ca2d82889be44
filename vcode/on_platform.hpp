// SPDX-License-Identifier: Apache-2.0
// Runs vector programs on a team of a platform other than the native one, such as a simulator.
#pragma once

#include <utility>
#include <vector>

#include "tutti/team/on_platform.hpp"
#include "vcode/machine/engines.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {

// Does what run() does. The options `threads`, `ranks`, `team` and `barrier` have no effect.
template <class Memory>
run_result run_on(basic_team<Memory>& team, const program& code,
                  std::vector<vector_value> inputs = {}, const run_options& options = {}) {
  engines::team_threads<Memory> threads(team);
  return engines::run(code, std::move(inputs), options, threads);
}

}  // namespace tutti::vcode
