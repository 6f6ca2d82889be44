// SPDX-License-Identifier: Apache-2.0
// `tutti network`: barriers in the kernel's packet path: what a machine needs for them, the
// programs of a device, and a test bed of namespaces in which everything runs.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/harness/neighbour.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/result_line.hpp"
#include "command/subcommands.hpp"
#include "network/device.hpp"
#include "network/engine_cards.hpp"
#include "network/measure.hpp"
#include "network/mpi_peer.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::command {
namespace {

using namespace tutti::network;

struct network_options {
  std::string device;
  std::string mode = "auto";
  std::uint32_t nodes = 4;
  std::string topologies = "all";
  std::uint32_t calls = 2000;
  double lose = 0, repeat = 0, reorder = 0, corrupt = 0;
  std::uint64_t seed = 1;
  bool udp = false;
  bool mpi = false;
  bool engines = false;
  std::string background = "none", session = "own", imbalance = "0s";
  bool growth = false;
  bool json = false;
};

xdp_mode mode_of(const std::string& name) {
  return name == "native"    ? xdp_mode::native
         : name == "generic" ? xdp_mode::generic
                             : xdp_mode::native_or_generic;
}

int run_check(const network_options& o) {
  bool met = true;
  for (const requirement& r : check_requirements(o.device)) {
    met = met && r.met;
    if (o.json) {
      cli::json line{
          {"type", "requirement"}, {"what", r.what}, {"met", r.met}, {"detail", r.detail}};
      if (!r.met) line["way_out"] = r.way_out;
      fmt::print("{}\n", line.dump());
    } else {
      fmt::print("{:<17} {:<4} {}\n", r.what, r.met ? "yes" : "NO", r.detail);
      if (!r.met) fmt::print("{:<17} ->   {}\n", "", r.way_out);
    }
  }
  return met ? cli::success : cli::failed;
}

int run_attach(const network_options& o) {
  const attached_device d = attach(o.device, mode_of(o.mode));
  fmt::print("{}: {} is attached, in {} mode\n", d.name, d.program, d.mode);
  if (const std::string tight = what_does_not_fit(o.device); !tight.empty())
    fmt::print("  {}\n", tight);
  return cli::success;
}

int run_detach(const network_options& o) {
  detach(o.device);
  fmt::print("{}: tutti's programs are off\n", o.device);
  return cli::success;
}

void print_line(const network_options& o, const std::string& provider, const std::string& name,
                const char* metric, const samples& s) {
  fmt::print("{}", cli::result_line({{"benchmark", "network"},
                                     {"provider", provider},
                                     {"name", name},
                                     {"threads", o.nodes},
                                     {"processes", o.nodes},
                                     {"metric", metric},
                                     {"min", s.least},
                                     {"median", s.median},
                                     {"p99", s.p99},
                                     {"mean", s.mean},
                                     {"samples", s.count},
                                     {"mode", o.udp              ? "udp"
                                              : o.mpi            ? "tcp"
                                              : o.mode == "auto" ? "native"
                                                                 : o.mode}}));
}

measure_options measure_options_of(const network_options& o, rank_t nodes, unsigned topology) {
  measure_options m;
  m.nodes = nodes;
  m.topology = topology;
  m.calls = o.calls;
  m.udp = o.udp;
  m.cable = {o.lose, o.repeat, o.reorder, o.corrupt, o.seed};
  m.at_most = std::chrono::seconds(60 + o.calls / 100);
  return m;
}

// The slope of the least squares.
double growth_of(const std::vector<std::pair<double, double>>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [a, b] : points) {
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  const auto n = static_cast<double>(points.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

// What a node more costs in the ring, a level more in the tree, a doubling in the butterfly: the
// slopes that Arap, Brown, Himebaugh and Swany give with figures 5 and 6.
int run_growth(const network_options& o) {
  struct series {
    unsigned topology;
    const char *step, *average_of_paper, *least_of_paper;
    std::vector<std::pair<double, double>> average{}, median{}, least{};
  };
  std::array<series, 3> all{{{TUTTI_NET_RING, "node", "2", "1.46"},
                             {TUTTI_NET_TREE, "level", "3.5", "2.95"},
                             {TUTTI_NET_BUTTERFLY, "doubling", "3.5", "0"}}};
  for (rank_t n = 2; n <= 8; ++n) {
    testbed bed(n, o.mode == "generic" ? xdp_mode::generic : xdp_mode::native);
    for (series& s : all) {
      if (s.topology == TUTTI_NET_BUTTERFLY && !std::has_single_bit(n)) continue;
      const measurement r = measure(bed, measure_options_of(o, n, s.topology));
      const double x = s.topology == TUTTI_NET_RING ? n : std::bit_width(n) - 1;
      s.average.emplace_back(x, r.call.mean / 1000);
      s.median.emplace_back(x, r.call.median / 1000);
      s.least.emplace_back(x, r.call.least / 1000);
    }
  }
  if (!o.json)
    fmt::print(
        "growth in µs for a step more, over 2 to 8 hosts\n{:<10} {:<9} {:>8} {:>6} {:>8} {:>8} "
        "{:>6}\n",
        "topology", "step", "average", "paper", "median", "least", "paper");
  for (const series& s : all) {
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "network_growth"},
                                   {"topology", topology_names[s.topology]},
                                   {"step", s.step},
                                   {"average_us", growth_of(s.average)},
                                   {"median_us", growth_of(s.median)},
                                   {"least_us", growth_of(s.least)}}
                             .dump());
    else
      fmt::print("{:<10} {:<9} {:>8.2f} {:>6} {:>8.2f} {:>8.2f} {:>6}\n",
                 topology_names[s.topology], s.step, growth_of(s.average), s.average_of_paper,
                 growth_of(s.median), growth_of(s.least), s.least_of_paper);
  }
  return cli::success;
}

