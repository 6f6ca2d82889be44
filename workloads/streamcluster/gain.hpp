// SPDX-License-Identifier: Apache-2.0
// The step that the local search repeats: would opening one more centre pay?
#pragma once

#include <cstdint>
#include <vector>

#include "streamcluster/assignment.hpp"

namespace tutti::streamcluster {

// With facilities (centres) that cost z each and points that cost their weighted squared distance, the gain of
// opening point x is what is saved when x takes over every point that it serves cheaper, and every point of each
// centre that is then not worth its z any more; those centres close. A gain above 0 is taken.
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
// Cost: one pass over the points, two if x is opened; 4 barriers and 1 reduction. Each of these meetings is needed:
// what is written before it is read by others after it. None is needed at the end, because the next step begins with
// the points that one owns; who wants to look at others' points meets first.
// Source: Charikar and Guha, FOCS 1999; O'Callaghan et al., ICDE 2002.
class gain_step {
 public:
  explicit gain_step(assignment& points) noexcept : a_(points) {}

  struct verdict {
    double gain = 0;          // in quanta, 0 if x was not opened
    std::size_t centres = 0;  // afterwards
  };
  // All ranks together, and with the same verdict for all.
  verdict try_to_open(meeting_point& me, std::size_t x, quanta z);

 private:
  std::size_t number_centres(meeting_point& me);
  quanta price_mine(const meeting_point& me, std::size_t x);
  amounts add_up_my_centres(const meeting_point& me, quanta z);
  void carry_out(const meeting_point& me, std::size_t x);

  assignment& a_;
  std::vector<std::uint8_t> closes_;  // of each centre, by its number
  verdict verdict_;                   // written by rank 0
};

}  // namespace tutti::streamcluster
