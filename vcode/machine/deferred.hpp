// SPDX-License-Identifier: Apache-2.0
// Vectors that are not computed yet. The lazy engine leaves the results of elementwise instructions, of INDEX
// and of DIST to whoever needs their elements: a whole chain of them is then one pass over memory, in strips
// that stay in the first-level cache.
#pragma once

#include <cstdint>
#include <functional>

#include "machine/context.hpp"
#include "machine/fusable.hpp"

namespace tutti::vcode {

// The result of an elementwise instruction whose operands, all vectors of one length, it takes over.
value defer_elementwise(context& c, const step& s, value* operands);
value defer_constant(context& c, value element, std::int32_t length);
// DIST and INDEX on several segments. The operands are taken over.
value defer_distribution(context& c, value values, value descriptor);
value defer_progressions(context& c, value starts, value strides, value descriptor);
// The element of a deferred constant, or null.
const value* constant_of(const value& v);
value defer_progression(context& c, std::int32_t start, std::int32_t stride, std::int32_t length);

// Calls act(begin, elements begin .. begin + count - 1, count) for strips of a deferred vector that nobody else has,
// by all threads; the elements are not stored. False if a call returned false: the rest may be left out.
bool for_each_strip(
    context& c, block* b,
    const std::function<bool(std::int32_t begin, const void* elements, std::int32_t count)>& act);

// One value from all elements of a deferred vector, which is not stored: blocks are computed, folded and
// forgotten. *value is the identity before.
void fold_deferred(context& c, block* b, const fold_kernels& fold, void* value);

}  // namespace tutti::vcode
