// SPDX-License-Identifier: Apache-2.0
// `tutti-phylo rates`: estimates a rate for each site, for --rates-file.
#include <fmt/format.h>

#include "workloads/phylo/input.hpp"
#include "workloads/phylo/program/commands.hpp"
#include "workloads/phylo/program/setting.hpp"
#include "workloads/phylo/site_rates.hpp"

namespace tutti::phylo::program {
namespace {

struct options {
  data_setting input;
  team_setting workers;
  unsigned categories = 25;
  std::string output;
};

void run(const options& o) {
  if (!o.input.rates_file.empty()) {
    throw std::invalid_argument("--rates-file: `rates` writes this file and does not read it");
  }
  const data d(o.input);
  const auto workers = o.workers.make();
  const site_rates rates =
      estimate_site_rates(*workers, d.tree, d.columns, d.model.parameters(), o.categories);
  write_file(o.output, to_text(rates));
  fmt::print("{}: {} rates\n", o.output, rates.rate_of_site.size());
}

}  // namespace

void add_rates(cli::command& app, action& chosen) {
  auto o = std::make_shared<options>();
  cli::command sub = app.add_subcommand("rates", "Estimates a rate for each site on a tree");
  o->input.add(sub);
  o->workers.add(sub);
  sub.add_option("--categories", o->categories, "Number of different rates")
      .between(std::size_t{2}, most_site_rates)
      .show_default();
  sub.add_option("--output", o->output, "Write one rate per line to this file")
      .required()
      .value_name("FILE");
  sub.when_used([o, &chosen] { chosen = [o] { run(*o); }; });
}

}  // namespace tutti::phylo::program
