// SPDX-License-Identifier: Apache-2.0
// START_TIMER and STOP_TIMER measure elapsed time, since several threads do the work.
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {

void run_timer(context& c, const step& s, value* v) {
  const auto now = [&c] { return static_cast<double>(c.clock()) / 1e9; };
  if (s.code == opcode::start_timer) {
    c.started = c.workers.agree(now);
    return;
  }
  v[0] = value::of(c.options.zero_timers ? 0.0 : c.workers.agree(now) - c.started);
}

}  // namespace tutti::vcode
