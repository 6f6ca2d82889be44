// SPDX-License-Identifier: Apache-2.0
// `tutti-phylo rates`: estimates a rate for each site, for --rates-file.
#include <fmt/format.h>

#include "cli/errors.hpp"
#include "src/graph/write/atomic_file.hpp"
#include "workloads/phylo/program/commands.hpp"
#include "workloads/phylo/program/setting.hpp"
#include "workloads/phylo/site_rates.hpp"

namespace tutti::phylo::program {
namespace {

struct options : likelihood_setting {
  unsigned categories = 25;
  std::string output;
};

int run(const options& o) {
  if (!o.input.rates_file.empty()) {
    throw std::invalid_argument("--rates-file: `rates` writes this file and does not read it");
  }
  const data d(o.input);
  // A place where nothing can be written is reported before the computation.
  graph::atomic_file file(o.output);
  const auto workers = o.workers.make();
  const site_rates rates =
      estimate_site_rates(*workers, d.tree, d.columns, d.model.parameters(), o.categories);
  file.stream() << to_text(rates);
  file.commit();
  fmt::print("{}: {} rates\n", o.output, rates.rate_of_site.size());
  return cli::success;
}

}  // namespace

void add_rates(cli::command& app) {
  auto sub = add_likelihood_command<options>(app, "rates",
                                             "Estimates a rate for each site on a tree", run);
  sub.add_option("--categories", sub->categories, "Number of different rates")
      .between(std::size_t{2}, most_site_rates)
      .show_default();
  sub.add_option("--output", sub->output, "Write one rate per line to this file")
      .required()
      .value_name("FILE");
}

}  // namespace tutti::phylo::program
