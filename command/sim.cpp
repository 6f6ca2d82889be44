// SPDX-License-Identifier: Apache-2.0
// `tutti sim`: barriers, teams and reductions on simulated machines.
#include "command/sim.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/harness/statistics.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/result_line.hpp"
#include "command/subcommands.hpp"
#include "graph_apps/settings.hpp"
#include "sim/measure.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::command {

sim::settings settings_of(const sim_options& o) {
  sim::settings with;
  for (const std::string& text : o.set) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0)
      throw std::invalid_argument("--set needs KEY=NUMBER, such as line.hold=30, not '" + text +
                                  "'");
    const double value = cli::parse_number("--set", text.substr(at + 1), 0, 1e12);
    if (!with.emplace(text.substr(0, at), value).second)
      throw std::invalid_argument("--set replaces " + text.substr(0, at) + " twice");
  }
  return with;
}

std::vector<std::uint32_t> counts_of(const sim_options& o, const char* option,
                                     std::uint32_t otherwise) {
  // More threads than CPUs take turns.
  const std::uint32_t most = 4096;
  if (!o.threads) return {otherwise};
  return cli::parse_counts(option, *o.threads, most);
}

double poll_gap_of(const sim_options& o, const sim::machine& m) {
  return sim::nanoseconds(m.poll_gap_or(o.poll_gap));
}

cli::json with_set(const sim_options& o, cli::json line) {
  if (!o.set.empty()) line["set"] = o.set;
  return line;
}

namespace {

struct row {
  std::string family, name, wait;
  sim::simulated_run run;
};

void print_header(const sim::machine& m, rank_t threads) {
  fmt::print("{}: {}\n{} thread{}, an episode:\n{:<24} {:<9} {:>11} {:>11} {:>11} {:>12} {:>11}\n",
             m.name, m.description, threads, threads == 1 ? "" : "s", "name", "wait", "median ns",
             "least ns", "cycles", "last in-out", "transfers");
}

void print_row(const sim::machine& m, const row& r, double episodes) {
  const bench::summary loop = bench::summarize(r.run.loop);
  // A team's regions have no times of their own from the last arrival on.
  const std::string last = r.run.last_in_last_out.empty()
                               ? "-"
                               : fmt::format("{:.0f}", bench::median_of(r.run.last_in_last_out));
  fmt::print("{:<24} {:<9} {:>11.0f} {:>11.0f} {:>11.0f} {:>12} {:>11.1f}\n", r.name, r.wait,
             loop.median, loop.min, loop.median * m.clock_ghz, last,
             static_cast<double>(r.run.transfers) / episodes);
}

void print_json(const std::string& benchmark, const sim_options& o, const sim::machine& m,
                const row& r, rank_t threads) {
  const auto print = [&](const char* metric, const std::vector<double>& samples) {
    if (samples.empty()) return;
    cli::json line = line_of(o, m, benchmark, r, threads, metric, samples);
    if (benchmark == "sim_reduce") line["operation_ns"] = o.operation;
    fmt::print("{}", cli::result_line(line));
  };
  print("loop", r.run.loop);
  print("last_in_last_out", r.run.last_in_last_out);
}

sim::machine machine_of(const sim_options& o) {
  return sim::find_machine(o.machine, settings_of(o));
}

template <class Run>
int run_rows(const std::string& benchmark, const sim_options& o, const sim::machine& m, Run run) {
  for (const std::uint32_t threads : counts_of(o, "--threads", m.cpus())) {
    const sim::run_plan plan{
        .threads = threads, .episodes = o.episodes, .seed = o.seed, .poll_gap_ns = o.poll_gap};
    // What cannot run is refused before anything is printed.
    bool has_header = o.json;
    run(plan, [&](const row& r) {
      if (!std::exchange(has_header, true)) print_header(m, threads);
      if (o.json)
        print_json(benchmark, o, m, r, threads);
      else
        print_row(m, r, plan.episodes + plan.warm_up);
      std::fflush(stdout);
    });
  }
  return cli::success;
}

int run_contenders(const std::string& benchmark, const sim_options& o, const sim::machine& m,
                   const std::vector<sim::contender>& all) {
  const std::vector<std::string> names = cli::split("--algorithms", o.algorithms);
  return run_rows(benchmark, o, m, [&](const sim::run_plan& plan, const auto& print) {
    for (const sim::contender& who : all)
      if (!sim::is_for_fewer(who, plan.threads, names))
        print({who.family, who.name, who.wait, sim::run(m, who, plan)});
  });
}

int run_barrier(const sim_options& o) {
  const sim::machine m = machine_of(o);
  const std::vector<std::string> names = cli::split("--algorithms", o.algorithms);
  std::vector<sim::contender> all = sim::barriers(names, cli::split("--wait", o.waits));
  sim::remove_without_part(all, names, m);
  return run_contenders("sim_barrier", o, m, all);
}

int run_reduce(const sim_options& o) {
  return run_contenders("sim_reduce", o, machine_of(o),
                        sim::reductions(cli::split("--algorithms", o.algorithms), o.operation));
}

int run_team(const sim_options& o) {
  const sim::machine m = machine_of(o);
  return run_rows("sim_region", o, m, [&](const sim::run_plan& plan, const auto& print) {
    print({"tutti", "team", "adaptive", sim::run_team(m, plan)});
  });
}

int run_machines(const sim_options& o) {
  if (o.show) {
    if (o.machine.empty()) throw std::invalid_argument("--show needs --machine NAME");
    static_cast<void>(sim::find_machine(o.machine));
    fmt::print("{}", sim::description_of(o.machine));
    return cli::success;
  }
  if (!o.machine.empty()) throw std::invalid_argument("--machine needs --show here");
  if (!o.json)
    fmt::print("{:<11} {:>6} {:>6} {:>8} {:>8}  {}\n", "machine", "CPUs", "cores", "nodes", "GHz",
               "description");
  for (const std::string& name : sim::names_of_machines()) {
    const sim::machine m = sim::find_machine(name);
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_machine"},
                                   {"name", name},
                                   {"cpus", m.cpus()},
                                   {"cores", m.all_cores()},
                                   {"nodes", m.nodes},
                                   {"clock_ghz", m.clock_ghz},
                                   {"description", m.description}}
                             .dump());
    else
      fmt::print("{:<11} {:>6} {:>6} {:>8} {:>8.2f}  {}\n", name, m.cpus(), m.all_cores(), m.nodes,
                 m.clock_ghz, m.description);
  }
  return cli::success;
}

