// SPDX-License-Identifier: Apache-2.0
// Asks the processor which of the compiled units it has.
#include "vcode/kernels/vector_unit.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "vcode/kernels/targets.hpp"
// Only for the list of targets.
#include "hwy/highway.h"

namespace tutti::vcode {
namespace {

struct unit {
  const char* name;
  bool is_compiled;
};

#if HWY_ARCH_X86
constexpr std::array<unit, unit_count> units{{{"AVX3", (HWY_TARGETS & HWY_AVX3) != 0},
                                              {"AVX2", (HWY_TARGETS & HWY_AVX2) != 0},
                                              {"SSE4", (HWY_TARGETS & HWY_SSE4) != 0},
                                              {"baseline", true}}};

// The instruction sets that Highway's targets comprise.
bool has(std::size_t at) {
  const bool sse4 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("ssse3") != 0 &&
                    __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("aes") != 0;
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") != 0 &&
                    __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0;
  const bool avx3 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  return at == 0 ? avx3 : at == 1 ? avx2 : at == 2 ? sse4 : true;
}
#else
constexpr std::array<unit, unit_count> units{
    {{"", false}, {"", false}, {"", false}, {"baseline", true}}};
bool has(std::size_t) { return true; }
#endif

bool is_available(std::size_t at) { return units[at].is_compiled && has(at); }

std::size_t widest() {
  std::size_t at = 0;
  while (!is_available(at)) ++at;
  return at;
}

// The place of the unit that was forced, or unit_count.
std::atomic<std::size_t> forced{unit_count};

}  // namespace

std::size_t chosen_unit() {
  static const std::size_t found = widest();
  // relaxed: the number publishes nothing else.
  const std::size_t wanted = forced.load(std::memory_order_relaxed);
  return wanted == unit_count ? found : wanted;
}

const char* vector_unit() { return units[chosen_unit()].name; }

std::vector<std::string> vector_units() {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < unit_count; ++at) {
    if (is_available(at)) names.emplace_back(units[at].name);
  }
  return names;
}

void force_vector_unit(const std::string& name) {
  for (std::size_t at = 0; at < unit_count; ++at) {
    if (name != units[at].name || !is_available(at)) continue;
    // relaxed: the number publishes nothing else.
    forced.store(at, std::memory_order_relaxed);
    return;
  }
  std::string known;
  for (const auto& each : vector_units()) known += (known.empty() ? "" : ", ") + each;
  throw std::invalid_argument("'" + name + "' is not a vector unit of this processor: " + known);
}

}  // namespace tutti::vcode
