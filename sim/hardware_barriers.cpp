// SPDX-License-Identifier: Apache-2.0
// Barriers that a part of a machine supports: a barrier unit of each cluster, as A64FX has them, an
// interrupt that wakes all cores at once, the unit in an accelerator, and the structures of Hetland
// et al. 2019.
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "hardware/driver/harp_protocol.hpp"
#include "sim/accelerator.hpp"
#include "sim/contenders.hpp"
#include "sim/simulated.hpp"
#include "sim/structures.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::sim {
namespace {

world& here() noexcept { return *world::current(); }

// A thread that waits there keeps its CPU, so that another on the same CPU would never arrive.
void refuse_more_than_cpus(const std::string& what, rank_t threads) {
  refuse_more_threads(simulated::hardware(), threads, what + " takes one thread of each CPU");
}

// The unit of each cluster, and tutti's barrier among the first ranks of the clusters. They let
// their clusters go by their units.
class by_units final : public repeated_object {
 public:
  explicit by_units(rank_t n)
      : clusters_(clusters_of(n)), among_(static_cast<rank_t>(clusters_.size())) {
    refuse_more_than_cpus("a barrier unit", n);
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
    refuse_more_than_cpus("an interrupt that wakes", n);
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

// The driver's protocol on the unit in an accelerator (Hetland et al. 2019, section 3). Its waiters
// poll by single loads, with a pause in between.
class by_accelerator final : public repeated_object {
 public:
  by_accelerator(rank_t n, unit_kind kind, hardware::harp_options with, channel writes_by)
      : unit_(simulated::hardware(), kind, writes_by), protocol_(unit_, n, with) {}
  void episode(rank_t rank) override {
    do_work(rank);
    unit_.power_on();
    protocol_.arrive(rank);
    while (!protocol_.may_depart(rank)) simulated::relax();
  }

 private:
  accelerator unit_;
  hardware::harp_protocol<accelerator::word> protocol_;
};

contender on_accelerator(const std::string& name, const std::string& summary, unit_kind kind,
                         hardware::harp_options with, channel writes_by = channel::any) {
  return {.family = "hetland",
          .name = name,
          .wait = "",
          .summary = summary,
          .polls = polling::one_pause,
          .needs = machine_part::accelerator,
          .most_threads = with.arrival == hardware::arrival_path::message ? 4u : 0u,
          .make = [=](rank_t n) -> std::unique_ptr<repeated_object> {
            return std::make_unique<by_accelerator>(n, kind, with, writes_by);
          }};
}

void add_accelerators(std::vector<contender>& all) {
  using arrive = hardware::arrival_path;
  using depart = hardware::departure_path;
  constexpr unit_kind counting = unit_kind::counting;
  all.push_back(on_accelerator("harp_counting", "the counting unit, by its registers", counting,
                               {arrive::csr, depart::csr}));
  all.push_back(on_accelerator("harp_counting_lines", "departure by a line for each thread",
                               counting, {arrive::csr, depart::lines}));
  all.push_back(on_accelerator("harp_counting_line", "departure by one line for all", counting,
                               {arrive::csr, depart::line}));
  all.push_back(on_accelerator("harp_counting_line_vl0", "the same, written by channel VL0",
                               counting, {arrive::csr, depart::line}, channel::vl0));
  all.push_back(on_accelerator("harp_counting_line_vh0", "the same, written by channel VH0",
                               counting, {arrive::csr, depart::line}, channel::vh0));
  all.push_back(on_accelerator("harp_counting_memory", "arrival by a line that the unit polls",
                               counting, {arrive::memory, depart::csr}));
  all.push_back(on_accelerator("harp_counting_memory_line", "the same, departure by one line",
                               counting, {arrive::memory, depart::line}));
  all.push_back(on_accelerator("harp_counting_message", "arrival by messages (UMsg)", counting,
                               {arrive::message, depart::csr}));
  all.push_back(on_accelerator("harp_counting_message_line", "the same, departure by one line",
                               counting, {arrive::message, depart::line}));
  all.push_back(on_accelerator("harp_mask", "the mask unit, by its registers", unit_kind::mask,
                               {arrive::csr, depart::csr}));
}

class by_structures final : public repeated_object {
 public:
  by_structures(rank_t n, structures::distances of) : structures_(simulated::hardware(), n, of) {}
  void episode(rank_t rank) override {
    do_work(rank);
    structures_.arrive_and_wait(rank);
  }

 private:
  structures structures_;
};

contender in_structures(const std::string& name, const std::string& summary,
                        structures::distances of) {
  return {.family = "hetland",
          .name = name,
          .wait = "",
          .summary = summary,
          .needs = machine_part::structures,
          .make = [of](rank_t n) -> std::unique_ptr<repeated_object> {
            return std::make_unique<by_structures>(n, of);
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
  add_accelerators(all);
  all.push_back(in_structures("hbs", "a Hardware Barrier Structure in each socket",
                              structures::distances::described));
  all.push_back(in_structures("hbs_lines", "the same, as far as the line of another core",
                              structures::distances::of_lines));
  return all;
}

}  // namespace tutti::sim
