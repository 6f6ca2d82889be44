// SPDX-License-Identifier: Apache-2.0
// What some of the recorded programs compute, as plain loops of one thread: what a programmer would
// write by hand.
#pragma once

#include <string>
#include <vector>

namespace tutti::bench {

struct plain_loop {
  // The stem of the file.
  std::string program;
  // The first numbers that the program leaves, bottom first; none: the loop only does as much of
  // the same work.
  std::vector<double> (*compute)();
};

const std::vector<plain_loop>& plain_loops();

}  // namespace tutti::bench
