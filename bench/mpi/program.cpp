// SPDX-License-Identifier: Apache-2.0
// tutti-bench-mpi-<family>: `tutti bench idle`, `message` and `hop` on processes, beside what that
// MPI offers. The MPI's launcher starts this program directly, or it starts `tutti bench`, which
// then replaces itself with this program.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/harness/machine.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/mpi/process.hpp"
#include "bench/mpi/ranks.hpp"
#include "bench/mpi/series.hpp"
#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "cli/result_line.hpp"
#include "tutti/mpi/calls_of_mpi_h.hpp"
#include "tutti/platform/topology.hpp"

namespace tutti::bench {
namespace {

struct request {
  std::vector<std::string> benchmarks{"idle", "message", "hop"};
  std::uint64_t rounds = 15;
  double batch_ms = 10;
  bool json = false;
};

// The first batch is small because an operation can take milliseconds where there are more
// processes than cores and the MPI spins.
std::uint64_t least_batch(const mpi_series& series) {
  return series.benchmark == "message" ? 64 : 4;
}

// Returns the nanoseconds on rank 0's clock of `count` operations, the same number on all ranks. A
// few operations before them are not timed: where the MPI spins, processes leave its barrier
// milliseconds apart.
double time_of(const mpi_series& series, std::uint64_t count) {
  MPI_Barrier(MPI_COMM_WORLD);
  series.run(least_batch(series));
  const std::uint64_t start = platform::now_ns();
  series.run(count);
  double took = static_cast<double>(platform::now_ns() - start);
  MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return took;
}

// Operations that fill a batch; all ranks find the same number, as all have rank 0's times.
std::uint64_t batch_of(const mpi_series& series, double batch_ns) {
  const std::uint64_t least = least_batch(series);
  std::uint64_t count = least;
  for (;;) {
    const double took = time_of(series, count);
    if (took > batch_ns / 4 || count > (1u << 26)) {
      const double wanted = static_cast<double>(count) * batch_ns / took;
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted) / least) * least;
    }
    count *= 4;
  }
}

std::vector<std::vector<double>> measure(const std::vector<mpi_series>& all, const request& asked) {
  std::vector<std::uint64_t> batch;
  for (const mpi_series& series : all) batch.push_back(batch_of(series, asked.batch_ms * 1e6));
  std::vector<std::vector<double>> samples(all.size());
  take_turns(all.size(), asked.rounds, [&](std::size_t at) {
    samples[at].push_back(time_of(all[at], batch[at]) / static_cast<double>(batch[at]));
  });
  return samples;
}

// ns an operation of each process; for messages: ns a message of all processes together.
std::vector<double> in_unit(const mpi_series& series, std::vector<double> samples) {
  if (series.benchmark == "message")
    for (double& one : samples) one /= all_ranks();
  return samples;
}

bool is_pinned() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 &&
         static_cast<unsigned>(CPU_COUNT(&mask)) < platform::machine().cpus;
}

std::string line_of(const mpi_series& series, const char* family,
                    const std::vector<double>& samples) {
  cli::json line = line_of_processes(series.benchmark, series, family);
  line["cores"] = std::min(all_ranks(), static_cast<int>(platform::machine().cpus));
  line["pinned"] = is_pinned();
  line["scenario"] = "free";
  line["metric"] = series.metric;
  add_summary(line, samples);
  if (series.benchmark == "message")
    line["messages_per_second"] = rounded(1e9 / median_of(samples));
  return cli::result_line(line);
}

void print_row(const mpi_series& series, const std::vector<double>& samples) {
  const summary s = summarize(samples);
  std::string rate;
  if (series.benchmark == "message") rate = fmt::format("  {:.1f} M messages/s", 1e3 / s.median);
  fmt::print("{:<8} {:<12} {:<8} {:<14} {:>9} {:>9} {:>9}{}\n", series.benchmark, series.metric,
             series.provider, series.name, format_ns(s.min), format_ns(s.median), format_ns(s.p99),
             rate);
}

void run(const request& asked) {
  const mpi::calls functions = mpi::calls_of_mpi_h();
  mpi::communicator packets(functions, functions.world, {.transport = "mpi"});
  mpi::communicator best(functions, functions.world);
  std::vector<mpi_series> all;
  if (best.is_shared()) add_tutti_series(all, best, "shared");
  add_tutti_series(all, packets, "packets");
  add_mpi_series(all, functions.family);
  std::erase_if(all, [&](const mpi_series& one) {
    return std::find(asked.benchmarks.begin(), asked.benchmarks.end(), one.benchmark) ==
           asked.benchmarks.end();
  });
  const processor_time begin = read_processor_time();
  const auto samples = measure(all, asked);
  if (my_rank() != 0) return;
  cli::json machine = describe_machine();
  machine["mpi"] = functions.family;
  // The other ranks' time counts as foreign, so the load says nothing here.
  machine["steal"] = rounded(noise_between(begin, read_processor_time()).steal);
  if (asked.json)
    fmt::print("{}\n", machine.dump());
  else
    fmt::print("{} processes, {}\n{:<8} {:<12} {:<8} {:<14} {:>9} {:>9} {:>9}\n", all_ranks(),
               functions.family, "", "metric", "provider", "name", "min", "median", "p99");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto in = in_unit(all[i], samples[i]);
    if (asked.json)
      fmt::print("{}", line_of(all[i], functions.family, in));
    else
      print_row(all[i], in);
  }
}

int run_among_others(const request& asked) {
  if (all_ranks() < 2) {
    return cli::complain("tutti-bench-mpi",
                         "at least two processes are needed: mpirun -n 2 tutti bench idle",
                         cli::wrong_usage);
  }
  run(asked);
  return cli::success;
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  using namespace tutti;
  bench::request asked;
  bench::mpi_program program("Episodes and messages between processes, beside MPI's own primitives",
                             "tutti-bench-mpi", asked.rounds, asked.batch_ms);
  program.add_option("benchmark", asked.benchmarks, "idle, message, hop (default: all)")
      .one_of({"idle", "message", "hop"});
  program.add_flag("--json", asked.json, "JSON lines");
  return program.run(argc, argv, [&] { return bench::run_among_others(asked); });
}
