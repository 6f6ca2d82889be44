// SPDX-License-Identifier: Apache-2.0
// Kernels of two elementwise instructions, whose value in between stays in a register. Templates
// over operations.hpp make them for every pair of the listed instructions, so that no kernel
// belongs to one program.
#pragma once

#include "vcode/kernels/elementwise.hpp"

namespace tutti::vcode {

// Returns the kernel that computes outer(inner(a, b), c) if `on_left`, else outer(a, inner(b, c)).
// `type` is the type word of `outer`. If `inner` is I_TO_F, which takes one operand, it is
// outer(inner(a), b) or outer(a, inner(b)). Returns null if there is no kernel for the pair.
elementwise_kernel find_pair(opcode outer, kind type, opcode inner, kind inner_type, bool on_left);

}  // namespace tutti::vcode
