// SPDX-License-Identifier: Apache-2.0
// What simulated threads repeat: a barrier of tutti's registry with a wait policy, tutti's choice,
// a team's region, a reduction, or an algorithm as a paper has it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

class repeated_object {
 public:
  virtual ~repeated_object() = default;
  // One episode of this rank.
  virtual void episode(rank_t rank) = 0;
  // What a rank does in an episode before it arrives; may be empty. The work of a region lies
  // between its beginning and its end.
  std::function<void(rank_t)> work;

 protected:
  void do_work(rank_t rank) const {
    if (work) work(rank);
  }
};

// What a program does between two polls.
enum class polling { tuttis_gap, one_pause, nothing };

// What a machine must have for a contender, besides cores and memory.
enum class machine_part { none, barrier_units, interrupts, accelerator, structures };

struct contender {
  std::string family, name, wait, summary;
  polling polls = polling::tuttis_gap;
  // Waits end by a change of the polled line alone, so polls may be skipped.
  bool polls_without_end = false;
  // Otherwise a region: only its master, rank 0, learns that all have ended it.
  bool is_barrier = true;
  machine_part needs = machine_part::none;
  // 0: any number.
  rank_t most_threads = 0;
  // Made outside of a world, for a machine.
  std::function<std::unique_ptr<repeated_object>(rank_t participants)> make;
};

// Barriers: tutti's, with each wait policy that `waits` names, tutti's choice ("default"), the
// papers' own algorithms, and those that a part of a machine supports. `algorithms` is a list of
// names, "all" for tutti's and the choice, "papers", or "hardware". Throws std::invalid_argument
// for a name that is none, and for the choice by its name if there is none with these policies.
std::vector<contender> barriers(const std::vector<std::string>& algorithms,
                                const std::vector<std::string>& waits);
// The barrier of this name. Throws std::invalid_argument for a name that is none, or is a group's.
contender barrier_named(const std::string& algorithm, const std::string& wait);
// Reductions of a double over all ranks. Combining two values takes `operation_ns`, besides what
// the algorithm does.
std::vector<contender> reductions(const std::vector<std::string>& algorithms,
                                  double operation_ns = 0);

// All names that barriers() takes besides those of the groups.
std::vector<std::string> names_of_barriers();

// The algorithms of the papers (papers.cpp).
std::vector<contender> paper_barriers();
// Barriers by units and by interrupts that wake (hardware_barriers.cpp).
std::vector<contender> hardware_barriers();

// Throws std::invalid_argument if the machine cannot run the contender.
void refuse_without_part(const contender& who, const machine& m);
// Removes what the machine cannot run. Throws std::invalid_argument if `algorithms` names some of
// it, or if nothing is left.
void remove_without_part(std::vector<contender>& from, const std::vector<std::string>& algorithms,
                         const machine& m);
// Whether it is for fewer threads, and not named in `algorithms`: then a run of many leaves it out.
bool is_for_fewer(const contender& who, rank_t threads, const std::vector<std::string>& algorithms);

}  // namespace tutti::sim
