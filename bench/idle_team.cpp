// SPDX-License-Identifier: Apache-2.0
// What a living team that has been idle for 10 ms costs whatever else its creator runs: a loop of
// OpenMP, new threads, and another process, each with and without such a team in turn. One JSON
// line for each: medians in nanoseconds and their ratio, which should be 1; then one for the
// processor time that the idle team uses.
//
//   tutti-idle-team [rounds, default 31]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/team/team.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::platform::now_ns;

constexpr std::size_t length = 200'000;
std::vector<double> x(length, 1.0), y(length, 2.0);

void axpy(std::size_t first, std::size_t last) {
  for (int pass = 0; pass < 20; ++pass)
    for (std::size_t i = first; i < last; ++i) y[i] += 1e-9 * x[i];
}

std::size_t parts() { return tutti::platform::process_cpus().size(); }

#ifdef _OPENMP
void run_openmp() {
#pragma omp parallel for schedule(static)
  for (std::size_t part = 0; part < parts(); ++part)
    axpy(length * part / parts(), length * (part + 1) / parts());
}
#endif

void run_threads() {
  std::vector<std::thread> made;
  for (std::size_t part = 0; part < parts(); ++part)
    made.emplace_back([part] { axpy(length * part / parts(), length * (part + 1) / parts()); });
  for (auto& each : made) each.join();
}

// The child computes as much as this process does at the same time.
void run_process() {
  const pid_t child = fork();
  if (child == 0) {
    axpy(0, length / 2);
    _exit(0);
  }
  axpy(length / 2, length);
  waitpid(child, nullptr, 0);
}

void run_region(tutti::team& t) {
  t.run([](tutti::member& me) { me.barrier(); });
}

double time_once(void (*work)(), bool with_team) {
  std::optional<tutti::team> team;
  if (with_team) {
    team.emplace();
    for (int i = 0; i < 100; ++i) run_region(*team);
  }
  std::this_thread::sleep_for(10ms);
  const std::uint64_t start = now_ns();
  work();
  return static_cast<double>(now_ns() - start);
}

void print(const tutti::cli::json& keys) {
  tutti::cli::json line{{"type", "idle_team"}};
  line.update(keys);
  std::printf("%s\n", line.dump().c_str());
}

void compare(const char* what, void (*work)(), int rounds) {
  std::vector<double> with, without, ratios;
  work();
  for (int round = 0; round < rounds; ++round) {
    // The order changes from round to round.
    const bool first = round % 2 == 0;
    const double a = time_once(work, first), b = time_once(work, !first);
    with.push_back(first ? a : b);
    without.push_back(first ? b : a);
    ratios.push_back(with.back() / without.back());
  }
  using tutti::bench::median_of, tutti::bench::rounded;
  print({{"beside", what},
         {"rounds", rounds},
         {"without_ns", rounded(median_of(without))},
         {"with_ns", rounded(median_of(with))},
         {"ratio_of_medians", rounded(median_of(with) / median_of(without))},
         {"median_of_ratios", rounded(median_of(ratios))}});
}

double processor_ns() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return 1e9 * static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e3 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void measure_idle_time() {
  tutti::team team;
  for (int i = 0; i < 100; ++i) run_region(team);
  std::this_thread::sleep_for(10ms);
  const double before = processor_ns();
  std::this_thread::sleep_for(500ms);
  print({{"threads", team.threads()},
         {"idle_ns", 500000000},
         {"processor_ns", tutti::bench::rounded(processor_ns() - before)}});
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 31;
  if (rounds < 1 || count > 2) {
    std::fputs("usage: tutti-idle-team [rounds]\n", stderr);
    return 2;
  }
#ifdef _OPENMP
  compare("openmp", run_openmp, rounds);
#endif
  compare("threads", run_threads, rounds);
  compare("process", run_process, rounds);
  measure_idle_time();
}
