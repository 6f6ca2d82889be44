// SPDX-License-Identifier: Apache-2.0
// libtutti-mpi-network.so: see path.hpp.
#include "preload/mpi/network/path.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "network/discover_devices.hpp"
#include "network/engine_endpoint.hpp"
#include "network/xdp_endpoint.hpp"

namespace tutti::preload {
namespace {

using namespace tutti::network;

struct wish {
  std::string device;
  // The device is that of an engine in RTL.
  bool has_engine = false;
  // 0: the number of nodes decides, or the cables of the engines.
  unsigned topology = 0;
};

// DEVICE or DEVICE:TOPOLOGY, with engine/ before it if an engine is behind the device. No device
// has a / in its name.
wish wish_of(const std::string& text) {
  constexpr std::string_view engine = "engine/";
  wish said;
  said.has_engine = text.starts_with(engine);
  const std::size_t begin = said.has_engine ? engine.size() : 0, colon = text.find(':');
  said.device = text.substr(begin, colon == std::string::npos ? colon : colon - begin);
  if (colon != std::string::npos) said.topology = topology_named(text.substr(colon + 1));
  if (said.topology == TUTTI_NET_SWITCH)
    throw std::invalid_argument("MPI programs have no switch that combines");
  if (said.has_engine && said.topology == TUTTI_NET_DISSEMINATION)
    throw std::invalid_argument("engines do not have the topology dissemination");
  return said;
}

// Two nodes exchange one packet each; among more the star's release needs the fewest packets in a
// row (docs/network.md has the times). A star has at most 64 nodes.
unsigned topology_for(unsigned wished, unsigned nodes) {
  if (wished != 0) return wished;
  if (nodes == 2) return TUTTI_NET_DISSEMINATION;
  return nodes < TUTTI_NET_SLOTS ? TUTTI_NET_STAR : TUTTI_NET_TREE;
}

// Milliseconds of the clock on the wall, so that another run has another incarnation.
std::uint32_t incarnation_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

// A communicator of this process.
struct served_communicator {
  std::unique_ptr<endpoint> member;
  std::string path;
  bool has_engine = false;
};

// The communicators of this process. A program may end without freeing those that it has made, and
// an MPI without freeing its own: they leave the device with the process.
class open_endpoints {
 public:
  ~open_endpoints() {
    for (const served_communicator* const e : all_) delete e;
  }
  void add(served_communicator* e) {
    const std::lock_guard lock(mutex_);
    all_.insert(e);
  }
  void remove(served_communicator* e) {
    const std::lock_guard lock(mutex_);
    if (all_.erase(e) != 0) delete e;
  }

