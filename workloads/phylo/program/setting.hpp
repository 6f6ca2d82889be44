// SPDX-License-Identifier: Apache-2.0
// The options that the subcommands share: the data, and the team that computes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "tutti/team/team.hpp"
#include "workloads/phylo/kernels.hpp"
#include "workloads/phylo/likelihood.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/patterns.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo::program {

struct data_setting {
  std::string alignment, tree, model = "JC", rates_file;

  void add(cli::command& app);
};

struct data {
  // A branch of the tree without a length gets `default_length`, and is refused if there is none.
  explicit data(const data_setting& s, std::optional<double> default_length = std::nullopt);

  alignment columns;
  phylo::tree tree;
  phylo::model model;
  pattern_set patterns;
};

struct team_setting {
  unsigned threads = 1, ranks = 0;
  std::string barrier, wait = "adaptive", sums = "vector", place = "compact", simd = "best";
  unsigned fan = team_options{}.fan;

  void add(cli::command& app);
  std::unique_ptr<team> make() const;
  // The name that --json lines give to this choice of barrier, sums and fan.
  std::string name() const;
  const kernels& loops() const;
};

// What the subcommands have in common that compute a likelihood.
struct likelihood_setting {
  data_setting input;
  team_setting workers;

  void add(cli::command& app) {
    input.add(app);
    workers.add(app);
  }
};

// Adds a subcommand with these options and its own.
template <class Options>
cli::subcommand<Options> add_likelihood_command(cli::command& app, const std::string& name,
                                                const std::string& description,
                                                int (*run)(const Options&)) {
  cli::subcommand<Options> made(app, name, description, run);
  made->add(made);
  return made;
}

// Parses the model of an option; the error names the option.
model_text model_of_option(const std::string& text);

}  // namespace tutti::phylo::program
