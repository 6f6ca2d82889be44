// SPDX-License-Identifier: Apache-2.0
// The processes of MPI, one a rank: MPI_Barrier and MPI_Allreduce between the processes of this
// machine. Rank 0 talks to the harness. The others wait for a signal from it between rounds,
// because an MPI process that waits in MPI spins.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/harness/placement.hpp"
#include "bench/harness/protocol.hpp"
#include "bench/harness/runtime_round.hpp"
#include "bench/harness/worker.hpp"
#include "bench/mpi/ranks.hpp"
#include "tutti/platform/clock.hpp"

namespace tutti::bench {
namespace {

using cli::json;

constexpr int wake_signal = SIGUSR1;
constexpr std::uint64_t check_steps = 12;

// The same text on all ranks as on rank 0.
std::string shared_text(std::string text) {
  std::uint64_t length = text.size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

// The first text that is not empty, in the order of ranks, on rank 0.
std::string first_text(std::string mine) {
  constexpr std::size_t longest = 400;
  mine.resize(longest);
  std::vector<char> all(longest * static_cast<std::size_t>(all_ranks()));
  MPI_Gather(mine.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (std::size_t begin = 0; begin < all.size(); begin += longest) {
    if (all[begin] != '\0') return std::string(&all[begin]);
  }
  return {};
}

class mpi_rank final : public runtime_rank {
 public:
  mpi_rank() : runtime_rank(static_cast<rank_t>(my_rank())) {}

  void barriers(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
  }
  void reductions(std::uint64_t count, tutti_checksum& mine) override {
    const int width = static_cast<int>(mine.width);
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.in[0] = tutti_checksum_next(&mine);
      MPI_Allreduce(mine.in, mine.out, width, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      tutti_checksum_collect(&mine, mine.out[0], mine.out[width - 1]);
    }
  }
  bool agreed(const bool& word) override {
    int value = word ? 1 : 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value != 0;
  }
};

void place(const round_request& request) {
  const auto rank = static_cast<std::size_t>(my_rank());
  const auto& cpus = request.cpus;
  pin_this_thread(cpus.empty() ? any_cpu : cpus[rank % cpus.size()]);
}

// Nobody leaves a barrier before all have come: by the clock, which all processes of a machine
// share.
std::string check_barriers(runtime_rank& me) {
  for (std::uint64_t step = 1; step <= check_steps; ++step) {
    const std::uint64_t arrival = platform::now_ns();
    me.barriers(1);
    const std::uint64_t departure = platform::now_ns();
    std::uint64_t last_arrival = 0;
    MPI_Allreduce(&arrival, &last_arrival, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (departure < last_arrival) return "a rank left a barrier before all were in it";
  }
  return {};
}

json run(const round_request& request) {
  checksums sums(static_cast<rank_t>(all_ranks()), request.what.width);
  collective_round round(request, sums);
  mpi_rank me;
  const std::uint64_t timed = round.run(me);
  const std::string fault = first_text(round.fault(me.rank(), timed));
  if (me.rank() != 0) return {};
  round_outcome outcome = round.outcome(timed);
  outcome.fault = fault;
  outcome.waiter_cpu_ns = -1;  // the others are other processes
  return {{"outcome", outcome}};
}

json check(round_request request) {
  request.warm_up = 3;
  request.episodes = check_steps;
  request.batches = 1;
  request.least_ns = 0;
  request.gap = {};
  mpi_rank me;
  std::string fault = first_text(check_barriers(me));
  const json outcome = run(request);
  if (me.rank() != 0) return {};
  if (fault.empty()) fault = outcome["outcome"]["fault"].get<std::string>();
  return {{"fault", fault}};
}

// What all ranks do with one line from the harness; the answer is rank 0's.
json answer(const std::string& line) {
  const json asked = json::parse(line);
  const bool checks = asked.contains("check");
  const auto request = asked.at(checks ? "check" : "round").get<round_request>();
  place(request);
  return checks ? check(request) : run(request);
}

std::vector<pid_t> processes() {
  const int mine = getpid();
  std::vector<int> all(static_cast<std::size_t>(all_ranks()));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return {all.begin(), all.end()};
}

// Hands a line to all ranks; an empty one ends them.
std::string tell_all(const std::vector<pid_t>& others, const std::string& line) {
  for (const pid_t pid : others) {
    if (pid != getpid()) kill(pid, wake_signal);
  }
  return shared_text(line);
}

void follow(const sigset_t& signals) {
  while (true) {
    int received = 0;
    while (sigwait(&signals, &received) != 0) {
    }
    const std::string line = shared_text("");
    if (line.empty()) return;
    answer(line);
  }
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  using namespace tutti::bench;
  (void)allowed_cpus();  // read before any thread is bound
  // Blocked before MPI makes threads, which inherit it: only sigwait() takes the signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, wake_signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  MPI_Init(&argc, &argv);
  const std::vector<pid_t> all = processes();
  if (my_rank() == 0) {
    answer_requests(
        [&](const tutti::cli::json& asked) { return answer(tell_all(all, asked.dump())); });
    tell_all(all, "");
  } else {
    follow(signals);
  }
  MPI_Finalize();
  return 0;
}
