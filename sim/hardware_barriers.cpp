// SPDX-License-Identifier: Apache-2.0
// Barriers that a part of a machine supports: a barrier unit of each cluster, as A64FX has them, or
// an interrupt that wakes all cores at once.
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/simulated.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::sim {
namespace {

world& here() noexcept { return *world::current(); }

// The unit of each cluster, and tutti's barrier among the first ranks of the clusters. They let
// their clusters go by their units.
class by_units final : public repeated_object {
 public:
  explicit by_units(rank_t n)
      : clusters_(clusters_of(n)), among_(static_cast<rank_t>(clusters_.size())) {
    for (rank_t rank = 0; rank < n; ++rank) place_of_.push_back(simulated::cluster_of(rank));
  }
  void episode(rank_t rank) override {
    do_work(rank);
    const cluster& mine = clusters_.at(place_of_[rank]);
    here().meet_in_unit(mine.participants);
    if (clusters_.size() == 1) return;
    if (rank == mine.first) among_.arrive_and_wait(mine.number);
    here().meet_in_unit(mine.participants);
  }

 private:
  struct cluster {
    rank_t number = 0, first = 0, participants = 0;
  };

  static std::map<unsigned, cluster> clusters_of(rank_t n) {
    std::map<unsigned, cluster> all;
    for (rank_t rank = 0; rank < n; ++rank) {
      const auto number = static_cast<rank_t>(all.size());
      ++all.try_emplace(simulated::cluster_of(rank), cluster{number, rank, 0})
            .first->second.participants;
    }
    return all;
  }

  std::map<unsigned, cluster> clusters_;
  // The cluster of each rank.
  std::vector<unsigned> place_of_;
  barrier<no_completion, simulated, spin_wait<simulated>> among_;
};

// Bertuletti et al. 2023: counters in a tree of a radix, one with as many participants as there are
// threads being the central counter. The last to arrive wakes all by one write; the others stop
// their cores.
class by_wake_up final : public repeated_object {
 public:
  by_wake_up(rank_t n, rank_t radix) : n_(n), radix_(radix == 0 ? n : radix) {
    for (rank_t children = n; children > 1; children = (children + radix_ - 1) / radix_)
      levels_.emplace_back((children + radix_ - 1) / radix_);
  }
  void episode(rank_t rank) override {
    do_work(rank);
    rank_t child = rank, children = n_;
    for (array<padded<simulated_atomic<rank_t>>>& level : levels_) {
      const rank_t node = child / radix_;
      const rank_t siblings = smaller<rank_t>(radix_, children - node * radix_);
      simulated_atomic<rank_t>& counter = level[node].value;
      // acq_rel: what the others have written before they arrived is visible to the last one.
      if (counter.fetch_add(1, acq_rel) + 1 != siblings) return here().await_interrupt();
      // relaxed: nobody counts again before the interrupt.
      counter.store(0, relaxed);
      children = (children + radix_ - 1) / radix_;
      child = node;
    }
    here().spend(here().hardware().interrupt_send);
    for (rank_t other = 0; other < n_; ++other)
      if (other != rank) here().interrupt(other, here().hardware().interrupt_enter);
  }

 private:
  rank_t n_, radix_;
  std::deque<array<padded<simulated_atomic<rank_t>>>> levels_;
};

contender wake_up(const std::string& name, const std::string& summary, rank_t radix) {
  return {.family = "bertuletti",
          .name = name,
          .wait = "",
          .summary = summary,
          .needs = machine_part::interrupts,
          .make = [radix](rank_t n) -> std::unique_ptr<repeated_object> {
            return std::make_unique<by_wake_up>(n, radix);
          }};
}

}  // namespace

std::vector<contender> hardware_barriers() {
  std::vector<contender> all;
  all.push_back({.family = "tutti",
                 .name = "units",
                 .wait = "",
                 .summary = "a barrier unit in each cluster, tutti::barrier among the clusters",
                 .needs = machine_part::barrier_units,
                 .make = [](rank_t n) -> std::unique_ptr<repeated_object> {
                   return std::make_unique<by_units>(n);
                 }});
  all.push_back(wake_up("wake_up_central", "a counter, then an interrupt to all", 0));
  for (const rank_t radix : {8u, 16u, 32u, 64u})
    all.push_back(wake_up("wake_up_radix_" + std::to_string(radix),
                          "a tree of counters, then an interrupt to all", radix));
  return all;
}

}  // namespace tutti::sim
