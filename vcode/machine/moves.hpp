// SPDX-License-Identifier: Apache-2.0
// What the permutes share.
#pragma once

#include <cstdint>

#include "machine/context.hpp"

namespace tutti::vcode {

// Moving does not look at elements: three sizes are enough. Doubles may live in these integers' places.
template <class Visit>
void with_size(kind type, Visit&& visit) {
  switch (size_of(type)) {
    case 8: return visit(std::uint64_t{});
    case 4: return visit(std::uint32_t{});
    default: return visit(std::uint8_t{});
  }
}

inline bool is_below(std::int32_t index, std::int32_t limit) {
  return static_cast<std::uint32_t>(index) < static_cast<std::uint32_t>(limit);
}

// Says which index was the first that is wrong; there is one.
[[noreturn]] void fail_index(const std::int32_t* index, const std::uint8_t* flags,
                             const segment_view& of_index, const segment_view& target);

// BPERMUTE, and PERMUTE or DPERMUTE, whose indices are known to be consecutive in every segment, as INDEX has made
// them, and are not even computed. False if they are not; nothing has happened then. Lengths have been checked. The
// operands are left as the operations leave them to be released: the result is in v[0].
bool gather_slices(context& c, const step& s, value* v, const segment_view& source,
                   const segment_view& target);
bool scatter_slices(context& c, const step& s, value* v, const segment_view& source,
                    const segment_view& target);

}  // namespace tutti::vcode