std::vector<mpi_peer> installed_mpis() {
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  return mpi_peers({folder.string(), (folder / "libexec/tutti").string()});
}

// The program that simulates the card of an engine.
std::string engine_program() {
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  for (const char* each : {"", "libexec/tutti"}) {
    std::string path = (folder / each / "tutti-network-engine").string();
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  throw std::runtime_error(
      "no engine can be simulated: Verilator was not installed when tutti was built; `make "
      "bootstrap` installs it");
}

// Beside the command, and in build/preload.
std::vector<std::string> preload_folders() {
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  std::vector<std::string> all;
  for (const char* each : {"preload", "../../preload", TUTTI_PRELOAD_FOLDER})
    all.push_back((folder / each).lexically_normal().string());
  return all;
}

// What the ranks of an MPI that spins would measure is the scheduler.
bool would_measure_the_scheduler(const mpi_peer& peer, rank_t nodes) {
  return !peer.yields && nodes > platform::usable_cpus();
}

// How long the ranks of an MPI may take.
std::chrono::seconds most_seconds_of_mpi(const network_options& o) {
  return std::chrono::seconds(60 + o.calls / 100);
}

// The neighbours that --background asks for, on each CPU.
bench::neighbour_plan neighbours_of(const network_options& o) {
  bench::neighbour_plan plan;
  if (o.background != "none") {
    cpu_set_t usable;
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0)
      throw std::system_error(errno, std::generic_category(), "the usable CPUs");
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &usable)) plan.cpus.push_back(cpu);
  }
  plan.light = o.background == "light";
  plan.own_session = o.session == "own";
  // None gives its CPU up while a measurement runs.
  plan.longest_burst_ns = 2e9 * static_cast<double>(most_seconds_of_mpi(o).count());
  return plan;
}

