// SPDX-License-Identifier: Apache-2.0
// measure IMAGE [--quick | --latency L | --random FIRST COUNT]: measures barwait and the software
// barriers on the same system, in cycles. Prints one JSON object a line on stdout, and progress on
// stderr. --random measures nothing: it runs COUNT programs with random timing, sizes and lengths,
// with seeds from FIRST on, and checks them. The status is 1 if a program fails or a result is
// wrong.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.hpp"
#include "cli/result_line.hpp"

namespace {

using namespace tutti::isa;

double one_decimal(double cycles) { return std::round(cycles * 10) / 10; }

void print(const competitor& who, const bench_run& what, const figures& f) {
  static constexpr const char* metrics[] = {"loop", "last_in_last_out", "stencil_step"};
  std::fputs(tutti::cli::result_line({{"benchmark", "barrier"},
                                      {"provider", who.provider},
                                      {"name", who.name},
                                      {"wait", who.kind == instruction ? "instruction" : "spin"},
                                      {"threads", what.cores},
                                      {"cores", what.cores},
                                      {"scenario", what.near ? "near_banks" : "uniform"},
                                      {"metric", metrics[static_cast<std::size_t>(what.program)]},
                                      {"unit", "cycles"},
                                      {"memory_latency", what.latency},
                                      {"unit_distance", what.distance},
                                      {"min", one_decimal(f.min)},
                                      {"median", one_decimal(f.median)},
                                      {"p99", one_decimal(f.p99)},
                                      {"samples", f.samples}})
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

void run_all(const std::string& image, const std::vector<unsigned>& latencies,
             const std::vector<unsigned>& counts) {
  for (const unsigned latency : latencies)
    for (const bool near : {true, false}) {
      for (const unsigned cores : counts)
        for (const competitor& who : competitors) {
          // The addresses of tutti's objects are not chosen by bank, so near banks do not apply to
          // them.
          if (near && std::strcmp(who.provider, "tutti") == 0) continue;
          for (const bench_program p :
               {bench_program::loop, bench_program::late, bench_program::stencil}) {
            if (who.kind == no_barrier && p == bench_program::late) continue;
            bench_run what{.program = p, .cores = cores, .latency = latency, .near = near};
            if (p == bench_program::late) what.episodes = 2 * cores;
            if (p == bench_program::stencil) what.episodes = 6;
            // The unit is beside the cores, or as far away as the memory: 2 * distance + 1 =
            // latency - 1.
            for (const unsigned distance : {0u, (latency - 2) / 2}) {
              if (distance != 0 && who.kind != instruction) continue;
              what.distance = distance;
              print(who, what, run_bench(image, who, what));
              if (latency < 4) break;
            }
          }
        }
      std::fprintf(stderr, "latency %u, %s: done\n", latency, near ? "near banks" : "uniform");
    }
}

// Random timing shows that correct runs do not depend on a lucky alignment.
void run_random(const std::string& image, unsigned first, unsigned count) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const auto from = [&random](unsigned low, unsigned high) {
      return low + static_cast<unsigned>(random() % (high - low + 1));
    };
    const competitor& who = competitors[seed % (std::size(competitors) - 1)];
    bench_run what{
        .program = from(0, 2) == 0 ? bench_program::stencil : bench_program::random_lengths,
        .cores = from(0, 3) == 0 ? 16 : from(1, 15),
        .latency = from(2, 60),
        .distance = from(0, 30),
        .near = from(0, 1) == 1,
        .posted = from(0, 3) != 0,
        .episodes = from(3, 8),
        .points = from(1, 160),
        .seed = seed};
    try {
      run_bench(image, who, what);
    } catch (const std::exception& error) {
      throw std::runtime_error("seed " + std::to_string(seed) + ": " + error.what());
    }
  }
  // Check that the checks work: without a barrier every result must be wrong.
  bench_run blind{.program = bench_program::random_lengths, .cores = 4, .episodes = 20};
  try {
    run_bench(image, competitors[std::size(competitors) - 1], blind);
  } catch (const std::runtime_error&) {
    std::fprintf(stderr, "%u random programs: right\n", count);
    return;
  }
  throw std::runtime_error("the checks take no barrier for a barrier");
}

unsigned number(const char* text) {
  std::size_t used = 0;
  const unsigned long value = std::stoul(text, &used);
  if (text[used] != '\0' || value > 1'000'000)
    throw std::invalid_argument(std::string(text) + ": not a number up to 1000000");
  return static_cast<unsigned>(value);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[2] : "";
  try {
    if (argc == 2)
      run_all(argv[1], {2, 10, 20, 40}, {2, 4, 8, 16});
    else if (argc == 3 && option == "--quick")
      run_all(argv[1], {20}, {4});
    else if (argc == 4 && option == "--latency")
      run_all(argv[1], {number(argv[3])}, {16, 8, 4, 2});
    else if (argc == 5 && option == "--random")
      run_random(argv[1], number(argv[3]), number(argv[4]));
    else {
      std::fputs("usage: measure IMAGE [--quick | --latency L | --random FIRST COUNT]\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
