// SPDX-License-Identifier: Apache-2.0
// Barriers between processes: tutti::shared_barrier beside a pthread_barrier in shared memory, in
// the same processes and in turns; and how long it takes until the others know that one of them was
// killed, which a pthread_barrier never tells. If there are enough CPUs, each process is bound to
// one.
//
//   tutti-bench-processes [--processes 2,4,8] [--session same,own] [--rounds 9] [--json]
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/watchdog.hpp"
#include "cli/end_with_parent.hpp"
#include "cli/lists.hpp"
#include "cli/options.hpp"
#include "cli/result_line.hpp"
#include "cli/shared_memory.hpp"
#include "tutti/barrier/shared.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::bench {
namespace {

using platform::now_ns;

constexpr std::size_t most_rounds = 1000;
constexpr std::array contenders = {"tutti", "pthread"};

struct request {
  std::string processes = "2,4,8", sessions = "same,own";
  std::uint64_t rounds = 9, kills = 20;
  double batch_ms = 20;
  std::uint32_t limit_s = 120;
  bool json = false;
  // The seconds that all samples of a row take if nothing disturbs them, rounded up.
  std::uint32_t length_s() const {
    return static_cast<std::uint32_t>(
        std::ceil(static_cast<double>(rounds * contenders.size()) * batch_ms / 1e3));
  }
};

// What the processes of a run share, besides tutti's barrier.
struct board {
  pthread_barrier_t barrier;
  // The episodes of a sample, and the mean time of each sample.
  std::array<std::atomic<std::uint64_t>, contenders.size()> batch{};
  std::array<std::array<double, most_rounds>, contenders.size()> ns{};
  std::atomic<std::uint32_t> waiting{0};
  std::atomic<std::uint64_t> known_at{0};
};

class shared_place {
 public:
  explicit shared_place(rank_t n) : n_(n), barrier_(shared_barrier::bytes_for(n)) {
    shared_barrier::build(barrier_.base(), barrier_.bytes(), n);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board_->barrier, &shared, n);
  }
  shared_barrier join(rank_t rank) const {
    auto sync = shared_barrier::at(barrier_.base(), barrier_.bytes(), n_);
    sync.join(rank);
    return sync;
  }
  board& said() const noexcept { return *board_; }

 private:
  rank_t n_;
  cli::shared_memory barrier_;
  cli::shared_object<board> board_;
};

// If there is a CPU for each of n processes, each gets one of its own.
void bind_to_cpu(rank_t rank, rank_t n) {
  const auto cpus = platform::process_cpus();
  if (n > cpus.size()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpus[rank]), &one);
  sched_setaffinity(0, sizeof one, &one);
}

// Runs work(rank) in n processes, which end with this one, and returns their numbers.
template <class Work>
std::vector<pid_t> start(rank_t n, bool own_sessions, Work work) {
  std::vector<pid_t> all;
  const pid_t parent = getpid();
  for (rank_t rank = 0; rank < n; ++rank) {
    const pid_t child = fork();
    if (child < 0) {
      // They would wait for those that cannot be started.
      for (const pid_t each : all) kill(each, SIGKILL);
      for (const pid_t each : all) waitpid(each, nullptr, 0);
      throw std::runtime_error("fork fails");
    }
    if (child == 0) {
      cli::end_with_parent(parent);
      if (own_sessions) setsid();
      bind_to_cpu(rank, n);
      try {
        _exit(work(rank));
      } catch (const std::exception& e) {
        fmt::print(stderr, "tutti-bench-processes: {}\n", e.what());
        _exit(1);
      }
    }
    all.push_back(child);
  }
  return all;
}

// Whether all end with success. The others would wait for one that fails, and are killed.
bool all_succeed(std::vector<pid_t> processes) {
  bool good = true;
  while (!processes.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0) return false;
    if (std::erase(processes, ended) == 0) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    good = false;
    for (const pid_t each : processes) kill(each, SIGKILL);
  }
  return good;
}

