// SPDX-License-Identifier: Apache-2.0
// Runs a schedule::table: every participant carries what it knows of the others from stage to
// stage.
#pragma once

#include <bitset>
#include <cstddef>
#include <deque>
#include <ostream>
#include <vector>

#include "tutti/schedule/table.hpp"

namespace tutti::test {

// Sanitizers make the simulation some ten times slower, so they see the same code with fewer n.
#ifdef TUTTI_TEST_SANITIZED
inline constexpr rank_t most_participants = 96;
#else
inline constexpr rank_t most_participants = 512;
#endif

inline constexpr rank_t nobody = ~rank_t{0};

struct outcome {
  // Participants that finished their programs.
  rank_t departed = 0;
  // Those of them that knew at that moment that everybody had arrived.
  rank_t informed = 0;
  // Whether all of `n` departed, none of them too early.
  bool operator==(rank_t n) const { return departed == n && informed == n; }
};
inline std::ostream& operator<<(std::ostream& out, const outcome& o) {
  return out << o.departed << " departed, " << o.informed << " of them informed";
}

class simulation {
 public:
  explicit simulation(const schedule::table& table)
      : table_(table), known_(table.size()), at_(table.size()), inbox_(table.size()) {}

  outcome run(rank_t absent) {
    const auto n = static_cast<rank_t>(table_.size());
    for (rank_t rank = 0; rank < n; ++rank) {
      known_[rank].set(rank);
      if (rank != absent) runnable_.push_back(rank);
    }
    while (!runnable_.empty()) {
      const rank_t rank = runnable_.front();
      runnable_.pop_front();
      if (rank != absent) advance(rank);
    }
    outcome result;
    for (rank_t rank = 0; rank < n; ++rank) {
      if (rank == absent || at_[rank] < table_[rank].size()) continue;
      ++result.departed;
      if (known_[rank].count() == n) ++result.informed;
    }
    return result;
  }

 private:
  using knowledge = std::bitset<most_participants>;
  struct message {
    rank_t from;
    knowledge known;
  };

  void advance(rank_t rank) {
    while (at_[rank] < table_[rank].size()) {
      const schedule::stage& now = table_[rank][at_[rank]];
      if (!has_all(rank, now.await)) return;
      for (const rank_t from : now.await) take(rank, from);
      for (const rank_t to : now.signal) {
        inbox_[to].push_back({rank, known_[rank]});
        runnable_.push_back(to);
      }
      ++at_[rank];
    }
  }
  bool has_all(rank_t rank, const std::vector<rank_t>& senders) const {
    for (const rank_t from : senders) {
      bool found = false;
      for (const message& m : inbox_[rank]) found = found || m.from == from;
      if (!found) return false;
    }
    return true;
  }
  void take(rank_t rank, rank_t from) {
    auto& box = inbox_[rank];
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (box[i].from != from) continue;
      known_[rank] |= box[i].known;
      box.erase(box.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  const schedule::table& table_;
  std::vector<knowledge> known_;
  // The stage of each rank.
  std::vector<std::size_t> at_;
  std::vector<std::vector<message>> inbox_;
  std::deque<rank_t> runnable_;
};

inline outcome simulate(const schedule::table& table, rank_t absent = nobody) {
  return simulation(table).run(absent);
}

}  // namespace tutti::test
