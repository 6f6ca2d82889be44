// SPDX-License-Identifier: Apache-2.0
// Loops over vertices or edges on several threads. The result must not depend on which thread takes
// which part.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::graph {

// Calls body(first, last) for parts of at most `grain` items that together cover [0, items). 0
// threads stands for one thread per core that this process may use. With one thread or one part the
// caller does all the work, without a team.
void in_parts(unsigned threads, std::uint64_t items, std::uint64_t grain,
              const std::function<void(std::uint64_t first, std::uint64_t last)>& body);

// Divides [0, items) into at most as many parts as there are threads, for work that scans
// everything once per part. With one thread, or without items, it calls body(0, items).
void in_shares(unsigned threads, std::uint64_t items,
               const std::function<void(std::uint64_t first, std::uint64_t last)>& body);

}  // namespace tutti::graph
