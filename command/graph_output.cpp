// SPDX-License-Identifier: Apache-2.0
// What `tutti graph` writes.
#include "command/graph_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/harness/machine.hpp"
#include "cli/json.hpp"
#include "cli/result_line.hpp"
#include "graph_apps/apps/processes.hpp"
#include "tutti/graph/save.hpp"
#include "tutti/mpi/communicator.hpp"

namespace tutti::command {
namespace {

using cli::json;
using graph_apps::outcome;

bool ends_in(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A file appears in its folder under another name first; only a pipe or a device is written as it
// is.
void require_place(const std::string& option, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder))
    throw std::invalid_argument(fmt::format("{}: {} is not a folder", option, folder.string()));
  if (fs::is_directory(file))
    throw std::invalid_argument(fmt::format("{}: {} is a folder", option, file));
  const bool is_special = fs::exists(file) && !fs::is_regular_file(file);
  if (access(is_special ? file.c_str() : folder.c_str(), W_OK) != 0)
    throw std::invalid_argument(fmt::format("{}: {} cannot be written", option, file));
}

// By whatever names.
bool is_same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  if (fs::weakly_canonical(one) == fs::weakly_canonical(other)) return true;
  return fs::exists(one) && fs::exists(other) && fs::equivalent(one, other);
}

graph::array_view view_of(const graph_apps::column& c) {
  return std::visit([](const auto& values) { return graph::array_view(values); }, c.values);
}

using columns_t = std::vector<graph_apps::column>;

// Calls write(columns) for all rows, in portions if several processes have them.
void each_portion(const columns_t& mine, mpi::communicator* across,
                  const std::function<void(const columns_t&)>& write) {
  if (across != nullptr) return graph_apps::gather_rows(*across, mine, write);
  write(mine);
}

// One column as it is; several as columns of doubles, which are put into `space`.
graph::array_view npy_rows(const columns_t& from, std::vector<double>& space) {
  if (from.size() == 1) return view_of(from[0]);
  const std::size_t rows = view_of(from[0]).rows, columns = from.size();
  space.resize(rows * columns);
  for (std::size_t c = 0; c < columns; ++c)
    std::visit(
        [&](const auto& values) {
          for (std::size_t r = 0; r < rows; ++r)
            space[r * columns + c] = static_cast<double>(values[r]);
        },
        from[c].values);
  return graph::array_view(space, columns);
}
void write_npy(const std::string& path, const columns_t& mine, mpi::communicator* across,
               graph::vertex_t vertices) {
  std::optional<graph::npy_file> file;
  each_portion(mine, across, [&](const columns_t& portion) {
    std::vector<double> space;
    const graph::array_view rows = npy_rows(portion, space);
    if (!file) file.emplace(path, vertices, rows);
    file->add(rows);
  });
  if (file) file->commit();
}
void write_csv(const std::string& path, const columns_t& mine, mpi::communicator* across) {
  std::optional<graph::csv_file> file;
  each_portion(mine, across, [&](const columns_t& portion) {
    if (!file) file.emplace(path);
    std::vector<graph::csv_column> columns;
    for (const auto& c : portion) columns.push_back({c.name, view_of(c)});
    file->add(columns);
  });
  if (file) file->commit();
}

void write_spikes(const std::string& file, const outcome& o) {
  std::vector<std::uint64_t> steps;
  std::vector<std::uint32_t> neurons;
  for (const auto& each : o.spikes) {
    steps.push_back(each.step);
    neurons.push_back(each.neuron);
  }
  graph::save_csv(file, {{"step", steps}, {"neuron", neurons}}, "spike");
}

double edges_per_second(const outcome& o) {
  const auto messages = static_cast<double>(o.statistics.messages());
  return o.run_seconds > 0 ? messages / o.run_seconds : 0;
}

std::string described(const graph_facts& graph) {
  const auto counted = [](std::uint64_t n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
  };
  const char* const kind = graph.weighted ? "weighted" : "unweighted";
  return fmt::format("{}, {}, {}", counted(graph.vertices, "vertex", "vertices"),
                     counted(graph.edges, "edge", "edges"),
                     graph.in_shares ? "a share in each process" : kind);
}

std::size_t participants(const graph_apps::settings& s, const outcome& o) {
  return s.across != nullptr ? s.across->size() : o.of_participants.size();
}

void print_participants(const outcome& o) {
  fmt::print("\n{:>11} {:>14} {:>16} {:>16} {:>14} {:>12} {:>10}\n", "participant", "sends",
             "local", "remote", "packets", "refutations", "idle, s");
  for (std::size_t p = 0; p < o.of_participants.size(); ++p) {
    const auto& each = o.of_participants[p];
    fmt::print("{:>11} {:>14} {:>16} {:>16} {:>14} {:>12} {:>10.3f}\n", p, each.sends, each.local,
               each.remote, each.packets, each.refutations, each.idle_seconds);
  }
}

}  // namespace

