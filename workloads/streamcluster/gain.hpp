// SPDX-License-Identifier: Apache-2.0
// The step that the local search repeats: decides whether opening one more centre pays.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/streamcluster/assignment.hpp"

namespace tutti::streamcluster {

// Each facility (centre) costs z, and each point costs its weighted squared distance. The gain of
// opening point x is the saving if x takes over every point that it serves cheaper, and every point
// of each centre that is then not worth its z any more; those centres close. A gain above 0 is
// taken.
//
// All ranks take part, each with its own points, and one of them decides while the others wait:
//
//   count my centres          | barrier
//   number them               | barrier
//   price my points from x    | barrier
//   add up my centres         | reduction
//   rank 0 decides            | barrier
//   carry it out on my points |
//
// Cost: one pass over the points, two if x is opened; 4 barriers and 1 reduction. Each of these is
// needed: other ranks read after it what a rank has written before it. No barrier is needed at the
// end, because the next step begins with each rank's own points; a rank that reads points of others
// must first wait at a barrier.
// Source: Charikar and Guha, FOCS 1999; O'Callaghan et al., ICDE 2002.
class gain_step {
 public:
  explicit gain_step(assignment& points) noexcept : a_(points) {}

  struct verdict {
    // The gain in quanta; 0 if x was not opened.
    double gain = 0;
    // The number of centres after the step.
    std::size_t centres = 0;
  };
  // All ranks call this together and get the same verdict.
  verdict try_to_open(collectives& me, std::size_t x, quanta z);

 private:
  std::size_t number_centres(collectives& me);
  quanta price_mine(const collectives& me, std::size_t x);
  amounts add_up_my_centres(const collectives& me, quanta z);
  void carry_out(const collectives& me, std::size_t x);

  assignment& a_;
  // For each centre, by its number.
  std::vector<std::uint8_t> closes_;
  // Rank 0 writes this.
  verdict verdict_;
};

}  // namespace tutti::streamcluster
