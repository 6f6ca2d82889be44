// SPDX-License-Identifier: Apache-2.0
// `tutti-phylo simulate`: makes an alignment that evolved along a random tree.
#include "workloads/phylo/simulate.hpp"

#include <fmt/format.h>

#include "cli/errors.hpp"
#include "src/graph/write/atomic_file.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/program/commands.hpp"
#include "workloads/phylo/program/setting.hpp"

namespace tutti::phylo::program {
namespace {

struct options {
  std::size_t taxa = 0;
  double mean_length = 0.05;
  std::string tree, model = "GTR{1,2.5,1,1,2.5,1}+F{0.3,0.2,0.2,0.3}+G4{0.7}", output;
  simulate_options how;
};

int run(const options& o) {
  if (o.tree.empty() == (o.taxa == 0)) {
    throw std::invalid_argument("one of --taxa and --tree is needed");
  }
  const model_text text = model_of_option(o.model);
  const tree t = o.tree.empty() ? random_tree(o.taxa, o.mean_length, o.how.seed)
                                : parse_newick(read_file(o.tree), o.tree);
  // A place where nothing can be written is reported before the computation.
  graph::atomic_file columns(o.output + ".phy"), tree_file(o.output + ".nwk");
  const alignment a = simulate(t, model(text.parameters, text.rates), o.how);
  columns.stream() << to_phylip(a);
  tree_file.stream() << to_newick(t);
  columns.commit();
  tree_file.commit();
  fmt::print("{0}.phy: {1} taxa, {2} sites, {3} patterns; {0}.nwk: their tree\n", o.output,
             a.taxa(), a.sites(), compress(a, t).patterns);
  return cli::success;
}

}  // namespace

void add_simulate(cli::command& app) {
  cli::subcommand<options> sub(app, "simulate",
                               "Makes an alignment that evolved along a random tree", run);
  sub.add_option("--taxa", sub->taxa, "Number of taxa of a random tree").between(3, 1000000);
  sub.add_option("--mean-length", sub->mean_length, "Mean length of the branches of a random tree")
      .between(1e-6, 10.0)
      .show_default();
  sub.add_option("--tree", sub->tree, "Tree in Newick, instead of a random tree")
      .value_name("FILE");
  sub.add_option("--model", sub->model, "Model, as for `evaluate`").show_default();
  const cli::option sites = sub.add_option("--sites", sub->how.sites, "Number of columns")
                                .between(1, 100000000)
                                .show_default();
  sub.add_option("--patterns", sub->how.patterns, "Add columns until this many are different")
      .between(1, 10000000)
      .excludes(sites);
  sub.add_option("--gaps", sub->how.gaps, "Share of characters that are lost")
      .between(0.0, 0.99)
      .show_default();
  sub.add_option("--seed", sub->how.seed, "Seed; the same seed gives the same files")
      .show_default();
  sub.add_option("--output", sub->output, "Write PREFIX.phy and PREFIX.nwk")
      .required()
      .value_name("PREFIX");
}

}  // namespace tutti::phylo::program
