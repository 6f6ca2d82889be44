// SPDX-License-Identifier: Apache-2.0
// phylo-libpll ALIGNMENT TREE MODEL RUNTIME THREADS REPEAT EPSILON does with libpll what
// `tutti-phylo optimize --json` does. compare.py runs it. The procedure (order of branches,
// Newton-Raphson, its bounds and its end conditions) is tutti-phylo's.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "cli/result_line.hpp"
#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/compare/libpll_likelihood.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/optimize.hpp"

namespace {

using namespace tutti::phylo;

void optimize(char** argument) {
  const alignment a = parse_alignment(read_file(argument[1]), argument[1]);
  constexpr double start = 0.1;
  tree t = parse_newick(read_file(argument[2]), argument[2], start);
  const model_text text = parse_model(argument[3]);
  const model m(text.parameters, text.rates);
  const pattern_set p = compress(a, t);
  const auto threads = static_cast<unsigned>(std::stoul(argument[5]));
  const auto workers = compare::make_runtime(argument[4], threads);
  compare::libpll_likelihood l(*workers, t, p, m);
  optimize_options how;
  how.epsilon = std::stod(argument[7]);
  for (int i = 0; i < std::stoi(argument[6]); ++i) {
    const auto regions = l.regions();
    const auto begin = std::chrono::steady_clock::now();
    l.set_all_lengths(std::vector<double>(t.edges.size(), start));
    const optimize_result r = optimize_lengths(l, how);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    const std::string line = tutti::cli::result_line({{"benchmark", "phylo"},
                                                      {"provider", "libpll"},
                                                      {"name", argument[4]},
                                                      {"threads", threads},
                                                      {"metric", "wall"},
                                                      {"median", taken.count()},
                                                      {"samples", 1},
                                                      {"log_likelihood", r.log_likelihood},
                                                      {"cycles", r.cycles},
                                                      {"regions", l.regions() - regions}});
    std::fputs(line.c_str(), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr,
                 "usage: phylo-libpll ALIGNMENT TREE MODEL tutti|pthread THREADS REPEAT EPSILON\n");
    return 2;
  }
  try {
    optimize(argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "phylo-libpll: %s\n", e.what());
    return 1;
  }
}
