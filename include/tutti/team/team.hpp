// SPDX-License-Identifier: Apache-2.0
// tutti::team: threads that are created once and run parallel regions. A region costs about two
// line transfers.
//
//   tutti::team team;  // one thread for each physical core that the process may use
//   team.run([&](tutti::member& me) { work(me.rank(), me.size()); });
//   team.parallel_for(0, n, [&](std::size_t i) { y[i] = a * x[i]; });
//   double s =
//       team.parallel_reduce(0, n, tutti::plus{}, [&](std::size_t i) { return x[i] * y[i]; });
//   auto [d1, d2] = team.run_reduce(
//       tutti::plus{}, [&](tutti::member& me) { return std::array{f(me), g(me)}; });
//
// The thread that opens a region is rank 0 in it. Workers wait adaptively: they spin while regions
// follow each other, and sleep otherwise. A region that a rank opens inside a region of the same
// team runs on that rank alone.
//
// Memory ordering: what the caller does before run() happens before all ranks' calls, and those
// happen before run() returns.
// Thread-safety: any thread may open a region. While another thread has one open, the call runs on
// the calling thread alone.
// Destruction: no region may be open. The destructor ends the threads.
// Hosted only: it needs threads and the compiled library.
#pragma once

#include "tutti/team/loop_calls.hpp"
#include "tutti/team/member_calls.hpp"
#include "tutti/team/team_calls.hpp"
#include "tutti/team/team_class.hpp"
