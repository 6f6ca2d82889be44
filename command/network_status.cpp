// SPDX-License-Identifier: Apache-2.0
// `tutti network status`: what the programs of a device have counted, and which communicators have
// a table there.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/errors.hpp"
#include "cli/result_line.hpp"
#include "command/subcommands.hpp"
#include "network/device.hpp"
#include "network/tables.hpp"

namespace tutti::command {
namespace {

using namespace tutti::network;

struct status_options {
  std::string device;
  bool json = false;
};

const char* text_of(owning_process::state s) {
  return s == owning_process::state::runs        ? "runs"
         : s == owning_process::state::has_ended ? "has ended"
                                                 : "is in another process namespace";
}

int run_status(const status_options& o) {
  const attached_device d = look_at(o.device);
  const program_maps maps = open_maps(o.device);
  const auto counters = maps.counters();
  const auto members = maps.members();
  if (o.json) {
    cli::json line{{"type", "network_status"}, {"device", d.name}, {"mode", d.mode}};
    for (std::size_t c = 0; c < counters.size(); ++c)
      line["counters"][counter_names[c]] = counters[c];
    line["verified_instructions"] = cli::json::object();
    for (const auto& [program, count] : d.verified) line["verified_instructions"][program] = count;
    line["communicators"] = cli::json::array();
    for (const tutti_net_member& m : members) {
      cli::json one{{"communicator", m.table.communicator},
                    {"topology", topology_names[m.table.topology]},
                    {"rank", m.table.rank},
                    {"ranks", m.table.size},
                    {"episode", m.state.episode},
                    {"host_has_called", (m.state.now & 1) != 0}};
      if (const auto owner = maps.owner_of(m.table.communicator)) {
        one["process"] = owner->number;
        if (owner->now != owning_process::state::is_unseen)
          one["process_runs"] = owner->now == owning_process::state::runs;
      }
      line["communicators"].push_back(one);
    }
    if (const std::string missing = what_is_missing(d); !missing.empty()) line["missing"] = missing;
    fmt::print("{}\n", line.dump());
    return cli::success;
  }
  fmt::print("{}: {}, {} mode\n", d.name, d.program, d.mode);
  if (const std::string missing = what_is_missing(d); !missing.empty())
    fmt::print("  {}\n", missing);
  if (counters[TUTTI_NET_COUNT_NO_ROOM] > 0) fmt::print("  {}\n", what_driver_lacks(o.device));
  if (const std::string tight = what_does_not_fit(o.device); !tight.empty())
    fmt::print("  {}\n", tight);
  for (std::size_t c = 0; c < counters.size(); ++c)
    fmt::print("  {:<10} {:>12}\n", counter_names[c], counters[c]);
  for (const auto& [name, instructions] : d.verified)
    fmt::print("  {}: the verifier went through {} instructions\n", name, instructions);
  if (members.empty()) fmt::print("  no communicator has a table here\n");
  for (const tutti_net_member& m : members) {
    fmt::print("  communicator {}: {} of {}, rank {}, episode {}, the host {}",
               m.table.communicator, topology_names[m.table.topology], m.table.size, m.table.rank,
               m.state.episode, (m.state.now & 1) != 0 ? "waits" : "computes");
    const auto owner = maps.owner_of(m.table.communicator);
    fmt::print("{}\n",
               owner ? fmt::format("; process {} {}", owner->number, text_of(owner->now)) : "");
  }
  return cli::success;
}

}  // namespace

void add_network_status(cli::command& network) {
  auto o = std::make_shared<status_options>();
  cli::command status =
      network.add_subcommand("status", "Print counters and communicators of a device");
  status.runs([o] { return run_status(*o); });
  status.add_option("device", o->device, "A device that has the programs").required();
  status.add_flag("--json", o->json, "Print one JSON line");
}

}  // namespace tutti::command
