// SPDX-License-Identifier: Apache-2.0
#include "graph_apps/program/page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bench/harness/statistics.hpp"
#include "graph_apps/apps/common.hpp"
#include "graph_apps/program/contest.hpp"
#include "tutti/graph/generate.hpp"

namespace tutti::graph_apps {
namespace {

// A table of which each row but the first cell may be missing.
class page_table {
 public:
  explicit page_table(const std::vector<std::string>& heads) : columns_(heads.size()) {
    add(heads);
    text_ += "|---|";
    for (std::size_t i = 1; i < columns_; ++i) text_ += "--:|";
    text_ += "\n";
  }
  void add(const std::vector<std::string>& cells) {
    text_ += "|";
    for (std::size_t i = 0; i < columns_; ++i)
      text_ += i < cells.size() ? " " + cells[i] + " |" : " |";
    text_ += "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  std::string text_;
};

std::string quoted(const std::string& code) { return "`" + code + "`"; }
std::string millions(double n) { return fmt::format("{:.1f} M", n / 1e6); }
std::string milliseconds(double s) { return fmt::format("{:.1f}", s * 1e3); }
std::string counted(std::uint64_t n) {
  return n < 1'000'000 ? fmt::format("{}", n) : millions(static_cast<double>(n));
}

const contender& named(const std::vector<contender>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == name; });
}

graph::csr weighted_graph_of(const std::string& rule, rank_t threads) {
  graph::csr g = graph_of(rule, threads);
  if (!g.weighted()) graph::set_random_weights(g, graph::weight_kind::integer, 1, 255, 1);
  return g;
}

// The one graph of a table of applications, with weights for those that read them. A form has none.
class graph_of_page {
 public:
  explicit graph_of_page(const page_plan& plan) {
    if (plan.is_form) return;
    plain_ = graph_of(plan.graphs.at(0), plan.threads);
    weighted_ = weighted_graph_of(plan.graphs.at(0), plan.threads);
  }
  const graph::csr& of(const std::string& application) const {
    return application == "sssp" ? weighted_ : plain_;
  }

 private:
  graph::csr plain_, weighted_;
};

std::vector<rank_t> one_and(rank_t most) {
  if (most > 1) return {1, most};
  return {1};
}
std::string in_words(rank_t threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

// What the runs of an application had in the median, and what it counted.
struct median_run {
  double run = 0, cut = 0;
  graph::engine_statistics statistics;
};
class runs {
 public:
  runs(const std::string& application, const graph::csr& g, settings s)
      : graph_(g), settings_(std::move(s)) {
    for (const auto& each : applications())
      if (each.name == application) run_ = each.run;
  }
  void once() {
    const outcome o = run_(graph_, settings_);
    run_seconds_.push_back(o.run_seconds);
    cut_seconds_.push_back(o.cut_seconds);
    statistics_ = o.statistics;
  }
  median_run median() const {
    return {bench::median_of(run_seconds_), bench::median_of(cut_seconds_), statistics_};
  }

 private:
  const graph::csr& graph_;
  settings settings_;
  std::function<outcome(const graph_input&, const settings&)> run_;
  std::vector<double> run_seconds_, cut_seconds_;
  graph::engine_statistics statistics_;
};
void take_turns(std::vector<runs>& all, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) all[(round + i) % all.size()].once();
}

}  // namespace

std::string pagerank_table(const page_plan& plan) {
  const std::vector<rank_t> threads = one_and(plan.threads);
  std::vector<std::string> heads{"graph", "edges"};
  for (const rank_t n : threads)
    for (const char* head : {"pull", "sync, 4 bytes", "of it", "sync, 8 bytes", "of it"})
      heads.push_back(std::string(head) == "pull" ? in_words(n) + ": pull" : head);
  page_table table(heads);
  for (const auto& name : plan.graphs) {
    std::vector<std::string> cells{quoted(name)};
    if (!plan.is_form) {
      const graph::csr g = graph_of(name, plan.threads);
      cells.push_back(millions(static_cast<double>(g.edges())));
      for (const rank_t n : threads) {
        auto all = pagerank_contenders(g, n, plan.iterations);
        std::erase_if(all,
                      [](const auto& c) { return c.name == "async" || c.name == "sequential"; });
        take_turns(all, plan.rounds);
        const contender& pull = named(all, "pull");
        cells.push_back(fmt::format("{:.0f}", pull.edges / pull.median() / 1e6));
        for (const char* each : {"sync_single", "sync"}) {
          const double seconds = named(all, each).median();
          cells.push_back(fmt::format("{:.0f}", pull.edges / seconds / 1e6));
          cells.push_back(fmt::format("{:.2f}", pull.median() / seconds));
        }
      }
    }
    table.add(cells);
  }
  return table.text();
}

