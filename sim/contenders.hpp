// SPDX-License-Identifier: Apache-2.0
// What simulated threads repeat: a barrier of tutti's registry with a wait policy, tutti's choice,
// a team's region, a reduction, or an algorithm as a paper has it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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

struct contender {
  std::string family, name, wait, summary;
  polling polls = polling::tuttis_gap;
  // Waits end by a change of the polled line alone, so polls may be skipped.
  bool polls_without_end = false;
  // Otherwise a region: only its master, rank 0, learns that all have ended it.
  bool is_barrier = true;
  // Made outside of a world, for a machine.
  std::function<std::unique_ptr<repeated_object>(rank_t participants)> make;
};

// Barriers: tutti's, with each wait policy that `waits` names, tutti's choice ("default"), and the
// papers' own algorithms. `algorithms` is a list of names, "all" for tutti's and the choice, or
// "papers". Throws std::invalid_argument for a name that is none.
std::vector<contender> barriers(const std::vector<std::string>& algorithms,
                                const std::vector<std::string>& waits);
// Reductions of a double over all ranks. Combining two values takes `operation_ns`, besides what
// the algorithm does.
std::vector<contender> reductions(const std::vector<std::string>& algorithms,
                                  double operation_ns = 0);

// All names that barriers() takes besides "all" and "papers".
std::vector<std::string> names_of_barriers();

// The algorithms of the papers (papers.cpp).
std::vector<contender> paper_barriers();

}  // namespace tutti::sim
