// SPDX-License-Identifier: Apache-2.0
// A program for the vector machine inside another program: the sum of the squares of the even
// numbers of a vector, by all CPUs. Errors of the vector program and of its run come as exceptions.
// Usage: evens [N]: the numbers 0 to N - 1

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <variant>
#include <vector>

#include "vcode/vcode.hpp"

namespace vcode = tutti::vcode;

// Takes a vector of INT and its descriptor: one segment with the length of the vector.
constexpr const char* text = R"(
FUNC MAIN
COPY 1 1            { the numbers again }
CONST INT 2
COPY 1 2
DIST INT            { 2 2 2 ... }
%
CONST INT 0
COPY 1 2
DIST INT
= INT               { flags: is it even? }
CPOP 1 1
PACK INT            { the even ones, and their descriptor }
CPOP 1 1
COPY 1 0
* INT
CPOP 1 1
+_REDUCE INT
RET
)";

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (count < 2 || count > 2000) {
    std::fprintf(stderr, "evens: N must be 2 to 2000, not '%s'\n", argv[1]);
    return 2;
  }
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::int32_t expected = 0;
  for (const std::int32_t each : numbers)
    if (each % 2 == 0) expected += each * each;
  try {
    const vcode::program code = vcode::compile(text, "evens");
    vcode::run_options how;
    how.threads = 0;
    how.most_seconds = 10;
    const auto stack = vcode::run(code, {numbers, vcode::segments{{count}}}, how).stack;
    const std::int32_t sum = std::get<std::vector<std::int32_t>>(stack.at(0)).at(0);
    std::printf("evens takes %s; the sum is %d\n", code.inputs().c_str(), sum);
    if (sum != expected) return 1;
    vcode::run(code, {numbers, vcode::segments{{count + 1}}}, how);
  } catch (const vcode::source_error& e) {
    std::fprintf(stderr, "not a program: %s\n", e.what());
    return 1;
  } catch (const vcode::run_error& e) {
    // The second run's descriptor has another length than its vector.
    std::printf("as expected: %s\n", e.what());
    return 0;
  }
  return 1;
}
