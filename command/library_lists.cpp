// SPDX-License-Identifier: Apache-2.0
// What `tutti info` prints of the library's lists.
#include "command/library_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tutti/platform/names.hpp"
#include "tutti/reduce/list.hpp"
#include "tutti/registry.hpp"
#include "tutti/termination/list.hpp"

namespace tutti::command {
namespace {

// The tables of docs/barriers.md, waiting.md, messages.md and reductions.md.
void print_algorithms() {
  fmt::print(
      "| name | what it is | cost | use it when | not when | source "
      "|\n|---|---|---|---|---|---|\n");
  for (const auto& a : algorithms) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", a.name, a.summary, a.cost, a.use_when,
               a.avoid_when, a.source);
  }
}
void print_waits() {
  fmt::print("| policy | what it does | best when | fails when |\n|---|---|---|---|\n");
  for (const auto& w : wait_policies)
    fmt::print("| `{}` | {} | {} | {} |\n", w.name, w.summary, w.best_when, w.fails_when);
}
void print_detectors() {
  fmt::print(
      "| detector | what it is | an episode without messages costs | use it "
      "|\n|---|---|---|---|\n");
  for (const auto& d : detectors)
    fmt::print("| `{}` | {} | {} | {} |\n", d.name, d.summary, d.cost, d.use_when);
}
void print_reductions() {
  fmt::print(
      "| algorithm | what it is | when tutti chooses it | critical path | file "
      "|\n|---|---|---|---|---|\n");
  for (const auto& r : reductions)
    fmt::print("| {0} | {1} | {2} | {3} | `reduce/{0}.hpp` |\n", r.name, r.summary, r.use_when,
               r.cost);
}

struct markdown_table {
  const char* name;
  void (*print)();
};
constexpr std::array markdown_tables{
    markdown_table{"algorithms", &print_algorithms}, markdown_table{"waits", &print_waits},
    markdown_table{"detectors", &print_detectors}, markdown_table{"reductions", &print_reductions}};

}  // namespace

void add_lists(cli::json& to) {
  to["wait_policies"] = cli::json::array();
  for (const auto& w : wait_policies) {
    to["wait_policies"].push_back(
        {{"name", w.name}, {"summary", w.summary}, {"available", w.available()}});
  }
  to["detectors"] = cli::json::array();
  for (const auto& d : detectors) {
    to["detectors"].push_back({{"name", d.name},
                               {"summary", d.summary},
                               {"cost", d.cost},
                               {"use_when", d.use_when},
                               {"between_processes", d.is_protocol}});
  }
  to["reductions"] = cli::json::array();
  for (const auto& r : reductions) {
    to["reductions"].push_back(
        {{"name", r.name}, {"summary", r.summary}, {"cost", r.cost}, {"use_when", r.use_when}});
  }
  to["algorithms"] = cli::json::array();
  for (const auto& a : algorithms) {
    to["algorithms"].push_back({{"name", a.name},
                                {"summary", a.summary},
                                {"source", a.source},
                                {"cost", a.cost},
                                {"use_when", a.use_when},
                                {"avoid_when", a.avoid_when}});
  }
}

void print_lists() {
  fmt::print("\nWait policies\n");
  for (const auto& w : wait_policies) {
    fmt::print("  {:<16} {:<4} {}\n", w.name, w.available() ? "yes" : "no", w.summary);
  }
  std::size_t width = 0;
  for (const auto& a : algorithms) width = std::max(width, a.cost.size());
  fmt::print("\nAlgorithms\n  {:<16} {:<{}} {}\n", "name", "cost", width, "use when");
  for (const auto& a : algorithms) {
    fmt::print("  {:<16} {:<{}} {}\n", a.name, a.cost, width, a.use_when);
  }
  fmt::print("\nReductions\n");
  for (const auto& r : reductions) fmt::print("  {:<16} {}\n", r.name, r.summary);
  fmt::print("\nDetectors of termination\n");
  for (const auto& d : detectors) fmt::print("  {:<16} {}\n", d.name, d.summary);
}

void print_markdown(const std::string& name) {
  const markdown_table* table = tutti::detail::find_by_name(markdown_tables, name);
  if (table == nullptr)
    throw std::invalid_argument(fmt::format("--markdown: '{}' is not one of {}", name,
                                            tutti::detail::names_of(markdown_tables)));
  table->print();
}

std::string names_of_markdown_tables() { return tutti::detail::names_of(markdown_tables); }

}  // namespace tutti::command
