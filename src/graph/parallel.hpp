// SPDX-License-Identifier: Apache-2.0
// Loops over vertices or edges on several threads. What they compute must not depend on who takes which part.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::graph {

// Calls body(first, last) for parts that together cover [0, items), each of at most `grain` items. 0 threads: one for
// each core that this process may use. One thread, or one part: the caller's own, without a team.
void in_parts(unsigned threads, std::uint64_t items, std::uint64_t grain,
              const std::function<void(std::uint64_t first, std::uint64_t last)>& body);

// Divides [0, items) into as many parts as there are threads, for work that scans everything once a part.
void in_shares(unsigned threads, std::uint64_t items,
               const std::function<void(std::uint64_t first, std::uint64_t last)>& body);

}  // namespace tutti::graph
