// SPDX-License-Identifier: Apache-2.0
// tutti::team: threads that are made once, and parallel regions that cost about two line transfers.
//
//   tutti::team team;                                                // a thread for each core that we may use
//   team.run([&](tutti::member& me) { work(me.rank(), me.size()); });
//   team.parallel_for(0, n, [&](std::size_t i) { y[i] = a * x[i]; });
//   double s = team.parallel_reduce(0, n, tutti::plus{}, [&](std::size_t i) { return x[i] * y[i]; });
//   auto [d1, d2] = team.run_reduce(tutti::plus{}, [&](tutti::member& me) { return std::array{f(me), g(me)}; });
//
// One thread at a time opens regions; it is rank 0 in them. Workers wait adaptively: they spin while regions follow each
// other, and sleep when they do not. A region opened by a rank of the same team's region runs on that rank alone.
//
// Memory ordering: what the caller does before run() happens before all ranks' calls, and those happen before run()
// returns.
// Destruction: when no region is open; it ends the threads.
// Hosted only: threads. Needs the compiled library.
#pragma once

#include "tutti/team/loop_calls.hpp"
#include "tutti/team/member_calls.hpp"
#include "tutti/team/team_calls.hpp"
#include "tutti/team/team_class.hpp"
