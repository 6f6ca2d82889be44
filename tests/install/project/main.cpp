// SPDX-License-Identifier: Apache-2.0
// A user's program: four threads synchronise a hundred times, through the headers and through the
// compiled library. A team with virtual ranks, sums and exact sums need the libraries that tutti
// itself needs.
#include <tutti/version.h>

#include <array>
#include <cstdio>
#include <memory>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <tutti/reduce/exact.hpp>
#include <tutti/reduce/fold.hpp>
#include <tutti/registry.hpp>
#include <tutti/team/team.hpp>
#include <vector>

namespace {

constexpr tutti::rank_t participants = 4;

template <class Meet>
void run_all(Meet meet) {
  std::vector<std::thread> threads;
  for (tutti::rank_t rank = 0; rank < participants; ++rank) threads.emplace_back(meet, rank);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main() {
  tutti::barrier barrier(participants);
  run_all([&](tutti::rank_t rank) {
    for (int episode = 0; episode < 100; ++episode) barrier.arrive_and_wait(rank);
  });

  const std::unique_ptr<tutti::any_barrier> any =
      tutti::make_barrier("dissemination", participants);
  run_all([&](tutti::rank_t rank) { any->episodes(rank, 100); });

  tutti::team team(tutti::team_options{.threads = 2, .ranks = 8});
  const int ranks = team.run_reduce(tutti::plus{}, [](tutti::member& me) {
    me.barrier();
    return 1;
  });
  const std::array<double, 3> values{1e300, 1, -1e300};
  tutti::exact_sum<double> exact;
  exact.add(values);
  const bool is_right = ranks == 8 && exact.value() == 1 &&
                        tutti::fold(tutti::maximum{}, std::span<const double>(values)) == 1e300;
  if (!is_right) return 1;

  std::puts("tutti " TUTTI_VERSION_STRING ": all met");
}
