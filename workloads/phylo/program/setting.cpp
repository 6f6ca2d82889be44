// SPDX-License-Identifier: Apache-2.0
// Turns options into data and teams.
#include "workloads/phylo/program/setting.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/newick.hpp"

namespace tutti::phylo::program {
namespace {

constexpr unsigned most_ranks = 4096;

const std::map<std::string, platform::placement>& placements() {
  static const std::map<std::string, platform::placement> all{
      {"compact", platform::placement::compact},
      {"spread", platform::placement::spread},
      {"none", platform::placement::none}};
  return all;
}

model make_model(const data_setting& s, const std::optional<site_rates>& rates) {
  const model_text text = model_of_option(s.model);
  if (!rates) return model(text.parameters, text.rates);
  if (text.rates.size() > 1) {
    throw std::invalid_argument(
        "--rates-file: gives each site one rate; the model must not have +G");
  }
  return model::with_rates_by_site(text.parameters, rates->rates);
}

std::optional<site_rates> read_rates(const data_setting& s, std::size_t sites) {
  if (s.rates_file.empty()) return std::nullopt;
  return parse_site_rates(read_file(s.rates_file), s.rates_file, sites);
}

}  // namespace

void data_setting::add(cli::command& app) {
  app.add_option("--alignment", alignment, "Alignment in PHYLIP (relaxed) or FASTA")
      .required()
      .value_name("FILE");
  app.add_option("--tree", tree, "Tree of the same taxa in Newick").required().value_name("FILE");
  app.add_option("--model", model,
                 "JC, K80{k}, HKY{k} or GTR{ac,ag,at,cg,ct,gt}; then +F{a,c,g,t} and +G4{alpha}")
      .show_default();
  app.add_option("--rates-file", rates_file, "File with a rate for each site, instead of +G (CAT)")
      .value_name("FILE");
}

data::data(const data_setting& s, std::optional<double> default_length)
    : columns(parse_alignment(read_file(s.alignment), s.alignment)),
      tree(parse_newick(read_file(s.tree), s.tree, default_length)),
      model(phylo::substitution{}) {
  const std::optional<site_rates> rates = read_rates(s, columns.sites());
  model = make_model(s, rates);
  if (rates) {
    patterns = compress(columns, tree, rates->rate_of_site, s.alignment, s.tree);
  } else {
    patterns = compress(columns, tree, {}, s.alignment, s.tree);
  }
}

void team_setting::add(cli::command& app) {
  app.add_option("--threads", threads, "Kernel threads; 0: one per core")
      .between(0u, most_ranks)
      .show_default();
  app.add_option("--ranks", ranks, "Ranks, if more than threads; 0: one per thread")
      .between(0u, most_ranks)
      .show_default();
  app.add_option("--barrier", barrier,
                 "A barrier that `tutti info` lists (default: tutti's choice)")
      .value_name("NAME");
  app.add_option("--wait", wait, "A wait policy that `tutti info` lists")
      .value_name("NAME")
      .show_default();
  app.add_option("--sums", sums, "How the caller adds at a named barrier: vector, plain")
      .one_of({"vector", "plain"})
      .show_default();
  app.add_option("--fan", fan,
                 "Without --barrier: the number of threads from which one collects, a power of two")
      .between(2u, most_ranks)
      .show_default();
  std::vector<std::string> places;
  for (const auto& [name, where] : placements()) places.push_back(name);
  app.add_option("--place", place, "Placement of the threads: compact, spread, none")
      .one_of(places)
      .show_default();
  app.add_option("--simd", simd, "Instruction set: best, avx512, avx2, ..., portable")
      .value_name("NAME")
      .show_default();
}

std::unique_ptr<team> team_setting::make() const {
  team_options o;
  o.threads = threads;
  o.ranks = ranks;
  o.barrier = barrier;
  o.wait = wait;
  o.vector_sums = sums == "vector";
  o.fan = fan;
  o.place = placements().at(place);
  // The check is off because ranks allocate the memory on which they compute, and locks of the
  // allocator and of page tables may block them for a moment.
  o.fibers.checks = false;
  return std::make_unique<team>(o);
}

std::string team_setting::name() const {
  if (!barrier.empty()) return sums == "plain" ? barrier + "_plain" : barrier;
  return fan == team_options{}.fan ? "default" : fmt::format("default_fan_{}", fan);
}

const kernels& team_setting::loops() const {
  try {
    return choose_kernels(simd);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--simd: {}", e.what()));
  }
}

model_text model_of_option(const std::string& text) {
  try {
    return parse_model(text);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--model: {}", e.what()));
  }
}

}  // namespace tutti::phylo::program