bool has_ended(pid_t process) {
  siginfo_t found{};
  return waitid(P_PID, static_cast<id_t>(process), &found, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         found.si_pid == process;
}

int take_part(rank_t rank, const shared_place& at, const request& asked) {
  shared_barrier sync = at.join(rank);
  board& said = at.said();
  const auto meet = [&](std::size_t who, std::uint64_t episodes) {
    // Both contenders begin from a barrier that is not measured.
    pthread_barrier_wait(&said.barrier);
    const std::uint64_t begin = now_ns();
    for (std::uint64_t i = 0; i < episodes; ++i) {
      if (who == 0 && !sync.arrive_and_wait()) throw std::runtime_error("a participant has died");
      if (who == 1) pthread_barrier_wait(&said.barrier);
    }
    return static_cast<double>(now_ns() - begin) / static_cast<double>(episodes);
  };
  for (std::size_t who = 0; who < contenders.size(); ++who) {
    for (std::uint64_t episodes = 64;; episodes *= 2) {
      const double each = meet(who, episodes);
      // relaxed: the barrier publishes it.
      if (rank == 0 && each * static_cast<double>(episodes) > asked.batch_ms * 5e5)
        said.batch[who].store(
            std::max<std::uint64_t>(16, static_cast<std::uint64_t>(asked.batch_ms * 1e6 / each)),
            relaxed);
      pthread_barrier_wait(&said.barrier);
      // relaxed: see above.
      if (said.batch[who].load(relaxed) > 0) break;
    }
  }
  for (std::uint64_t round = 0; round < asked.rounds; ++round)
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t who = (round + turn) % contenders.size();
      // relaxed: the barrier has published it.
      const double each = meet(who, said.batch[who].load(relaxed));
      if (rank == 0) said.ns[who][round] = each;
    }
  return 0;
}

// The time from a kill until the last of the others knows, each of which sleeps or is about to.
double ns_to_know(const request& asked, rank_t n, bool own_sessions) {
  const watchdog guard(asked.limit_s, fmt::format("a kill among {} processes", n));
  const shared_place at(n);
  board& said = at.said();
  auto processes = start(n, own_sessions, [&](rank_t rank) {
    shared_barrier sync = at.join(rank);
    if (!sync.arrive_and_wait()) return 1;
    if (rank + 1 == n) {
      pause();
      return 1;
    }
    const std::uint32_t phase = sync.arrive();
    // relaxed: the parent waits longer than that takes.
    said.waiting.fetch_add(1, relaxed);
    if (sync.wait(phase).how != shared_result::kind::died) return 1;
    const std::uint64_t now = now_ns();
    // relaxed: the end of the process publishes it.
    std::uint64_t last = said.known_at.load(relaxed);
    // relaxed: see above.
    while (last < now && !said.known_at.compare_exchange_weak(last, now, relaxed, relaxed)) {
    }
    return 0;
  });
  // relaxed: see above.
  while (said.waiting.load(relaxed) + 1 < n) {
    if (std::any_of(processes.begin(), processes.end(), has_ended)) {
      for (const pid_t each : processes) kill(each, SIGKILL);
      all_succeed(std::move(processes));
      throw std::runtime_error("a process has failed");
    }
    usleep(1000);
  }
  // Longer than a wait of balanced patience yields.
  usleep(10'000);
  const std::uint64_t killed_at = now_ns();
  kill(processes.back(), SIGKILL);
  waitpid(processes.back(), nullptr, 0);
  processes.pop_back();
  if (!all_succeed(processes)) throw std::runtime_error("a survivor does not know who has died");
  // relaxed: see above.
  return static_cast<double>(said.known_at.load(relaxed) - killed_at);
}

void print_line(const char* provider, rank_t n, const std::string& session, const char* metric,
                std::vector<double> samples) {
  cli::json line{
      {"benchmark", "barrier"}, {"provider", provider}, {"name", "shared"},   {"wait", ""},
      {"threads", 1},           {"processes", n},       {"session", session}, {"metric", metric}};
  add_summary(line, samples);
  line["values"] = samples;
  fmt::print("{}", cli::result_line(line));
}

// Other work of the machine can make the samples several times as long as planned.
void measure_samples(const request& asked, rank_t n, bool own_sessions, const shared_place& at) {
  constexpr std::uint32_t most_disturbed = 4;
  const watchdog guard(asked.limit_s + most_disturbed * asked.length_s(),
                       fmt::format("the barriers of {} processes", n));
  if (!all_succeed(start(n, own_sessions, [&](rank_t rank) { return take_part(rank, at, asked); })))
    throw std::runtime_error("a process has failed");
}

void measure(const request& asked, rank_t n, const std::string& session) {
  const bool own_sessions = session == "own";
  const shared_place at(n);
  measure_samples(asked, n, own_sessions, at);
  std::array<std::vector<double>, contenders.size()> samples;
  std::vector<double> ratios;
  for (std::size_t who = 0; who < contenders.size(); ++who)
    samples[who].assign(at.said().ns[who].begin(),
                        at.said().ns[who].begin() + static_cast<std::ptrdiff_t>(asked.rounds));
  for (std::size_t round = 0; round < asked.rounds; ++round)
    ratios.push_back(samples[1][round] / samples[0][round]);
  std::vector<double> kills;
  for (std::uint64_t i = 0; i < asked.kills; ++i)
    kills.push_back(ns_to_know(asked, n, own_sessions));
  if (asked.json) {
    for (std::size_t who = 0; who < contenders.size(); ++who)
      print_line(contenders[who], n, session, "loop", samples[who]);
    if (!kills.empty()) print_line("tutti", n, session, "death", kills);
    return;
  }
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.1f} | {} |\n", n, session,
             median_of(samples[0]) / 1e3, median_of(samples[1]) / 1e3, median_of(ratios),
             kills.empty() ? "–" : fmt::format("{:.2f}", median_of(kills) / 1e6));
  std::fflush(stdout);
}

