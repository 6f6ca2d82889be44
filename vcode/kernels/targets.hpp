// SPDX-License-Identifier: Apache-2.0
// The vector units for which the kernels are compiled. Include this header before Highway.
#pragma once

// Disabled are targets that differ from another one only in instructions that no kernel here uses,
// and targets whose vector size is unknown at compile time.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
