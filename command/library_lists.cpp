// SPDX-License-Identifier: Apache-2.0
// What `tutti info` prints of the library's lists.
#include "command/library_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tutti/platform/names.hpp"
#include "tutti/reduce/list.hpp"
#include "tutti/registry.hpp"
#include "tutti/termination/list.hpp"

namespace tutti::command {
namespace {

using cells = std::vector<std::string_view>;

// Prints a table of Markdown: the heads of its columns, and for each item of a list its name and
// the cells that cells_of(item) returns.
template <class List, class CellsOf>
void print_table(const cells& heads, const List& list, CellsOf cells_of) {
  fmt::print("| {} |\n", fmt::join(heads, " | "));
  for (std::size_t i = 0; i < heads.size(); ++i) fmt::print("|---");
  fmt::print("|\n");
  for (const auto& item : list)
    fmt::print("| `{}` | {} |\n", item.name, fmt::join(cells_of(item), " | "));
}

// The tables of docs/barriers.md, waiting.md and messages.md.
void print_algorithms() {
  print_table({"name", "what it is", "cost", "use it when", "not when", "source"}, algorithms,
              [](const auto& a) {
                return cells{a.summary, a.cost, a.use_when, a.avoid_when, a.source};
              });
}
void print_waits() {
  print_table({"policy", "what it does", "best when", "fails when"}, wait_policies,
              [](const auto& w) {
                return cells{w.summary, w.best_when, w.fails_when};
              });
}
void print_detectors() {
  print_table({"detector", "what it is", "an episode without messages costs", "use it"}, detectors,
              [](const auto& d) {
                return cells{d.summary, d.cost, d.use_when};
              });
}
// The table of docs/reductions.md, which names no code in its first column.
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

// An array of the objects that object_of(item) makes of a list's items.
template <class List, class ObjectOf>
cli::json rows_of(const List& list, ObjectOf object_of) {
  cli::json rows = cli::json::array();
  for (const auto& item : list) rows.push_back(object_of(item));
  return rows;
}

}  // namespace

void add_lists(cli::json& to) {
  to["wait_policies"] = rows_of(wait_policies, [](const auto& w) {
    return cli::json{{"name", w.name}, {"summary", w.summary}, {"available", w.available()}};
  });
  to["detectors"] = rows_of(detectors, [](const auto& d) {
    return cli::json{{"name", d.name},
                     {"summary", d.summary},
                     {"cost", d.cost},
                     {"use_when", d.use_when},
                     {"between_processes", d.is_protocol}};
  });
  to["reductions"] = rows_of(reductions, [](const auto& r) {
    return cli::json{
        {"name", r.name}, {"summary", r.summary}, {"cost", r.cost}, {"use_when", r.use_when}};
  });
  to["algorithms"] = rows_of(algorithms, [](const auto& a) {
    return cli::json{{"name", a.name}, {"summary", a.summary},   {"source", a.source},
                     {"cost", a.cost}, {"use_when", a.use_when}, {"avoid_when", a.avoid_when}};
  });
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
