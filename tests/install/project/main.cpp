// SPDX-License-Identifier: Apache-2.0
// A user's program: four threads meet a hundred times, through the headers and through the compiled library.
#include <tutti/version.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <tutti/registry.hpp>
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

  std::puts("tutti " TUTTI_VERSION_STRING ": all met");
}
