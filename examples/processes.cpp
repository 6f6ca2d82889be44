// SPDX-License-Identifier: Apache-2.0
// Four processes relax a row of numbers in shared memory. One is killed on the way; the others say
// which and end.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tutti/barrier/shared.hpp"

namespace {

constexpr tutti::rank_t ranks = 4;
constexpr int length = 1000, steps = 10'000;

struct rows {
  double now[length], next[length];
};

int work(tutti::shared_barrier& sync, tutti::rank_t rank, rows& data) {
  sync.join(rank);
  const int part = length / ranks, first = static_cast<int>(rank) * part;
  for (int step = 0; step < steps; ++step) {
    for (int i = first; i < first + part; ++i)
      data.next[i] = (data.now[i > 0 ? i - 1 : i] + data.now[i < length - 1 ? i + 1 : i]) / 2;
    if (rank == 2 && step == 500) raise(SIGKILL);
    for (int half = 0; half < 2; ++half) {
      const tutti::shared_result met = sync.arrive_and_wait();
      if (!met) {
        std::printf("rank %u: rank %u has died in phase %u\n", rank, met.rank, met.phase);
        return 0;
      }
      if (half == 0)
        for (int i = first; i < first + part; ++i) data.now[i] = data.next[i];
    }
  }
  return 1;
}

}  // namespace

int main() {
  const std::size_t bytes = tutti::shared_barrier::bytes_for(ranks);
  void* const memory = mmap(nullptr, bytes + sizeof(rows), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  tutti::shared_barrier::build(memory, bytes, ranks);
  auto& data = *reinterpret_cast<rows*>(static_cast<char*>(memory) + bytes);
  data.now[0] = 1;
  // The children inherit the object; each joins by its own copy.
  tutti::shared_barrier sync = tutti::shared_barrier::at(memory, bytes, ranks);
  for (tutti::rank_t rank = 0; rank < ranks; ++rank)
    if (fork() == 0) {
      const int status = work(sync, rank, data);
      std::fflush(stdout);
      _exit(status);
    }
  int failed = 0, status = 0, killed = 0;
  while (wait(&status) > 0) {
    killed += WIFSIGNALED(status) ? 1 : 0;
    failed += WIFEXITED(status) && WEXITSTATUS(status) != 0 ? 1 : 0;
  }
  return killed == 1 && failed == 0 ? 0 : 1;
}
