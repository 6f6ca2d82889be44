// SPDX-License-Identifier: Apache-2.0
// Deferred vectors. The lazy engine computes the results of elementwise instructions, INDEX and
// DIST only when an instruction needs their elements. A whole chain is then one pass over memory,
// in strips that stay in the first-level cache.
#pragma once

#include <cstdint>
#include <functional>

#include "vcode/machine/context.hpp"
#include "vcode/machine/fusable.hpp"

namespace tutti::vcode {

// Returns the deferred result of an elementwise instruction and takes over its operands, which must
// be vectors of one length.
value defer_elementwise(context& c, const step& s, value* operands);
// Returns the deferred vector of source[index[k]]. Takes over both vectors; the indices are in
// memory and have been checked.
value defer_gather(context& c, value source, value index);
value defer_constant(context& c, value element, std::int32_t length);
// Defers DIST and INDEX on several segments; takes over the operands.
value defer_distribution(context& c, value values, value descriptor);
value defer_progressions(context& c, value starts, value strides, value descriptor);
// Returns the element of a deferred constant, or null.
const value* constant_of(const value& v);
value defer_progression(context& c, std::int32_t start, std::int32_t stride, std::int32_t length);

// Calls act(begin, elements begin .. begin + count - 1, count) on all threads for the strips of a
// deferred vector that has no other reference, without storing the elements. Returns false if a
// call returned false; the remaining calls may then be omitted.
bool for_each_strip(
    context& c, block* b,
    const std::function<bool(std::int32_t begin, const void* elements, std::int32_t count)>& act);

// Folds a deferred vector to one value without storing it: each block is computed, folded and
// dropped. *value must be the identity.
void fold_deferred(context& c, block* b, const fold_kernels& fold, void* value);

// Reduces the segments, none of which is longer than block_elements, to `out` without storing the
// elements of `b`.
void fold_deferred_segments(context& c, block* b, const fold_kernels& fold,
                            const segment_view& segments, std::byte* out, std::size_t size);

// Returns true if the vector is deferred and has no other reference.
inline bool is_nobody_elses(const value& v) {
  return !v.is_scalar() && v.vector()->deferred != nullptr && v.vector()->references == 1;
}

}  // namespace tutti::vcode
