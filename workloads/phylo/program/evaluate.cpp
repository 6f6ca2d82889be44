// SPDX-License-Identifier: Apache-2.0
// `tutti-phylo evaluate`: the log-likelihood of a tree with its branch lengths.
#include <fmt/format.h>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "workloads/phylo/program/commands.hpp"
#include "workloads/phylo/program/setting.hpp"

namespace tutti::phylo::program {
namespace {

struct options : likelihood_setting {
  bool json = false;
};

int run(const options& o) {
  data d(o.input);
  const kernels& loops = o.workers.loops();
  const auto workers = o.workers.make();
  likelihood l(*workers, d.tree, d.patterns, d.model, {.loops = &loops});
  const double value = l.log_likelihood();
  if (!o.json) {
    fmt::print("{} taxa, {} sites, {} patterns\nlog-likelihood {:.9f}\n", d.columns.taxa(),
               d.columns.sites(), d.patterns.patterns, value);
    return cli::success;
  }
  const cli::json line{
      {"type", "likelihood"},       {"log_likelihood", value},         {"taxa", d.columns.taxa()},
      {"sites", d.columns.sites()}, {"patterns", d.patterns.patterns}, {"model", o.input.model},
      {"simd", loops.name}};
  fmt::print("{}\n", line.dump());
  return cli::success;
}

}  // namespace

void add_evaluate(cli::command& app) {
  auto sub = add_likelihood_command<options>(
      app, "evaluate", "Computes the log-likelihood of a tree with its lengths", run);
  sub.add_flag("--json", sub->json, "Print one JSON object");
}

}  // namespace tutti::phylo::program