std::chrono::nanoseconds time_of(const std::string& option, const std::string& text) {
  // A time is written as a patience is.
  patience said;
  if (!patience::parse(text.data(), text.size(), said) || said.is_active() || said.is_balanced() ||
      text == "passive")
    throw std::invalid_argument(option + " is '" + text +
                                "'; it must be a time with its unit, such as 1ms");
  return std::chrono::nanoseconds(said.is_passive() ? 0 : said.ns());
}

// An unmodified program of an MPI; the preload serves it if there are variables.
void measure_and_print(testbed& bed, const network_options& o, const mpi_peer& peer,
                       std::chrono::nanoseconds imbalance,
                       const std::vector<std::string>& variables) {
  const std::string provider = peer.family + (variables.empty() ? ""
                                              : o.engines       ? "+engines"
                                                                : "+tutti");
  bench::neighbours beside;
  beside.select(neighbours_of(o));
  beside.start();
  const mpi_samples s =
      measure_mpi(bed, peer, {o.calls, imbalance}, most_seconds_of_mpi(o), variables);
  beside.stop();
  if (!beside.ran())
    throw std::runtime_error("the processes of --background did not run all the time beside " +
                             provider);
  if (o.json) {
    print_line(o, provider, "MPI_Barrier", "latency", s.call);
    print_line(o, provider, "MPI_Barrier", "last_in_last_out", s.last_in_last_out);
    return;
  }
  const samples &call = s.call, &last = s.last_in_last_out;
  fmt::print("{:<15} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} | {:>9.1f} {:>9.1f} {:>9.1f}\n", provider,
             call.mean / 1000, call.least / 1000, call.median / 1000, call.p99 / 1000,
             last.mean / 1000, last.median / 1000, last.p99 / 1000);
}

int run_mpi(const network_options& o) {
  const std::vector<mpi_peer> all = installed_mpis();
  if (all.empty())
    throw std::runtime_error(
        "no MPI was there when tutti was built; `make bootstrap` installs two");
  const std::chrono::nanoseconds imbalance = time_of("--imbalance", o.imbalance);
  testbed bed(o.nodes, o.mode == "generic" ? xdp_mode::generic : xdp_mode::native, !o.engines);
  std::optional<engine_cards> cards;
  const std::string topology = o.topologies != "all" ? o.topologies : o.engines ? "ring" : "";
  if (o.engines) cards.emplace(bed, topology_named(topology), engine_program());
  if (!o.json)
    fmt::print(
        "{} hosts in namespaces, MPI_Barrier over TCP, and the same programs with tutti in {}; "
        "times in µs of a call, and from the last rank's call to the last rank's return\n"
        "{:<15} {:>9} {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9}\n",
        o.nodes,
        o.engines ? "simulated engines, whose times tell nothing of hardware" : "the packet path",
        "MPI", "average", "least", "median", "p99", "average", "median", "p99");
  const std::vector<std::string> preloaded =
      served_by_preload(preload_folders(), topology, o.engines ? "engine/tap0" : "eth0");
  for (const mpi_peer& peer : all) {
    if (!preloaded.empty()) measure_and_print(bed, o, peer, imbalance, preloaded);
    if (would_measure_the_scheduler(peer, o.nodes)) {
      const char* const why = "its ranks spin, and there are more of them than processors";
      if (o.json)
        fmt::print("{}", cli::skipped_line({{"benchmark", "network"},
                                            {"provider", peer.family},
                                            {"name", "MPI_Barrier"},
                                            {"threads", o.nodes}},
                                           why));
      else
        fmt::print("{:<15} not measured: {}\n", peer.family, why);
      continue;
    }
    measure_and_print(bed, o, peer, imbalance, {});
  }
  return cli::success;
}