void require_writable(const graph_command& o, bool reads_file) {
  if (!o.output.empty()) {
    if (!ends_in(o.output, ".csv") && !ends_in(o.output, ".npy"))
      throw std::invalid_argument(
          fmt::format("--output: '{}' ends in neither .csv nor .npy", o.output));
    require_place("--output", o.output);
  }
  if (!o.spikes.empty()) {
    if (!ends_in(o.spikes, ".csv"))
      throw std::invalid_argument(fmt::format("--spikes: '{}' does not end in .csv", o.spikes));
    require_place("--spikes", o.spikes);
    if (!o.output.empty() && is_same_file(o.spikes, o.output))
      throw std::invalid_argument("--spikes, --output: the same file");
  }
  for (const auto& [option, file] : {std::pair("--output", o.output), {"--spikes", o.spikes}})
    if (reads_file && !file.empty() && is_same_file(file, o.graph))
      throw std::invalid_argument(fmt::format("{}: {} is the file of the graph", option, file));
}

void write_output(const graph_command& o, const outcome& made, graph::vertex_t vertices,
                  mpi::communicator* across) {
  // The first process has them.
  if (!o.spikes.empty() && (across == nullptr || across->first_rank() == 0))
    write_spikes(o.spikes, made);
  if (o.output.empty()) return;
  if (ends_in(o.output, ".npy")) return write_npy(o.output, made.columns, across, vertices);
  write_csv(o.output, made.columns, across);
}

void print_table(const graph_command& o, const graph_apps::application& app,
                 const graph_apps::settings& s, const graph_facts& graph, const outcome& made) {
  fmt::print("{}, {}: {}\n", app.name, o.mode, described(graph));
  const auto& all = made.statistics;
  const auto count = [](const char* what, std::uint64_t n) {
    fmt::print("  {:<28} {:>16}\n", what, n);
  };
  const auto number = [](const std::string& what, double x) {
    fmt::print("  {:<28} {:>16.6g}\n", what, x);
  };
  for (const auto& [what, value] : made.summary) number(what, value);
  if (s.mode != graph_apps::mode::sequential) {
    count("participants", participants(s, made));
    if (made.edges != graph.edges) count("edges with those added", made.edges);
    count("time steps", all.time);
    count("sends", all.sends);
    count("messages along edges", all.messages());
    count("  to the same participant", all.local);
    count("  to others", all.remote);
    if (s.run.engine.combine) {
      count("  of these combined", all.combined);
      count("  into packets", all.combined_packets);
    }
    count("packets between them", all.packets);
    count("messages to the host", all.host);
    count("detections", all.detections);
    count("refutations", all.refutations);
    number("seconds in idle, all", all.idle_seconds);
    number("seconds to cut the graph", made.cut_seconds);
    number("messages/s", edges_per_second(made));
  }
  number("seconds", made.run_seconds);
  const bool many = s.across != nullptr;
  number(many ? "megabytes, first process" : "megabytes at the peak", made.megabytes);
  if (many) number("megabytes, largest other", made.most_megabytes);
  if (o.stats) print_participants(made);
}

void print_json(const graph_command& o, const graph_apps::application& app,
                const graph_apps::settings& s, const graph_facts& graph, const outcome& made) {
  const auto& all = made.statistics;
  const double ns = made.run_seconds * 1e9;
  json line{{"benchmark", "graph"},
            {"provider", "tutti"},
            {"name", o.mode},
            {"threads", std::max<std::size_t>(participants(s, made), 1)},
            {"metric", "wall"},
            {"min", ns},
            {"median", ns},
            {"p99", ns},
            {"samples", 1},
            {"application", app.name},
            {"graph", o.graph},
            {"vertices", graph.vertices},
            {"edges", graph.edges},
            {"in_shares", graph.in_shares},
            {"edges_with_added", made.edges},
            {"mode", o.mode},
            {"participants", participants(s, made)},
            {"partition", o.partition},
            {"order", o.order},
            {"detector", o.detector.empty() ? "default" : o.detector},
            {"time_steps", all.time},
            {"sends", all.sends},
            {"messages", all.messages()},
            {"messages_local", all.local},
            {"messages_remote", all.remote},
            {"packets", all.packets},
            {"combine", s.run.engine.combine},
            {"messages_combined", all.combined},
            {"packets_combined", all.combined_packets},
            {"messages_to_host", all.host},
            {"detections", all.detections},
            {"refutations", all.refutations},
            {"idle_seconds", all.idle_seconds},
            {"prepare_seconds", made.prepare_seconds},
            {"cut_seconds", made.cut_seconds},
            {"seconds", made.run_seconds},
            {"megabytes", made.megabytes},
            {"most_megabytes", made.most_megabytes},
            {"messages_per_second", edges_per_second(made)}};
  for (const auto& [what, value] : made.summary) line["summary"][what] = value;
  fmt::print("{}\n{}", bench::describe_machine().dump(), cli::result_line(line));
}

}  // namespace tutti::command
