// SPDX-License-Identifier: Apache-2.0
// `tutti sim timeline`: what each thread waits for in one episode, and whose line it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "command/sim.hpp"
#include "sim/contenders.hpp"
#include "sim/measure.hpp"

namespace tutti::command {

// The file timeline.html, which CMake writes into a source.
extern const char* const timeline_page;

namespace {

using sim::waiting_time;

struct reason_text {
  char letter;
  const char* name;
};
reason_text text_of(waiting_time::reason why) {
  switch (why) {
    case waiting_time::reason::read: return {'r', "reads"};
    case waiting_time::reason::change: return {'c', "changes"};
    case waiting_time::reason::stores: return {'s', "waits for its stores"};
    case waiting_time::reason::poll: return {'.', "polls"};
    case waiting_time::reason::sleep: return {'z', "sleeps"};
  }
  return {'?', "?"};
}

std::string site_of(const waiting_time& each) {
  return each.site == nullptr ? std::string("line ") + std::to_string(each.line)
                              : std::string(each.site);
}

// The format of Chrome's and Perfetto's viewers: a row for each thread, times in microseconds.
std::string trace(const sim::machine& m, const sim::contender& who, rank_t threads,
                  const std::vector<waiting_time>& waits) {
  const cli::json about{{"machine", m.name}, {"barrier", who.name}, {"threads", threads}};
  std::string text = fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {}, \"traceEvents\": [\n", about.dump());
  for (const waiting_time& each : waits) {
    cli::json told{{"name", fmt::format("{} {}", text_of(each.why).name, site_of(each))},
                   {"cat", text_of(each.why).name},
                   {"ph", "X"},
                   {"pid", 0},
                   {"tid", each.thread},
                   {"ts", sim::nanoseconds(each.begin) / 1e3},
                   {"dur", sim::nanoseconds(each.end - each.begin) / 1e3},
                   {"args", cli::json{{"line", each.line},
                                      {"core", each.core == waiting_time::no_core
                                                   ? std::string("none")
                                                   : std::to_string(each.core)}}}};
    text += told.dump() + ",\n";
  }
  const cli::json name{
      {"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", cli::json{{"name", m.name}}}};
  return text + name.dump() + "\n]}\n";
}

// A page that shows the trace in a browser, without any other file.
std::string page_of(std::string_view trace) {
  const std::string_view page = timeline_page, place = "@DATA@";
  const std::size_t at = page.find(place);
  std::string text(page.substr(0, at));
  for (const char c : trace) {
    // The browser ends a script at the first "</".
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  text += page.substr(at + place.size());
  return text;
}

void print_chart(const sim::machine& m, const sim::contender& who, rank_t threads,
                 const std::vector<waiting_time>& waits, double ns) {
  constexpr std::size_t columns = 80;
  const auto end = std::max<sim::sim_time>(1, std::llround(ns * 1000));
  fmt::print("{}: {}, {} thread{}, {:.0f} ns an episode, {:.1f} ns a column\n", m.name, who.name,
             threads, threads == 1 ? "" : "s", ns, ns / columns);
  fmt::print(
      "r: reads a line; c: changes one; s: waits for its stores; '.': polls; z: sleeps; "
      "=: runs\n");
  std::vector<std::string> rows(threads, std::string(columns, '='));
  struct cost {
    sim::sim_time time = 0;
    std::uint32_t waits = 0;
    std::string site;
    std::map<std::uint32_t, std::uint32_t> cores;
  };
  std::map<std::uint32_t, cost> lines;
  for (const waiting_time& each : waits) {
    const std::size_t first = each.begin * columns / end, last = (each.end * columns - 1) / end;
    for (std::size_t i = first; i <= last && i < columns; ++i)
      rows.at(each.thread)[i] = text_of(each.why).letter;
    // A poll costs nothing until somebody writes.
    if (each.why == waiting_time::reason::poll || each.why == waiting_time::reason::sleep) continue;
    cost& of_line = lines[each.line];
    of_line.time += each.end - each.begin;
    ++of_line.waits;
    if (each.site != nullptr) of_line.site = each.site;
    if (each.core != waiting_time::no_core) ++of_line.cores[each.core];
  }
  for (rank_t thread = 0; thread < threads; ++thread)
    fmt::print("{:>4} {}\n", thread, rows[thread]);
  std::vector<std::pair<sim::sim_time, std::uint32_t>> order;
  for (const auto& [number, each] : lines) order.emplace_back(each.time, number);
  std::sort(order.rbegin(), order.rend());
  constexpr std::size_t most = 10;
  fmt::print("\n{:>6} {:>7} {:>12} {:>14}  {}\n", "line", "waits", "ns in all", "most from core",
             "last operation");
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const cost& each = lines.at(order[i].second);
    const auto busiest =
        std::max_element(each.cores.begin(), each.cores.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    fmt::print("{:>6} {:>7} {:>12.0f} {:>14}  {}\n", order[i].second, each.waits,
               sim::nanoseconds(each.time),
               busiest == each.cores.end() ? std::string("none") : std::to_string(busiest->first),
               each.site);
  }
}

}  // namespace

int run_timeline(const sim_options& o) {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  const sim::contender who = sim::barrier_named(o.barrier, o.waits);
  const std::vector<std::uint32_t> counts = counts_of(o, "--threads", m.cpus());
  if (counts.size() != 1) throw std::invalid_argument("--threads needs one number here");
  std::vector<waiting_time> timeline;
  const sim::simulated_run run = sim::run(m, who,
                                          {.threads = counts.front(),
                                           .episodes = o.episodes,
                                           .seed = o.seed,
                                           .poll_gap_ns = o.poll_gap,
                                           .timeline = &timeline});
  if (!o.json && !o.page) {
    print_chart(m, who, counts.front(), timeline, run.loop.back());
    return cli::success;
  }
  const std::string text = trace(m, who, counts.front(), timeline);
  fmt::print("{}", o.page ? page_of(text) : text);
  return cli::success;
}

}  // namespace tutti::command
