// SPDX-License-Identifier: Apache-2.0
// phylo-libpll ALIGNMENT TREE MODEL RUNTIME THREADS REPEAT EPSILON does with libpll what
// `tutti-phylo optimize --json` does. compare.py runs it. The procedure (order of branches,
// Newton-Raphson, its bounds and its end conditions) is tutti-phylo's.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/compare/libpll_likelihood.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/optimize.hpp"

namespace {

using namespace tutti::phylo;

void optimize(char** argument) {
  const alignment a = parse_alignment(read_file(argument[1]), argument[1]);
  tree t = parse_newick(read_file(argument[2]), argument[2]);
  const model_text text = parse_model(argument[3]);
  const model m(text.parameters, text.rates);
  const pattern_set p = compress(a, t);
  const auto workers =
      compare::make_runtime(argument[4], static_cast<unsigned>(std::stoul(argument[5])));
  compare::libpll_likelihood l(*workers, t, p, m);
  optimize_options how;
  how.epsilon = std::stod(argument[7]);
  for (int i = 0; i < std::stoi(argument[6]); ++i) {
    const auto regions = l.regions();
    const auto begin = std::chrono::steady_clock::now();
    l.set_all_lengths(std::vector<double>(t.edges.size(), 0.1));
    const optimize_result r = optimize_lengths(l, how);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    std::printf("{\"ns\": %.0f, \"log_likelihood\": %.9f, \"cycles\": %u, \"regions\": %llu}\n",
                taken.count(), r.log_likelihood, r.cycles,
                static_cast<unsigned long long>(l.regions() - regions));
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