// A topology that MPI programs cannot have: the preload would leave their barriers to the MPI, and
// nothing would tell it.
void refuse_topology_of_mpi(const network_options& o) {
  if (o.topologies == "all") return;
  if (o.topologies.find(',') != std::string::npos)
    throw std::invalid_argument("--mpi measures one topology, and --topology is the list '" +
                                o.topologies + "'");
  const unsigned topology = topology_named(o.topologies);
  if (topology == TUTTI_NET_SWITCH)
    throw std::invalid_argument(
        "--topology is 'switch'; MPI programs have no switch that combines");
  if (o.engines && topology == TUTTI_NET_DISSEMINATION)
    throw std::invalid_argument("engines do not have the topology dissemination");
}

// Options that would have no effect. Throws std::invalid_argument.
void refuse_what_is_not_used(const network_options& o) {
  const double faults = o.lose + o.repeat + o.reorder + o.corrupt;
  if (faults > 1)
    throw std::invalid_argument(
        "--lose, --repeat, --reorder and --corrupt are parts of the packets; they may not add up "
        "to more than 1");
  if (o.mpi && (o.growth || o.udp || faults > 0))
    throw std::invalid_argument(
        "--mpi measures MPI programs; --growth, --udp, --lose, --repeat, --reorder and --corrupt "
        "are for barriers without MPI");
  if (o.mpi) refuse_topology_of_mpi(o);
  if (o.growth && o.topologies != "all")
    throw std::invalid_argument("--growth measures the topologies of the paper, and no others");
  if (o.growth && o.nodes != network_options().nodes)
    throw std::invalid_argument("--growth measures 2 to 8 hosts, whatever --nodes says");
  if (o.engines && !o.mpi)
    throw std::invalid_argument("--engines needs --mpi: engines serve MPI programs");
  if (!o.mpi && (o.background != "none" || o.imbalance != "0s"))
    throw std::invalid_argument("--background and --imbalance need --mpi");
  if (o.background == "none" && o.session != "own")
    throw std::invalid_argument("--session needs --background");
}

int run_testbed(const network_options& o) {
  refuse_what_is_not_used(o);
  if (const std::string why = why_no_testbed(); !why.empty())
    throw std::runtime_error("no test bed here: " + why + "; `tutti network check` tells more");
  if (o.growth) return run_growth(o);
  if (o.mpi) return run_mpi(o);
  std::vector<unsigned> topologies;
  if (o.topologies == "all") {
    for (unsigned t = first_topology; t <= last_topology; ++t)
      if (!o.udp || t != TUTTI_NET_SWITCH) topologies.push_back(t);
  } else {
    for (const std::string& name : cli::split("--topology", o.topologies))
      topologies.push_back(topology_named(name));
  }
  if (o.udp && std::ranges::count(topologies, unsigned{TUTTI_NET_SWITCH}) != 0)
    throw std::invalid_argument("--udp measures hosts alone: it has no switch that combines");
  // The kernel removes the namespaces with the last process: also after this one is killed.
  testbed bed(o.nodes, o.mode == "generic" ? xdp_mode::generic : xdp_mode::native);
  if (!o.json)
    fmt::print(
        "{} hosts in namespaces, times in µs\n{:<14} {:>9} {:>9} {:>9} {:>9} | {:>9} {:>9} | {:>9} "
        "{:>9} | {:>8} {:>8}\n",
        o.nodes, "topology", "average", "least", "median", "p99", "offloaded", "least", "last in",
        "least", "repeated", "blocked");
  for (const unsigned topology : topologies) {
    const measurement r = measure(bed, measure_options_of(o, o.nodes, topology));
    if (o.json) {
      const auto print = [&](const char* metric, const samples& s) {
        print_line(o, o.udp ? "udp" : "tutti", std::string(topology_names[topology]), metric, s);
      };
      print("latency", r.call);
      print("after_offload", r.offloaded);
      print("last_in", r.last_in);
      continue;
    }
    const auto us = [](double ns) { return ns / 1000; };
    fmt::print(
        "{:<14} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} | {:>9.1f} {:>9.1f} | {:>9.1f} {:>9.1f} | "
        "{:>8} "
        "{:>8}\n",
        topology_names[topology], us(r.call.mean), us(r.call.least), us(r.call.median),
        us(r.call.p99), us(r.offloaded.mean), us(r.offloaded.least), us(r.last_in.median),
        us(r.last_in.least), r.repeats, r.blocked);
    fmt::print(stderr, "{}\n", r.path);
  }
  return cli::success;
}

}  // namespace

