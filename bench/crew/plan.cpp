// SPDX-License-Identifier: Apache-2.0
// Which episodes belong to which benchmark.
#include "bench/crew/plan.hpp"

namespace tutti::bench {

std::vector<episode_kind> kinds_of_regions() {
  return {{false, 0}, {false, width_of_reducing_regions}};
}

std::vector<episode_kind> kinds_of_reductions() {
  std::vector<episode_kind> kinds{{true, 0}};
  for (const unsigned width : widths_of_reductions) kinds.push_back({true, width});
  return kinds;
}

std::string_view name_of(crew_metric m) {
  switch (m) {
    case crew_metric::loop: return "loop";
    case crew_metric::latency: return "latency";
    case crew_metric::cpu_time: return "cpu_time";
  }
  return "";
}

bool suits(const crew_provider& who, const episode_kind& kind, const crew_shape& shape) {
  if (shape.ranks != shape.threads && !who.has_fibers) return false;
  if (who.a_process_each_rank && shape.threads < 2) return false;
  if (kind.width > who.widest) return false;
  if (kind.elements > 0) return shape.ranks == shape.threads && (who.has_regions || who.has_loops);
  return kind.inside ? who.has_meetings : who.has_regions;
}

bool suits(const crew_provider& who, const episode_kind& kind, const crew_shape& shape,
           const scenario& when) {
  if (when.gap.ns > 0 && kind.inside && shape.ranks != shape.threads) return false;
  return suits(who, kind, shape);
}

}  // namespace tutti::bench
