// SPDX-License-Identifier: Apache-2.0
// The last step of a local search: each centre moves to the mean of its points and takes over their
// weight.
#pragma once

#include <vector>

#include "workloads/streamcluster/assignment.hpp"

namespace tutti::streamcluster {

class mean_step {
 public:
  // Appends the centres to `kept`, each with the stream position of the point that it was. Meets,
  // before and after. Returns, to rank 0, the weighted sum of the squared distances of the points
  // from the means.
  //
  // Each rank sums some of the dimensions over all points, in their order, so the bits do not
  // depend on the number of ranks.
  double run(collectives& me, assignment& points, point_set& kept);

 private:
  std::vector<double> weights_;
  std::vector<float> means_;
};

}  // namespace tutti::streamcluster
