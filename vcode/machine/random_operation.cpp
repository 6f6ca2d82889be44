// SPDX-License-Identifier: Apache-2.0
// RAND: gives the numbers of the stream to the elements in order, on any number of threads.
#include <fmt/format.h>

#include "vcode/machine/operations.hpp"
#include "vcode/machine/random_stream.hpp"

namespace tutti::vcode {
namespace {

// A jump costs as much as making some ten thousand numbers.
constexpr std::size_t jump_from = 1 << 16;

}  // namespace

void run_seed(context& c, const step&, value* v) {
  if (v[0].length() != 1) fail(fmt::format("the seed has length {}, not 1", v[0].length()));
  c.random.restart(static_cast<std::uint32_t>(v[0].integer()));
  v[0] = value::of(true);
}

void run_random(context& c, const step&, value* v) {
  const auto count = static_cast<std::size_t>(v[0].length());
  const auto* const limits = elements<std::int32_t>(c, v[0]);
  // Checks in a separate phase, since the result may overwrite the limits.
  const unsigned checkers = c.workers.parts(count);
  if (!c.workers.all(checkers, [&](unsigned part) {
        const range mine = part_of(count, part, checkers);
        return !has_zero(limits + mine.begin, mine.size());
      })) {
    std::size_t at = 0;
    while (limits[at] != 0) ++at;
    fail(fmt::format("division by zero: element {} is 0", at));
  }
  const bool reuses = is_reusable(v[0], kind::integer);
  if (!v[0].is_scalar()) ++c.statistics.vector_instructions;
  result_vector made = reuses ? result_vector(c, kind::integer, v[0])
                              : result_vector(c, kind::integer, static_cast<std::int32_t>(count));
  auto* const to = made.data<std::int32_t>();
  const unsigned parts = count < jump_from ? 1 : c.workers.parts(count);
  c.workers.each(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    random_stream stream = c.random;
    if (mine.begin > 0) stream.jump(mine.begin);
    for (std::size_t k = mine.begin; k < mine.end; ++k) {
      // For the lowest INT as a limit, the only multiples in range are 0 and the limit itself.
      to[k] = stream.next() % limits[k];
    }
  });
  if (count < jump_from) {
    for (std::size_t k = 0; k < count; ++k) c.random.next();
  } else {
    c.random.jump(count);
  }
  count_pass(c, count, 8 * count);
  c.memory.release(v[0]);
  v[0] = made.finish();
}

}  // namespace tutti::vcode