void add_network(cli::command& program) {
  auto o = std::make_shared<network_options>();
  cli::command network =
      program.add_subcommand("network", "Barriers in the kernel's packet path, by XDP programs");
  network.require_subcommand();
  const auto add = [&](const char* name, const char* what, int (*run)(const network_options&)) {
    cli::command c = network.add_subcommand(name, what);
    c.runs([o, run] { return run(*o); });
    return c;
  };
  const std::vector<std::string> modes{"auto", "native", "generic"};
  cli::command check = add("check", "Say whether this machine, and a device, can do it", run_check);
  check.add_option("device", o->device, "A network device, as `ip link` names it");
  check.add_flag("--json", o->json, "Print a JSON line for each requirement");
  cli::command attach = add("attach", "Attach the programs to a device", run_attach);
  attach.add_option("device", o->device, "A network device without an XDP program").required();
  attach
      .add_option(
          "--mode", o->mode,
          "native: in the driver; generic: behind it, for any driver; auto: whichever works")
      .one_of(modes)
      .show_default();
  cli::command detach = add("detach", "Take the programs off a device", run_detach);
  detach.add_option("device", o->device, "A device that has them").required();
  add_network_status(network);
  add_network_discover(network);
  cli::command bed = add("testbed",
                         "Measure barriers between hosts in network namespaces, which vanish with "
                         "the command",
                         run_testbed);
  bed.add_option("--nodes", o->nodes, "Number of hosts").between(1u, 63u).show_default();
  bed.add_option("--topology", o->topologies,
                 "all, or a list of ring, tree, star, butterfly, dissemination, switch")
      .show_default();
  bed.add_option("--calls", o->calls, "Barriers of each measurement")
      .between(1u, 10'000'000u)
      .show_default();
  bed.add_option("--mode", o->mode, "How the programs are attached to the hosts' devices")
      .one_of(modes)
      .show_default();
  bed.add_option("--lose", o->lose, "The part of the barrier packets that the switch loses")
      .between(0.0, 0.9);
  bed.add_option("--repeat", o->repeat, "The part that comes twice").between(0.0, 0.9);
  bed.add_option("--reorder", o->reorder, "The part that is held back").between(0.0, 0.9);
  bed.add_option("--corrupt", o->corrupt, "The part that gets a wrong bit").between(0.0, 0.9);
  bed.add_option("--seed", o->seed, "The seed of these").show_default();
  bed.add_flag("--udp", o->udp, "Measure the user-space reference between the same hosts");
  bed.add_flag(
      "--mpi", o->mpi,
      "Measure MPI_Barrier over TCP between the same hosts, with each MPI that is installed");
  bed.add_flag(
      "--engines", o->engines,
      "With --mpi: barriers of the MPI programs in engines in RTL, which are simulated, in "
      "place of the packet path");
  bed.add_option(
         "--background", o->background,
         "With --mpi: a process on each CPU beside the programs; heavy: always busy, light: "
         "1 % of the time")
      .one_of({"none", "light", "heavy"})
      .show_default();
  bed.add_option("--session", o->session,
                 "Whether these have sessions of their own, which the kernel schedules as groups")
      .one_of({"own", "same"})
      .show_default();
  bed.add_option("--imbalance", o->imbalance,
                 "With --mpi: one rank works for so long before each barrier; ranks take turns")
      .show_default();
  bed.add_flag("--growth", o->growth,
               "Measure with 2 to 8 hosts what a node more costs in the ring, a level in the tree, "
               "a doubling in the butterfly");
  bed.add_flag("--json", o->json, "Print the measurements as JSON lines");
}

}  // namespace tutti::command