std::string paths_table(const page_plan& plan) {
  page_table table({"graph", "edges", "delta-stepping", "sync", "async", "Dijkstra, 1 thread"});
  for (const auto& name : plan.graphs) {
    std::vector<std::string> cells{quoted(name)};
    if (!plan.is_form) {
      const graph::csr g = weighted_graph_of(name, plan.threads);
      cells.push_back(millions(static_cast<double>(g.edges())));
      auto all = paths_contenders(g, plan.threads);
      take_turns(all, plan.rounds);
      for (const char* each : {"delta_stepping", "sync", "async", "sequential"})
        cells.push_back(milliseconds(named(all, each).median()));
    }
    table.add(cells);
  }
  return table.text();
}

std::string applications_table(const page_plan& plan) {
  page_table table({"application", "messages, sync", "messages, async", "sequential",
                    "sync, 1 thread", "sync, " + in_words(plan.threads), "async"});
  struct row {
    std::string text, application;
    std::uint64_t steps = 0;
    graph::vertex_t sources = 0;
  };
  const row rows[] = {{"`pagerank --iterations 20`", "pagerank", 20},
                      {"`heat --iterations 20`", "heat", 20},
                      {"`mssp --sources 64`", "mssp", 0, 64},
                      {"`spiking --time 200`", "spiking", 200},
                      {"`sssp`, weights 1 to 255", "sssp", 0, 1}};
  const graph_of_page graphs(plan);
  for (const row& each : rows) {
    std::vector<std::string> cells{each.text};
    if (!plan.is_form) {
      settings s;
      s.steps = each.steps;
      s.sources.resize(each.sources);
      std::iota(s.sources.begin(), s.sources.end(), 0);
      std::vector<runs> all;
      const auto add = [&](mode m, rank_t threads) {
        s.mode = m;
        s.run.threads = threads;
        all.emplace_back(each.application, graphs.of(each.application), s);
      };
      add(mode::sequential, 1);
      add(mode::sync, 1);
      add(mode::sync, plan.threads);
      add(mode::async, plan.threads);
      take_turns(all, plan.rounds);
      cells.push_back(counted(all[2].median().statistics.messages()));
      cells.push_back(counted(all[3].median().statistics.messages()));
      for (const runs& r : all) cells.push_back(milliseconds(r.median().run));
    }
    table.add(cells);
  }
  return table.text();
}

std::string combining_table(const page_plan& plan) {
  page_table table({"application", "packets", "combined", "cut", "combined", "run", "combined"});
  struct row {
    std::string text, application;
    graph_apps::mode mode = mode::sync;
  };
  const row rows[] = {{"`pagerank`", "pagerank"},
                      {"`bfs`", "bfs"},
                      {"`components`", "components"},
                      {"`sssp --mode async`", "sssp", mode::async}};
  const graph_of_page graphs(plan);
  for (const row& each : rows) {
    std::vector<std::string> cells{each.text};
    if (!plan.is_form) {
      settings s;
      s.mode = each.mode;
      s.run.threads = plan.threads;
      s.sources = {0};
      const graph::csr& g = graphs.of(each.application);
      std::vector<runs> all;
      all.emplace_back(each.application, g, s);
      s.run.engine.combine = true;
      all.emplace_back(each.application, g, s);
      take_turns(all, plan.rounds);
      const median_run apart = all[0].median(), combined = all[1].median();
      cells.push_back(fmt::format("{}", apart.statistics.packets));
      cells.push_back(fmt::format("{}", combined.statistics.packets));
      for (const double seconds : {apart.cut, combined.cut, apart.run, combined.run})
        cells.push_back(milliseconds(seconds));
    }
    table.add(cells);
  }
  return table.text();
}

}  // namespace tutti::graph_apps
