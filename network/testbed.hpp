// SPDX-License-Identifier: Apache-2.0
// Hosts in network namespaces of their own, each with a veth device to a switch, which is the XDP
// program of bpf/switch.bpf.c in one more namespace.
//
//   host 0: eth0 ──┐
//   host 1: eth0 ──┼── p0, p1, ... of the switch
//   ...          ──┘
//
// The namespaces have no names: they exist as long as this process or one of its children holds
// them, so the kernel removes them and all devices in them whatever ends the processes.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/shared_memory.hpp"
#include "network/faulty_cable.hpp"
#include "network/xdp_endpoint.hpp"

namespace tutti::network {

// A network namespace that this process keeps.
class net_namespace {
 public:
  // A new one; the thread stays where it is.
  net_namespace();
  ~net_namespace();
  net_namespace(net_namespace&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  net_namespace(const net_namespace&) = delete;
  net_namespace& operator=(const net_namespace&) = delete;
  void enter() const;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// Returns why namespaces or programs are not to be had, or an empty string.
std::string why_no_testbed();

class testbed {
 public:
  explicit testbed(rank_t nodes, xdp_mode mode = xdp_mode::native, bool attach_nodes = true);
  ~testbed();

  rank_t nodes() const { return nodes_; }
  // Options for a rank of the communicator of all hosts.
  xdp_options options(unsigned topology, rank_t rank) const;
  // Starts a communicator in the switch, for topology switch.
  void start_in_switch(const xdp_options& options) {
    switch_maps_.start(switch_member_of(options));
  }
  // Takes the switch's program off and attaches a new one, which knows no communicator.
  void restart_switch();
  void stop_in_switch(std::uint16_t communicator) { switch_maps_.stop(communicator); }
  // The switch loses packets, and a process repeats, holds back and corrupts them.
  void inject_faults(const cable_faults& plan);
  // Attaches the node's programs in a host, if that has not been done.
  void attach_node(rank_t rank, xdp_mode mode) const;
  const program_maps& switch_maps() const { return switch_maps_; }
  const net_namespace& host(rank_t rank) const { return hosts_[rank]; }
  // A cable between two hosts, with the name of the device at each end. They have no address.
  void join(rank_t one, const std::string& device, rank_t other,
            const std::string& its_device) const;
  void enter_host(rank_t rank) const { hosts_[rank].enter(); }
  void enter_switch() const { switch_.enter(); }

  // Runs the body in a process for each host, inside its namespace; returns the first error, or an
  // empty string. Ends the processes after that time, and two seconds after the first error. They
  // end with this process.
  std::string run(const std::function<void(rank_t)>& body, std::chrono::seconds at_most);

 private:
  void start_faulty_cable(const cable_faults& plan);
  void end_faulty_cable();

  rank_t nodes_;
  net_namespace switch_;
  std::vector<std::string> ports_;
  std::vector<std::array<std::uint8_t, 6>> stations_;
  std::vector<net_namespace> hosts_;
  program_maps switch_maps_;
  pid_t faulty_cable_ = -1;
};

// Memory that processes of a run share.
template <class T>
class shared_array {
 public:
  explicit shared_array(std::size_t count)
      : count_(count), memory_(std::max<std::size_t>(count, 1) * sizeof(T)) {}
  T& operator[](std::size_t i) const { return static_cast<T*>(memory_.base())[i]; }
  std::size_t size() const { return count_; }

 private:
  std::size_t count_;
  cli::shared_memory memory_;
};

std::array<std::uint8_t, 6> station_mac(rank_t rank);
inline constexpr rank_t switch_station = 0xff;

}  // namespace tutti::network