 private:
  std::mutex mutex_;
  std::set<served_communicator*> all_;
} endpoints;

void offer_packet_path(const std::string& device, network_offer* mine) {
  const program_maps maps = open_maps(device);
  // A program's MPI_Bcast and MPI_Allreduce would learn it at their first call.
  if (const std::string tight = what_does_not_fit(device); !tight.empty())
    throw device_error(tight);
  const tutti_net_place place = place_of(device);
  mine->ip = place.ip;
  std::copy_n(place.mac, sizeof place.mac, mine->mac);
  maps.stop_orphans();
  const auto members = maps.members();
  if (members.size() >= TUTTI_NET_MEMBERS)
    throw device_error("all communicators of " + device + " are in use");
  std::ranges::fill(mine->available, ~std::uint64_t{0});
  for (const tutti_net_member& m : members)
    if (m.table.communicator < 256)
      mine->available[m.table.communicator / 64] &=
          ~(std::uint64_t{1} << m.table.communicator % 64);
}

void offer_engine(const std::string& device, network_offer* mine) {
  const engine_card card(device);
  const card::answer& own = card.description();
  if (own.room == 0)
    throw card_error("all communicators of the engine of " + device + " are in use");
  mine->has_engine = 1;
  mine->ip = own.address;
  std::ranges::copy(own.available, mine->available);
  for (unsigned p = 0; p < card::ports; ++p) {
    mine->cable_to[p] = own.cables[p].to;
    mine->cable_there[p] = own.cables[p].there;
  }
}

void offer(const char* text, network_offer* mine) try {
  const wish said = wish_of(text);
  mine->topology = said.topology;
  mine->incarnation = incarnation_now();
  if (::getrandom(mine->key, sizeof mine->key, 0) != sizeof mine->key ||
      ::getrandom(&mine->first_identifier, 1, 0) != 1)
    throw std::runtime_error("the kernel gives no random numbers");
  if (said.has_engine)
    offer_engine(said.device, mine);
  else
    offer_packet_path(said.device, mine);
  // 0 is that of programs that configure themselves.
  mine->available[0] &= ~std::uint64_t{1};
  mine->can_serve = 1;
} catch (const std::exception& error) {
  std::snprintf(mine->why, sizeof mine->why, "%s", error.what());
}

// What all offers lead to. Every node comes to the same.
void agree(const wish& said, const network_offer* all, unsigned nodes, membership& m) {
  std::uint64_t available[4] = {~0ull, ~0ull, ~0ull, ~0ull};
  for (unsigned i = 0; i < nodes; ++i) {
    if (all[i].topology != said.topology)
      throw std::invalid_argument("TUTTI_MPI_NETWORK names different topologies");
    if ((all[i].has_engine != 0) != said.has_engine)
      throw std::invalid_argument("TUTTI_MPI_NETWORK names an engine at some nodes only");
    m.incarnation = std::max(m.incarnation, all[i].incarnation);
    for (unsigned word = 0; word < 4; ++word) available[word] &= all[i].available[word];
  }
  for (unsigned tried = 0; tried < 256; ++tried) {
    const unsigned id = (all[0].first_identifier + tried) % 256;
    if ((available[id / 64] >> id % 64 & 1) == 0) continue;
    m.communicator = static_cast<std::uint16_t>(id);
    return;
  }
  throw std::runtime_error("no identifier is free at all nodes");
}

std::unique_ptr<served_communicator> open_packet_path(const wish& said, const network_offer* all,
                                                      unsigned nodes, unsigned node) {
  xdp_options o;
  agree(said, all, nodes, o);
  o.rank = node;
  o.topology = topology_for(said.topology, nodes);
  o.key = {all[0].key[0], all[0].key[1]};
  for (unsigned i = 0; i < nodes; ++i) {
    tutti_net_place place{};
    place.ip = all[i].ip;
    std::copy_n(all[i].mac, sizeof place.mac, place.mac);
    o.places.push_back(place);
  }
  auto member = std::make_unique<xdp_endpoint>(said.device, o);
  std::string path = member->path();
  return std::make_unique<served_communicator>(
      served_communicator{std::move(member), std::move(path), false});
}

// The topology that is wished for, or the first that the cables have: a star's release needs the
// fewest packets in a row, a ring's the most. A butterfly, whose losses do not heal, must be wished
// for.
found_plan engine_plan(const wish& said, const network_offer* all, unsigned nodes, unsigned node) {
  std::vector<card_place> places(nodes);
  for (unsigned i = 0; i < nodes; ++i) {
    places[i].address = all[i].ip;
    for (unsigned p = 0; p < card::ports; ++p)
      places[i].cables[p] = {all[i].cable_to[p], all[i].cable_there[p]};
  }
  std::vector<unsigned> topologies{TUTTI_NET_STAR, TUTTI_NET_TREE, TUTTI_NET_RING};
  if (said.topology != 0) topologies = {said.topology};
  for (const unsigned topology : topologies)
    if (auto plan = plan_on_cables(places, topology, node)) return *std::move(plan);
  throw card_error(
      "the cables of the engines form no " +
      std::string(said.topology == 0 ? "star, tree or ring" : topology_names[said.topology]) +
      " of these nodes");
}

std::unique_ptr<served_communicator> open_engine(const wish& said, const network_offer* all,
                                                 unsigned nodes, unsigned node) {
  engine_options o;
  agree(said, all, nodes, o);
  const found_plan plan = engine_plan(said, all, nodes, node);
  o.card = std::make_shared<engine_card>(said.device);
  o.card->start(plan, o.communicator, o.incarnation);
  o.rank = node;
  o.ranks = nodes;
  o.topology = plan.topology;
  o.towards.s_addr = o.card->description().towards;
  o.clock_hz = static_cast<double>(o.card->description().clock_hz);
  std::string path =
      "communicator " + std::to_string(o.communicator) + ": " +
      std::string(topology_names[plan.topology]) + " of " + std::to_string(nodes) +
      " in the engines of " + said.device +
      "; they carry no values, so MPI does MPI_Bcast and MPI_Allreduce between nodes";
  return std::make_unique<served_communicator>(
      served_communicator{std::make_unique<engine_endpoint>(o), std::move(path), true});
}

void* open(const char* text, const network_offer* all, unsigned nodes, unsigned node, char* why,
           std::size_t why_bytes) try {
  const wish said = wish_of(text);
  auto made = said.has_engine ? open_engine(said, all, nodes, node)
                              : open_packet_path(said, all, nodes, node);
  endpoints.add(made.get());
  return made.release();
} catch (const std::exception& error) {
  std::snprintf(why, why_bytes, "%s", error.what());
  return nullptr;
}

void close(void* opened) { endpoints.remove(static_cast<served_communicator*>(opened)); }

unsigned most_values(void* opened) {
  return static_cast<served_communicator*>(opened)->has_engine ? 0 : TUTTI_NET_VALUES;
}

void describe(void* opened, char* text, std::size_t bytes) {
  std::snprintf(text, bytes, "%s", static_cast<served_communicator*>(opened)->path.c_str());
}

void account(void* opened, char* text, std::size_t bytes) {
  const endpoint& e = *static_cast<served_communicator*>(opened)->member;
  const auto repeats = static_cast<unsigned long long>(e.repeats());
  if (const auto* const host = dynamic_cast<const xdp_endpoint*>(&e))
    std::snprintf(text, bytes, "of rank 0's, %llu blocked and %llu calls were repeated",
                  static_cast<unsigned long long>(host->blocked()), repeats);
  else
    std::snprintf(text, bytes, "of rank 0's, %llu calls were repeated", repeats);
}

int episode(void* opened, std::uint64_t* values, unsigned count, std::uint64_t deadline_ns,
            unsigned char* missing, void (*meanwhile)(void*), void* state, char* why,
            std::size_t why_bytes) try {
  endpoint& e = *static_cast<served_communicator*>(opened)->member;
  e.how.meanwhile = [=] { meanwhile(state); };
  time_limit limit;
  if (deadline_ns != 0)
    limit =
        network::clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(deadline_ns));
  if (count == 0)
    e.barrier(limit);
  else
    e.allreduce(TUTTI_NET_OR, {values, count}, limit);
  return 0;
} catch (const deadline_error& error) {
  for (const rank_t node : error.who().late) missing[node] = 1;
  const bool has_engine = static_cast<served_communicator*>(opened)->has_engine;
  for (const rank_t node : error.who().silent) missing[node] = has_engine ? 3 : 2;
  return 1;
} catch (const std::exception& error) {
  std::snprintf(why, why_bytes, "%s", error.what());
  return 2;
}

}  // namespace
}  // namespace tutti::preload

extern "C" __attribute__((visibility("default"))) const tutti::preload::network_path*
tutti_mpi_network_path(std::uint32_t version);
const tutti::preload::network_path* tutti_mpi_network_path(std::uint32_t version) {
  using namespace tutti::preload;
  static const network_path path{offer, open, close, most_values, describe, account, episode};
  return version == network_offer::current_version ? &path : nullptr;
}
