// SPDX-License-Identifier: Apache-2.0
// `tutti network discover`: the hosts that run it at the same time find each other, and print which
// rank each of them has, and where.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/result_line.hpp"
#include "command/subcommands.hpp"
#include "network/discover_devices.hpp"

namespace tutti::command {
namespace {

using namespace tutti::network;

struct discover_options {
  std::string device;
  std::uint32_t nodes = 0;
  std::string topology = "auto";
  double seconds = 10;
  std::string key_file;
  bool hostfile = false;
  bool json = false;
};

std::string text_of(std::uint32_t ip) {
  const auto* const b = reinterpret_cast<const std::uint8_t*>(&ip);
  return fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
}

// Reads a key of 32 hexadecimal digits.
tutti_net_key key_in(const std::string& file) {
  std::ifstream in(file);
  std::string text, more;
  if (!(in >> text))
    throw std::runtime_error("--key-file " + file + " cannot be read, or is empty");
  tutti_net_key key{0, 0};
  const auto read = [&](const char* from, auto& half) {
    return std::from_chars(from, from + 16, half, 16).ptr == from + 16;
  };
  if (text.size() != 32 || !read(text.data(), key.k0) || !read(text.data() + 16, key.k1) ||
      in >> more)
    throw std::runtime_error("--key-file " + file +
                             " must have 32 hexadecimal digits, such as `openssl rand -hex 16` "
                             "prints");
  return key;
}

int run_discover(const discover_options& o) {
  // What is wrong here is told before the others have been waited for.
  const unsigned topology = o.topology == "auto" ? 0 : topology_named(o.topology);
  if (topology == TUTTI_NET_SWITCH)
    throw std::invalid_argument("--topology is 'switch'; hosts cannot find a switch that combines");
  discovery_wish wish;
  wish.devices = cli::split("device", o.device);
  wish.nodes = o.nodes;
  if (!o.key_file.empty()) wish.key = key_in(o.key_file);
  wish.at_most = std::chrono::milliseconds(static_cast<long>(o.seconds * 1000));
  const discovered found = discover(wish);
  const std::optional<found_plan> plan = plan_of(found.network, found.me, topology);
  if (!plan) throw std::runtime_error("the network is not connected");
  if (o.json) {
    cli::json line{{"type", "network_discovery"},
                   {"shape", plan->shape},
                   {"topology", topology_names[plan->topology]},
                   {"rank", plan->rank},
                   {"ranks", plan->nodes.size()},
                   {"addresses", cli::json::array()}};
    for (const node_id id : plan->nodes)
      line["addresses"].push_back(text_of(found.network.at(id).ip));
    fmt::print("{}\n", line.dump());
    return cli::success;
  }
  if (o.hostfile) {
    for (const node_id id : plan->nodes) fmt::print("{}\n", text_of(found.network.at(id).ip));
    return cli::success;
  }
  fmt::print("{} {}, a {}; barriers by {}, rank {} is here\n", plan->nodes.size(),
             plan->nodes.size() == 1 ? "node" : "nodes", plan->shape,
             topology_names[plan->topology], plan->rank);
  for (rank_t r = 0; r < plan->nodes.size(); ++r) {
    const found_node& node = found.network.at(plan->nodes[r]);
    fmt::print("  rank {:<3} {:<15} {}{}\n", r, text_of(node.ip), r == 0 ? "root" : "",
               r == plan->rank ? (r == 0 ? ", this node" : "this node") : "");
  }
  return cli::success;
}

}  // namespace

void add_network_discover(cli::command& network) {
  auto o = std::make_shared<discover_options>();
  cli::command discover = network.add_subcommand(
      "discover", "Find the other nodes that discover now, and agree with them on ranks and root");
  discover.runs([o] { return run_discover(*o); });
  discover.add_option("device", o->device, "A device, or the devices of all cables: eth0,eth1")
      .required();
  discover
      .add_option("--nodes", o->nodes,
                  "Wait for so many; 0: for those that come before nothing changes any more")
      .between(0u, 4096u)
      .show_default();
  discover
      .add_option("--topology", o->topology,
                  "auto: what suits the cables; or ring, tree, star, butterfly, dissemination")
      .show_default();
  discover.add_option("--time", o->seconds, "Seconds to wait").between(0.1, 3600.0).show_default();
  discover
      .add_option("--key-file", o->key_file,
                  "A file with 32 hexadecimal digits; hosts with others do not count")
      .value_name("FILE");
  discover.add_flag("--hostfile", o->hostfile,
                    "Print the addresses in the order of ranks, as mpirun reads them");
  discover.add_flag("--json", o->json, "Print one JSON line");
}

}  // namespace tutti::command