template <class List>
std::string names_of(const List& all) {
  std::string names;
  for (const auto& each : all) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

}  // namespace

void add_sim(cli::command& program) {
  auto o = std::make_shared<sim_options>();
  cli::command sim = program.add_subcommand("sim", "Simulate tutti on machines that are not here");
  sim.require_subcommand();
  // The option --json of each subcommand that has one.
  std::map<std::string, cli::option> json;
  const auto add = [&](const char* name, const char* what, int (*run)(const sim_options&),
                       const char* of_json = "One JSON object a line instead of the table") {
    cli::command c = sim.add_subcommand(name, what);
    c.runs([o, run] { return run(*o); });
    if (of_json != nullptr) json.emplace(name, c.add_flag("--json", o->json, of_json));
    return c;
  };
  const auto add_machine = [&](cli::command& c) {
    return c.add_option("--machine", o->machine,
                        "A machine that `tutti sim machines` lists, or a file that describes one");
  };
  const auto add_set = [&](cli::command& c) {
    c.add_option("--set", o->set, "Replaces a number of the description; may be repeated")
        .value_name("KEY=NUMBER");
  };
  const auto add_threads = [&](cli::command& c, const char* what = "Simulated threads, e.g. 2,64",
                               const char* value = "LIST") {
    c.add_option("--threads", o->threads,
                 std::string(what) + "; thread i runs on CPU i (default: the CPUs)")
        .value_name(value);
  };
  const auto add_seed = [&](cli::command& c) {
    c.add_option("--seed", o->seed, "Seed of the random start of each thread").show_default();
  };
  const auto add_poll_gap = [&](cli::command& c) {
    c.add_option("--poll-gap", o->poll_gap,
                 "ns between two polls of tutti's waits (default: the machine's, 40 unless it says "
                 "otherwise)")
        .between(0.0, 1e6);
  };
  const auto add_common = [&](cli::command& c, bool is_one_run = false) {
    add_machine(c).required();
    if (is_one_run)
      add_threads(c, "Simulated threads", "N");
    else
      add_threads(c);
    c.add_option("--episodes", o->episodes, "Episodes after 5 of warm-up")
        .between(2u, 1'000'000u)
        .show_default();
    add_seed(c);
    add_set(c);
    add_poll_gap(c);
  };
  cli::command machines = add("machines", "List the machines", run_machines);
  add_machine(machines);
  machines
      .add_flag("--show", o->show,
                "Print the description of --machine, with the source of each number")
      .excludes(json.at("machines"));
  cli::command barrier = add("barrier", "Barriers: tutti's and those of papers", run_barrier);
  add_common(barrier);
  const auto add_waits = [&](cli::command& c, const char* what, const char* value) {
    c.add_option("--wait", o->waits, what + (": " + names_of(wait_policies)))
        .value_name(value)
        .show_default();
  };
  barrier
      .add_option(
          "--algorithms", o->algorithms,
          "all (tutti's), papers, hardware, or names; the error about an unknown one lists them")
      .value_name("LIST")
      .show_default();
  add_waits(barrier, "Wait policies of tutti's", "LIST");
  cli::command timeline =
      add("timeline",
          "Show what each thread waits for in an episode of a barrier, and whose line it is; "
          "--json prints it for the viewers of Chrome and Perfetto, --page for any browser",
          run_timeline, "One JSON object, for these viewers, instead of the chart");
  timeline.add_flag("--page", o->page, "A page to look at in a browser, which needs no other file")
      .excludes(json.at("timeline"));
  add_common(timeline, true);
  timeline
      .add_option("--algorithms", o->barrier,
                  "The barrier; the error about an unknown name lists them")
      .value_name("NAME")
      .show_default();
  add_waits(timeline, "Its wait policy, if it is one of tutti's", "NAME");
  cli::command reduce = add("reduce", "Reductions of a double over all threads", run_reduce);
  add_common(reduce);
  reduce.add_option("--algorithms", o->algorithms, "all, or default, exchange, tree, counted")
      .value_name("LIST")
      .show_default();
  reduce
      .add_option("--operation", o->operation,
                  "ns that combining two values takes, besides the algorithm's own work")
      .between(0.0, 1e9)
      .show_default();
  cli::command team = add("team", "Empty regions of a team", run_team);
  add_common(team);
  cli::command event = add(
      "event",
      "Notifications: tutti's event, a condition variable, a futex, and what a kernel can do by "
      "interrupts, from the notifier on CPU 0 to receivers on the others",
      run_event);
  add_machine(event).required();
  event
      .add_option("--receivers", o->threads,
                  "Receivers, e.g. 1,8; receiver i waits on CPU i (default: all CPUs but one)")
      .value_name("LIST");
  event
      .add_option("--algorithms", o->algorithms,
                  "all, or names; the error about an unknown one lists them")
      .value_name("LIST")
      .show_default();
  add_waits(event, "Wait policies of the event, or all", "LIST");
  event
      .add_option("--episodes", o->episodes,
                  "Notifications after 5 of warm-up, or one for each receiver")
      .between(2u, 1'000'000u)
      .show_default();
  event
      .add_option("--gap", o->gap,
                  "ns between the return of the last receiver and the next notification (default: "
                  "so long that all receivers wait again)")
      .value_name("NS")
      .between(1.0, 1e9);
  add_seed(event);
  add_poll_gap(event);
  add_set(event);
  cli::command vcode = add("vcode",
                           "Run a VCODE program whose threads all interpret and meet in a barrier "
                           "after each instruction; what the program prints is dropped",
                           run_vcode);
  vcode.add_option("file", o->file, "A VCODE program, as for `tutti vcode`").required();
  add_machine(vcode).required();
  add_threads(vcode);
  vcode
      .add_option(
          "--algorithms", o->barriers,
          "all (tutti's), papers, hardware, or names; the error about an unknown one lists them")
      .value_name("LIST")
      .show_default();
  add_waits(vcode, "Wait policies of tutti's", "LIST");
  vcode
      .add_option("--instruction", o->instruction,
                  "ns in which a thread interprets an instruction up to its barrier, without the "
                  "elements")
      .value_name("NS")
      .between(0.0, 1e9)
      .show_default();
  vcode
      .add_option("--element", o->element,
                  "ns for an element of a vector, which the threads divide among them")
      .value_name("NS")
      .between(0.0, 1e9)
      .show_default();
  vcode
      .add_option("--most-instructions", o->most_instructions,
                  "The program fails if it executes more; 0: no limit")
      .show_default();
  add_seed(vcode);
  add_poll_gap(vcode);
  add_set(vcode);
  cli::command advise =
      add("advise",
          "Say which barriers, reductions and teams are the fastest for how many threads, and "
          "why; takes a few seconds where there are hundreds of threads",
          run_advise);
  add_machine(advise).required();
  add_set(advise);
  cli::command idle = add("idle",
                          "Round trips of termination detection, in hardware and by a tree of "
                          "threads, on the boards of Naylor et al. 2020",
                          run_idle);
  add_set(idle);
  idle.add_option(
          "--fit", o->fit,
          "First searches the cycles of a thread for a message with which the tree takes so "
          "many times as long as the hardware")
      .value_name("RATIO")
      .between(1.0, 1e6);
  idle.add_flag("--show", o->show, "Also print the numbers of the boards, with their sources")
      .excludes(json.at("idle"));
  cli::command graph =
      add("graph", "Run a graph application on the boards of Naylor et al. 2020", run_boards_graph);
  graph
      .add_option("application", o->application,
                  "An application of tutti graph: " + names_of(graph_apps::applications()))
      .required();
  graph
      .add_option("graph", o->graph,
                  "A generator without its seed, e.g. geometric:vertices=4096,degree=20")
      .required();
  graph.add_option("--mode", o->modes, "sync, async, or sync,async for both")
      .value_name("LIST")
      .show_default();
  graph
      .add_option("--iterations", o->iterations,
                  "Steps of applications that have a number of them (default: 10)")
      .value_name("N");
  graph.add_option("--sources", o->sources, "Sources of mssp (default: 64)").value_name("N");
  graph.add_option("--seeds", o->seeds, "Graphs, by the seeds 1, 2, ...")
      .between(1u, 1000u)
      .show_default();
  add_set(graph);
  add_sim_network(sim);
  cli::command sweep = add("sweep",
                           "Compare what tutti chooses if a program names no algorithm with what "
                           "else it could choose, for many numbers of threads",
                           run_sweep);
  sweep.add_option("--machines", o->machines, "Only these machines").value_name("LIST");
  sweep.add_option("--threads", o->threads, "Only these numbers of threads").value_name("LIST");
  sweep.add_flag("--markdown", o->markdown, "Tables of the documentation")
      .excludes(json.at("sweep"));
  add_set(sweep);
  cli::command compare =
      add("compare",
          "Simulate the barriers that `tutti bench barrier --json`, or machine_measure on the RTL "
          "machine, has measured",
          run_compare);
  add_machine(compare);
  compare.add_flag("--markdown", o->markdown, "The table of the errors for the documentation")
      .excludes(json.at("compare"));
  compare.add_flag("--show", o->show, "With --markdown: also each value of the RTL machine");
  add_set(compare);
  compare.add_option("file", o->file, "A file with these lines").required();
  cli::command calibrate =
      add("calibrate", "Describe the machine on which `tutti bench barrier --json` has run",
          run_calibrate, nullptr);
  calibrate.add_option("file", o->file, "A file with the lines of that run").required();
  calibrate.add_option("--cores", o->cores, "Its cores, of one node")
      .between(2u, 512u)
      .show_default();
  const auto add_table = [&](cli::command& c) {
    add_set(c);
    c.add_option("--machines", o->machines, "Only these machines of the table").value_name("LIST");
    c.add_option("--episodes", o->episodes, "Episodes after 5 of warm-up")
        .between(2u, 1'000'000u)
        .show_default();
    c.add_option("--seed", o->seed, "Seed of the random start of each thread, and of a search")
        .show_default();
    return c.add_option("table", o->file,
                        "A table that tutti brings along (`tutti sim published` prints all), or a "
                        "file of lines machine,algorithm,threads,ns,use");
  };
  cli::command published = add("published", "Simulate what papers have printed", run_published);
  add_table(published);
  published
      .add_option("--spread", o->spread,
                  "Where regions work, the work of a thread is up to so many percent more or less")
      .value_name("PERCENT")
      .between(0.0, 100.0)
      .show_default();
  published.add_flag("--markdown", o->markdown, "Tables of the documentation")
      .excludes(json.at("published"));
  cli::command fit = add("fit",
                         "Search the numbers of machines that make the errors of a table small, by "
                         "its values for that use",
                         run_fit);
  add_table(fit).required();
  fit.add_option("--keys", o->keys,
                 "The numbers to search and where to begin, e.g. line.hold=20,line.read_gap; "
                 "without a beginning, the number of the first machine")
      .value_name("LIST")
      .required();
  fit.add_option("--steps", o->steps, "Values to try").between(1u, 100'000u).show_default();
  fit.add_option("--range", o->range,
                 "Search from 1/RANGE of a number to RANGE times it, and after half of the steps "
                 "around the best so far")
      .value_name("RANGE")
      .between(1.0, 1e6)
      .show_default();
}

}  // namespace tutti::command
