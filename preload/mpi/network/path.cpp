// SPDX-License-Identifier: Apache-2.0
// libtutti-mpi-network.so: see path.hpp.
#include "preload/mpi/network/path.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "network/discover_devices.hpp"
#include "network/xdp_endpoint.hpp"

namespace tutti::preload {
namespace {

using namespace tutti::network;

struct wish {
  std::string device;
  // 0: the number of nodes decides.
  unsigned topology = 0;
};

// DEVICE or DEVICE:TOPOLOGY.
wish wish_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text};
  const wish said{text.substr(0, colon), topology_named(text.substr(colon + 1))};
  if (said.topology == TUTTI_NET_SWITCH)
    throw std::invalid_argument("MPI programs have no switch that combines");
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

// The communicators of this process. A program may end without freeing those that it has made, and
// an MPI without freeing its own: they leave the device with the process.
class open_endpoints {
 public:
  ~open_endpoints() {
    for (const xdp_endpoint* const e : all_) delete e;
  }
  void add(xdp_endpoint* e) {
    const std::lock_guard lock(mutex_);
    all_.insert(e);
  }
  void remove(xdp_endpoint* e) {
    const std::lock_guard lock(mutex_);
    if (all_.erase(e) != 0) delete e;
  }

 private:
  std::mutex mutex_;
  std::set<xdp_endpoint*> all_;
} endpoints;

void offer(const char* text, network_offer* mine) try {
  const wish said = wish_of(text);
  const program_maps maps = open_maps(said.device);
  const tutti_net_place place = place_of(said.device);
  mine->topology = said.topology;
  mine->ip = place.ip;
  std::copy_n(place.mac, sizeof place.mac, mine->mac);
  mine->incarnation = incarnation_now();
  if (::getrandom(mine->key, sizeof mine->key, 0) != sizeof mine->key)
    throw std::runtime_error("the kernel gives no random numbers");
  maps.stop_orphans();
  const auto members = maps.members();
  if (members.size() >= TUTTI_NET_MEMBERS)
    throw device_error("all communicators of " + said.device + " are in use");
  std::ranges::fill(mine->available, ~std::uint64_t{0});
  // 0 is that of programs that configure themselves.
  mine->available[0] &= ~std::uint64_t{1};
  for (const tutti_net_member& m : members)
    if (m.table.communicator < 256)
      mine->available[m.table.communicator / 64] &=
          ~(std::uint64_t{1} << m.table.communicator % 64);
  mine->can_serve = 1;
} catch (const std::exception& error) {
  std::snprintf(mine->why, sizeof mine->why, "%s", error.what());
}

void* open(const char* text, const network_offer* all, unsigned nodes, unsigned node, char* why,
           std::size_t why_bytes) try {
  const wish said = wish_of(text);
  xdp_options o;
  o.rank = node;
  o.topology = topology_for(said.topology, nodes);
  o.key = {all[0].key[0], all[0].key[1]};
  std::uint64_t available[4] = {~0ull, ~0ull, ~0ull, ~0ull};
  for (unsigned i = 0; i < nodes; ++i) {
    if (all[i].topology != said.topology)
      throw std::invalid_argument("TUTTI_MPI_NETWORK names different topologies");
    tutti_net_place place{};
    place.ip = all[i].ip;
    std::copy_n(all[i].mac, sizeof place.mac, place.mac);
    o.places.push_back(place);
    o.incarnation = std::max(o.incarnation, all[i].incarnation);
    for (unsigned word = 0; word < 4; ++word) available[word] &= all[i].available[word];
  }
  unsigned id = 0;
  while (id < 256 && (available[id / 64] >> id % 64 & 1) == 0) ++id;
  if (id == 256) throw device_error("no identifier is free at all nodes");
  o.communicator = static_cast<std::uint16_t>(id);
  auto* const made = new xdp_endpoint(said.device, o);
  endpoints.add(made);
  return made;
} catch (const std::exception& error) {
  std::snprintf(why, why_bytes, "%s", error.what());
  return nullptr;
}

void close(void* opened) { endpoints.remove(static_cast<xdp_endpoint*>(opened)); }

void describe(void* opened, char* text, std::size_t bytes) try {
  std::snprintf(text, bytes, "%s", static_cast<xdp_endpoint*>(opened)->path().c_str());
} catch (const std::exception& error) {
  std::snprintf(text, bytes, "%s", error.what());
}

int episode(void* opened, std::uint64_t* values, unsigned count, std::uint64_t deadline_ns,
            unsigned char* missing, void (*meanwhile)(void*), void* state) try {
  auto& e = *static_cast<xdp_endpoint*>(opened);
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
  for (const rank_t node : error.who().silent) missing[node] = 2;
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "tutti: the packet path failed: %s\n", error.what());
  return 2;
}

}  // namespace
}  // namespace tutti::preload

extern "C" __attribute__((visibility("default"))) const tutti::preload::network_path*
tutti_mpi_network_path(std::uint32_t version);
const tutti::preload::network_path* tutti_mpi_network_path(std::uint32_t version) {
  using namespace tutti::preload;
  static const network_path path{offer, open, close, describe, episode};
  return version == network_offer::current_version ? &path : nullptr;
}