int run(const request& asked) {
  const auto counts = cli::parse_counts("--processes", asked.processes, 256);
  const auto sessions = cli::split("--session", asked.sessions);
  for (const auto& session : sessions)
    if (session != "same" && session != "own")
      throw std::invalid_argument("--session: '" + session + "' is not same or own");
  if (std::find(counts.begin(), counts.end(), 1) != counts.end())
    throw std::invalid_argument("--processes: a barrier between processes needs at least 2");
  if (asked.json)
    fmt::print("{}\n", describe_machine().dump());
  else
    fmt::print(
        "| processes | session | tutti, µs | pthread, µs | pthread / tutti | known after a kill, "
        "ms "
        "|\n|--:|---|--:|--:|--:|--:|\n");
  std::fflush(stdout);
  for (const auto n : counts)
    for (const auto& session : sessions) measure(asked, static_cast<rank_t>(n), session);
  return 0;
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  using namespace tutti;
  bench::request asked;
  cli::program program(
      "Barriers between processes: tutti's beside a pthread_barrier, and how soon a death is known",
      "tutti-bench-processes");
  program.add_option("--processes", asked.processes, "Numbers of processes")
      .value_name("LIST")
      .show_default();
  program
      .add_option("--session", asked.sessions,
                  "The login sessions of the processes: same, or own for one each")
      .value_name("LIST")
      .show_default();
  program.add_option("--rounds", asked.rounds, "Samples of each contender")
      .between(std::uint64_t{1}, std::uint64_t{bench::most_rounds})
      .show_default();
  program.add_option("--batch-ms", asked.batch_ms, "Length of a sample in milliseconds")
      .between(0.01, 10000.0)
      .show_default();
  program.add_option("--kills", asked.kills, "Processes that are killed")
      .between(0, 10000)
      .show_default();
  program
      .add_option("--limit", asked.limit_s,
                  "The program ends if barriers take so many seconds longer than four times what "
                  "they should, or if the others have not noticed a kill after so many")
      .value_name("SECONDS")
      .between(1u, 100'000u)
      .show_default();
  program.add_flag("--json", asked.json, "One JSON line for each series");
  return program.run(argc, argv, [&] { return bench::run(asked); });
}
