// SPDX-License-Identifier: Apache-2.0
// The vector units for which the kernels are compiled. To be included before Highway.
#pragma once

// Left out: those that differ from a neighbour only in what no kernel here uses, and those whose vectors
// have no size at compile time.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
