// SPDX-License-Identifier: Apache-2.0
// The discovery on network devices: each device is a port, and the packets are Ethernet frames of
// the type for local experiments (0x88b5), which switches pass on and engines forward.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "network/discovery.hpp"
#include "network/endpoint.hpp"
#include "network/frame.h"

namespace tutti::network {

struct discovery_wish {
  // The first device gives the node its addresses.
  std::vector<std::string> devices;
  // 0: as many as are there when nothing has changed for a while.
  std::size_t nodes = 0;
  std::chrono::milliseconds interval{50};
  // How long nothing changes, and for how long to try.
  std::chrono::milliseconds quiet{500};
  std::chrono::milliseconds at_most{10'000};
  // Nodes go on reporting for so long after they have agreed, for those that have not yet.
  std::chrono::milliseconds linger{300};
  tutti_net_key key{0, 0};
};

struct discovered {
  found_network network;
  node_id me = 0;
};

// Throws device_error without permission or device, and if nodes do not agree in time.
discovered discover(const discovery_wish& wish);

// Where a node's barrier packets go.
tutti_net_place place_of(const found_node& node);

// The IPv4 address and the MAC address of a device; throws device_error if it has none.
tutti_net_place place_of(const std::string& device);

}  // namespace tutti::network
