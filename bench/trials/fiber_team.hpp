// SPDX-License-Identifier: Apache-2.0
// Participants that are virtual ranks: fibers of one thread a core, for more participants than a
// machine has cores.
#pragma once

#include "bench/harness/team.hpp"
#include "tutti/team/team.hpp"

namespace tutti::bench {

class fiber_team final : public team {
 public:
  // The threads are not bound: that would bind the caller too, whose other teams inherit it.
  explicit fiber_team(rank_t participants)
      : runtime_(team_options{.ranks = participants, .place = platform::placement::none}) {}

  rank_t size() const override { return runtime_.size(); }
  void run(const std::function<void(rank_t)>& body) override {
    runtime_.run([&](member& me) { body(me.rank()); });
  }

 private:
  tutti::team runtime_;
};

}  // namespace tutti::bench
