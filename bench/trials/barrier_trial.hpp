// SPDX-License-Identifier: Apache-2.0
// Barriers beside the empty episode. They cannot be refuted and know nothing of messages: the
// floor, not a rival.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/trials/trial.hpp"

namespace tutti::bench {

template <class Barrier>
std::vector<trial> barrier_trials(rank_t n, const std::string& family) {
  const auto barrier = std::make_shared<Barrier>(n);
  return {{"idle", family, "barrier", "empty_episode", n,
           [barrier](team& threads, const placement& where, std::uint64_t count) {
             return time_team(threads, where, [&](rank_t) {
               for (std::uint64_t i = 0; i < count; ++i) barrier->arrive_and_wait();
             });
           }}};
}

}  // namespace tutti::bench
