// SPDX-License-Identifier: Apache-2.0
// The loops with vectors, for each instruction set that compiler and processor have.
#pragma once

#include <vector>

#include "workloads/phylo/kernels.hpp"

namespace tutti::phylo {

// Returns the kernels, the best first.
std::vector<kernels> simd_kernels();

}  // namespace tutti::phylo
