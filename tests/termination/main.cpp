// SPDX-License-Identifier: Apache-2.0
// The explorer: visits every state of the termination-detection protocols for a few participants,
// and catches every mutant.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/options.hpp"
#include "tests/termination/explore.hpp"
#include "tests/termination/scenarios.hpp"
#include "tests/termination/simulation.hpp"

namespace tutti::protocol::test {
namespace {

struct options {
  bool scenarios = false, mutants = false, equivalence = false, costs = false;
  bool long_run = false, markdown = false, traces = false;
  std::string only;
  std::uint64_t most_states = 100'000'000;
};

std::string scheme_of(const scenario& s) {
  return s.scheme == release_scheme::epochs ? " epochs" : " phases";
}
std::string size_of(const scenario& s) {
  return fmt::format("n = {}, {} messages, {} episodes{}{}{}", s.participants, s.messages,
                     s.episodes, s.deadlines != 0 ? fmt::format(", {} late", s.deadlines) : "",
                     s.free_votes ? "" : ", rank 0 votes freely",
                     s.disagrees ? ", rank 1 disagrees" : "");
}
std::string text(const scenario& s) { return s.name + scheme_of(s) + ", " + size_of(s); }

void print_row(const options& o, const std::string& row) {
  fmt::print(fmt::runtime(o.markdown ? "| {} |\n" : "{}\n"), row);
  std::fflush(stdout);
}
std::string join(const options& o, std::initializer_list<std::string> cells) {
  return fmt::format("{}", fmt::join(cells, o.markdown ? " | " : "; "));
}

// One row per size and one column per protocol: the number of states, or the violation.
class state_table {
 public:
  void add(const scenario& s, const std::string& cell) {
    const std::string size = size_of(s);
    if (std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) sizes_.push_back(size);
    cells_[size][s.name + scheme_of(s)] = cell;
  }
  void print() const {
    std::vector<std::string> protocols;
    for (const algorithm& a : algorithms)
      for (const char* scheme : {" epochs", " phases"})
        protocols.push_back(std::string(a.name) + scheme);
    fmt::print("| explored | {} |\n|---|", fmt::join(protocols, " | "));
    for (std::size_t i = 0; i < protocols.size(); ++i) fmt::print("--:|");
    for (const std::string& size : sizes_) {
      fmt::print("\n| {} |", size);
      for (const std::string& protocol : protocols) {
        const auto& row = cells_.at(size);
        fmt::print(" {} |", row.contains(protocol) ? row.at(protocol) : "");
      }
    }
    fmt::print("\n");
  }

 private:
  std::vector<std::string> sizes_;
  std::map<std::string, std::map<std::string, std::string>> cells_;
};

bool run_scenarios(const options& o, std::set<std::string>& met) {
  bool good = true;
  std::uint64_t states = 0, steps = 0, quiescent = 0;
  watched::met = &met;
  for (const scenario& s : quick_scenarios())
    for (const rank_t n : {2u, 3u}) explore(of(s.name, s.scheme, n, 1, true), false, 1000);
  // Looking up a set costs more than a step of a machine.
  watched::met = nullptr;
  state_table table;
  for (const scenario& s : o.long_run ? long_scenarios() : quick_scenarios()) {
    if (!o.only.empty() && text(s).find(o.only) == std::string::npos) continue;
    findings f = explore(s, false, o.most_states);
    const bool right = f.violation.empty() && f.complete;
    if (!f.violation.empty()) f = explore(s, true, o.most_states);
    const std::string wrong = f.violation.empty() ? "not finished" : f.violation;
    table.add(s, right ? std::to_string(f.states) : wrong);
    if (!o.markdown)
      print_row(
          o, join(o, {text(s), fmt::format("{} states", f.states), fmt::format("{} steps", f.steps),
                      fmt::format("{} quiescent", f.quiescent), right ? "holds" : wrong}));
    for (const std::string& step : f.trace) fmt::print("    {}\n", step);
    good = good && right;
    states += f.states;
    steps += f.steps;
    quiescent += f.quiescent;
  }
  if (o.markdown) table.print();
  fmt::print("{}{} states, {} steps between them, {} states whose episode must end by itself\n",
             o.markdown ? "\nIn all " : "in all ", states, steps, quiescent);
  return good;
}

bool run_mutants(const options& o, std::set<std::string>& broken) {
  if (o.markdown)
    fmt::print(
        "\n| mistake | at | whose | explored | caught as | after | states "
        "|\n|---|---|---|---|---|--:|--:|\n");
  bool good = true;
  for (const mutant& m : mutants()) {
    broken.insert(m.site);
    if (!o.only.empty() && o.only != m.site) continue;
    watched::broken = m.site;
    const findings f = explore(m.where, true, o.most_states);
    watched::broken = {};
    const bool caught = !f.violation.empty();
    print_row(o, join(o, {m.what, o.markdown ? fmt::format("`{}`", m.site) : m.site, m.whose,
                          text(m.where),
                          caught ? f.violation + (f.by_itself ? ", in the end" : "") : "NOT CAUGHT",
                          fmt::format("{} steps", f.trace.size()), std::to_string(f.states)}));
    if (o.traces)
      for (const std::string& step : f.trace) fmt::print("    {}\n", step);
    good = good && caught;
  }
  return good;
}

bool run_equivalence(const options& o) {
  if (o.markdown)
    fmt::print("\n| compared | histories under epochs | under phases | |\n|---|--:|--:|---|\n");
  bool good = true;
  for (const auto& [epochs, phases] : equivalent_scenarios()) {
    const auto a = histories(epochs), b = histories(phases);
    print_row(o, join(o, {fmt::format("{}, n = {}, {} messages, {} episodes", epochs.name,
                                      epochs.participants, epochs.messages, epochs.episodes),
                          std::to_string(a.size()), std::to_string(b.size()),
                          a == b ? "the same" : "DIFFERENT"}));
    good = good && a == b && !a.empty();
  }
  return good;
}

// A choice that the headers name and no mutant breaks has not been shown to matter.
bool all_broken(const std::set<std::string>& met, const std::set<std::string>& broken) {
  bool good = true;
  for (const std::string& site : met)
    if (!broken.contains(site)) {
      fmt::print("no mutant breaks '{}'\n", site);
      good = false;
    }
  for (const std::string& site : broken)
    if (!met.contains(site)) {
      fmt::print("no machine asks '{}', which a mutant breaks\n", site);
      good = false;
    }
  return good;
}

// The mean over the episodes of a simulation.
struct mean {
  double waves = 0, control = 0, hops = 0, late_waves = 0;

