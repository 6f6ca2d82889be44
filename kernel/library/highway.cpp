// SPDX-License-Identifier: Apache-2.0
// The two functions of the library Highway that programs call: which instruction sets there are.
// The kernel saves the registers of SSE only, so there is no AVX.
#include <hwy/highway.h>

namespace hwy {

std::int64_t SupportedTargets() {
  return __builtin_cpu_supports("ssse3") != 0 ? HWY_SSSE3 : HWY_STATIC_TARGET;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
