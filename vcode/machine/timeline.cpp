// SPDX-License-Identifier: Apache-2.0
// Writes the timeline of a trace.
#include "vcode/machine/timeline.hpp"

#include <fmt/format.h>

namespace tutti::vcode {

void timeline::print(std::FILE* to) const {
  for (std::size_t rank = 0; rank < lanes_.size(); ++rank) {
    for (const span& each : lanes_[rank].spans) {
      fmt::print(to, "rank {}: {} {:.3f} {:.3f}\n", rank,
                 each.what == kind::phase ? "phase" : "barrier", each.begin, each.end);
    }
  }
}

}  // namespace tutti::vcode