  explicit mean(const simulation_result& r) {
    const auto episodes = static_cast<double>(r.episodes.size());
    for (const episode_cost& e : r.episodes) {
      waves += static_cast<double>(e.waves) / episodes;
      control += static_cast<double>(e.control) / episodes;
      hops += (e.released - e.quiet) / episodes;
      late_waves += static_cast<double>(e.late_waves) / episodes;
    }
  }
};

// The cost of detection on the simulated network, where every control message takes the time L = 1.
void run_costs(const options& o) {
  if (o.markdown)
    fmt::print(
        "\n| algorithm | n | empty: messages | hops | with traffic: waves | messages | hops | "
        "begun too late |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const algorithm& a : algorithms)
    for (const rank_t n : {5u, 17u, 64u}) {
      simulated s;
      s.algorithm = a.name;
      s.participants = n;
      s.episodes = 200;
      s.random_delays = false;
      s.values = false;
      s.messages = 0;
      const mean empty(simulate(s));
      s.messages = 3;
      const mean busy(simulate(s));
      print_row(
          o, join(o, {std::string(a.name), std::to_string(n), fmt::format("{:.0f}", empty.control),
                      fmt::format("{:.1f}", empty.hops), fmt::format("{:.1f}", busy.waves),
                      fmt::format("{:.0f}", busy.control), fmt::format("{:.1f}", busy.hops),
                      fmt::format("{:.1f}", busy.late_waves)}));
    }
}

int run(const options& o) {
  const bool all = !o.scenarios && !o.mutants && !o.equivalence && !o.costs;
  std::set<std::string> met, broken;
  bool good = true;
  if (all || o.scenarios) good = run_scenarios(o, met) && good;
  if (all || o.mutants) good = run_mutants(o, broken) && good;
  if (all && o.only.empty()) good = all_broken(met, broken) && good;
  if (all || o.equivalence) good = run_equivalence(o) && good;
  if (all || o.costs) run_costs(o);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tutti::protocol::test

int main(int argc, char** argv) {
  tutti::protocol::test::options o;
  tutti::cli::program app(
      "Explores the protocols of termination detection: every state of a few participants",
      "tutti_explore");
  app.add_flag("--scenarios", o.scenarios, "run only the protocols as they ship");
  app.add_flag("--mutants", o.mutants, "run only the mistakes made on purpose");
  app.add_flag("--equivalence", o.equivalence,
               "run only the comparison of the two release schemes");
  app.add_flag("--costs", o.costs, "run only the costs on a simulated network");
  app.add_flag("--long", o.long_run, "run the larger scenarios");
  app.add_flag("--markdown", o.markdown, "print tables for docs/termination.md");
  app.add_flag("--traces", o.traces, "print the shortest way to each mutant's mistake");
  app.add_option("--only", o.only,
                 "run scenarios whose description contains this text, and mutants of this site");
  app.add_option("--states", o.most_states, "give up a scenario after this many states");
  return app.run(argc, argv, [&] { return tutti::protocol::test::run(o); });
}
