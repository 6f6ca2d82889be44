// SPDX-License-Identifier: Apache-2.0
// `tutti-phylo optimize`: finds the best lengths of all branches, several times, and times it.
#include "workloads/phylo/optimize.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/result_line.hpp"
#include "src/graph/write/atomic_file.hpp"
#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/program/commands.hpp"
#include "workloads/phylo/program/setting.hpp"

namespace tutti::phylo::program {
namespace {

using clock = std::chrono::steady_clock;

struct options : likelihood_setting {
  std::string start = "reset", regions = "fused", output;
  double length = 0.1, epsilon = 1e-3;
  unsigned repeat = 5;
  bool json = false;
};

struct run_record {
  // The nanoseconds of each repetition.
  std::vector<double> ns;
  // The counts of one repetition; all repetitions are alike.
  work_counts counts;
  optimize_result result;
  unsigned ranks = 0;
};

// Prints a line on standard error every ten seconds.
class progress {
 public:
  void update(unsigned repetition, unsigned cycle, double log_likelihood) {
    const auto now = clock::now();
    if (now - last_ < std::chrono::seconds(10)) return;
    last_ = now;
    fmt::print(stderr, "tutti-phylo: repetition {}, cycle {}, log-likelihood {:.3f}\n",
               repetition + 1, cycle, log_likelihood);
  }

 private:
  clock::time_point last_ = clock::now();
};

run_record optimize(const options& o, data& d) {
  const kernels& loops = o.workers.loops();
  const auto workers = o.workers.make();
  likelihood l(*workers, d.tree, d.patterns, d.model,
               {.loops = &loops, .separate = o.regions == "separate"});
  const std::vector<double> start =
      o.start == "tree" ? d.tree.lengths() : std::vector<double>(d.tree.edges.size(), o.length);
  run_record record;
  record.ranks = workers->size();
  progress shown;
  for (unsigned repetition = 0; repetition < o.repeat; ++repetition) {
    const work_counts before = l.counts();
    optimize_options how;
    how.epsilon = o.epsilon;
    how.progress = [&](unsigned cycle, double value) { shown.update(repetition, cycle, value); };
    const auto begin = clock::now();
    l.set_all_lengths(start);
    record.result = optimize_lengths(l, how);
    record.ns.push_back(std::chrono::duration<double, std::nano>(clock::now() - begin).count());
    record.counts = {l.counts().regions - before.regions, l.counts().reductions - before.reductions,
                     l.counts().partials - before.partials};
  }
  return record;
}

double per_second(std::uint64_t count, double ns) { return static_cast<double>(count) * 1e9 / ns; }

std::string line_of(const options& o, const data& d, const run_record& r) {
  const bench::summary s = bench::summarize(r.ns);
  return cli::result_line(
      {{"benchmark", "phylo"},
       {"provider", "tutti"},
       {"name", o.workers.name()},
       {"wait", o.workers.wait},
       {"threads", o.workers.threads},
       {"ranks", r.ranks},
       {"metric", "wall"},
       {"unit", "ns"},
       {"min", s.min},
       {"median", s.median},
       {"max", s.max},
       {"samples", s.samples},
       {"values", r.ns},
       {"taxa", d.columns.taxa()},
       {"sites", d.columns.sites()},
       {"patterns", d.patterns.patterns},
       {"model", o.input.model},
       {"rates_by_site", d.model.by_site()},
       {"simd", o.workers.loops().name},
       {"steps", o.regions},
       {"cycles", r.result.cycles},
       {"converged", r.result.converged},
       {"regions", r.counts.regions},
       {"reductions", r.counts.reductions},
       // Each region ends with a barrier; in a region with a reduction it is the same one.
       {"barriers", r.counts.regions},
       {"partials", r.counts.partials},
       {"regions_per_second", per_second(r.counts.regions, s.median)},
       {"reductions_per_second", per_second(r.counts.reductions, s.median)},
       {"barriers_per_second", per_second(r.counts.regions, s.median)},
       {"log_likelihood", r.result.log_likelihood}});
}

void print_text(const data& d, const run_record& r) {
  const bench::summary s = bench::summarize(r.ns);
  fmt::print("{} taxa, {} sites, {} patterns, {} ranks\n", d.columns.taxa(), d.columns.sites(),
             d.patterns.patterns, r.ranks);
  fmt::print("log-likelihood {:.9f} after {} cycles{}\n", r.result.log_likelihood, r.result.cycles,
             r.result.converged ? "" : ", not converged");
  fmt::print("one optimisation {:.3f} ms (median of {}; {:.3f} to {:.3f})\n", s.median / 1e6,
             s.samples, s.min / 1e6, s.max / 1e6);
  const auto row = [&](const char* what, std::uint64_t count) {
    fmt::print("  {:<12} {:>9}  {:>9.0f} per second\n", what, count, per_second(count, s.median));
  };
  row("regions", r.counts.regions);
  row("reductions", r.counts.reductions);
  row("barriers", r.counts.regions);
}

void print_json(const options& o, const data& d, const run_record& r, const bench::noise& others) {
  cli::json machine = bench::describe_machine();
  machine["foreign_load"] = others.foreign_load;
  machine["steal"] = others.steal;
  fmt::print("{}\n{}", machine.dump(), line_of(o, d, r));
}

int run(const options& o) {
  data d(o.input, o.length);
  // A place where nothing can be written is reported before the computation.
  std::optional<graph::atomic_file> file;
  if (!o.output.empty()) file.emplace(o.output);
  const bench::processor_time begin = bench::read_processor_time();
  const run_record record = optimize(o, d);
  if (o.json) {
    print_json(o, d, record, bench::noise_between(begin, bench::read_processor_time()));
  } else {
    print_text(d, record);
  }
  // A failure to write the file does not lose the result.
  std::fflush(stdout);
  if (file) {
    file->stream() << to_newick(d.tree);
    file->commit();
  }
  return cli::success;
}

}  // namespace

void add_optimize(cli::command& app) {
  auto sub = add_likelihood_command<options>(
      app, "optimize", "Finds the best lengths of all branches, and times it", run);
  sub.add_option("--start", sub->start, "Lengths at the start: reset (all --length), tree")
      .one_of({"reset", "tree"})
      .show_default();
  sub.add_option("--length", sub->length,
                 "Length of every branch at the start; with --start tree, of those that have none")
      .between(least_length, most_length)
      .show_default();
  sub.add_option("--epsilon", sub->epsilon, "End when a cycle improves the log-likelihood by less")
      .between(1e-9, 1e3)
      .show_default();
  sub.add_option("--repeat", sub->repeat, "Number of optimisations, each from the start")
      .between(1u, 1000000u)
      .show_default();
  sub.add_option("--regions", sub->regions,
                 "fused: one region per derivative; separate: one per step")
      .one_of({"fused", "separate"})
      .show_default();
  sub.add_option("--output", sub->output, "Write the tree with its new lengths to this file")
      .value_name("FILE");
  sub.add_flag("--json", sub->json,
               "Print two JSON objects, one per line: the machine, the result");
}

}  // namespace tutti::phylo::program
