// SPDX-License-Identifier: Apache-2.0
// Vectors that are not computed yet. The lazy engine leaves the results of elementwise instructions, of INDEX
// and of DIST to whoever needs their elements: a whole chain of them is then one pass over memory, in strips
// that stay in the first-level cache.
#pragma once

#include <cstdint>

#include "machine/context.hpp"
#include "machine/fusable.hpp"

namespace tutti::vcode {

// The result of an elementwise instruction whose operands, all vectors of one length, it takes over.
value defer_elementwise(context& c, const step& s, value* operands);
value defer_constant(context& c, value element, std::int32_t length);
value defer_progression(context& c, std::int32_t start, std::int32_t stride, std::int32_t length);

// One value from all elements of a deferred vector, which is not stored: blocks are computed, folded and
// forgotten. *value is the identity before.
void fold_deferred(context& c, block* b, const fold_kernels& fold, void* value);

}  // namespace tutti::vcode
