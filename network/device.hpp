// SPDX-License-Identifier: Apache-2.0
// The kernel's programs on a network device: load and attach them, find those that are attached,
// open their maps, take them off. Needs root.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "network/program_maps.hpp"

struct bpf_object;

namespace tutti::network {

// What to throw if there is no device of that name.
device_error no_device(const std::string& name);

enum class xdp_mode { native_or_generic, native, generic };

struct attached_device {
  std::string name;
  int index = 0;
  // "native", "generic", or "" if no program is attached.
  std::string mode;
  // The program's name; empty if there is none.
  std::string program;
  // Instructions that the verifier went through, of those of tutti's programs that are attached;
  // they are three, but others may have taken some of them off.
  std::map<std::string, std::uint64_t> verified{};
};

// Returns what is attached to a device; throws device_error if there is no such device.
attached_device look_at(const std::string& device);

// What a device with tutti's XDP program lacks, and the way out; empty if it lacks nothing.
std::string what_is_missing(const attached_device& d);

// Says which calls do not fit in the packets of a device; empty if all do.
std::string what_does_not_fit(const std::string& device);

// What to say of a device whose driver has dropped packets that caused more than one.
std::string what_driver_lacks(const std::string& device);

// Identifies the XDP program of a device; 0 if there is none.
std::uint32_t program_of(const std::string& device);

// Attaches the node's programs. Refuses a device that has an XDP program.
attached_device attach(const std::string& device, xdp_mode mode);
// Takes the node's programs off; those of others stay. Refuses a device that has none of them.
void detach(const std::string& device);
// Opens the maps of the programs that are attached to a device.
program_maps open_maps(const std::string& device);

// Loads the switch, and attaches it to these devices of the current network namespace, in this
// order of ports. The stations are the MAC addresses behind them.
program_maps attach_switch(const std::vector<std::string>& devices,
                           const std::vector<std::array<std::uint8_t, 6>>& stations);
void detach_switch(const std::vector<std::string>& devices);

// One thing that the kernel's path needs.
struct requirement {
  std::string what;
  bool met = false;
  std::string detail;
  // What to do if it is not met.
  std::string way_out;
};
// Checks the machine, and the device if one is named.
std::vector<requirement> check_requirements(const std::string& device);

// Loads the node's programs without a device, for tests that run them on frames.
struct loaded_programs {
  loaded_programs();
  ~loaded_programs();
  loaded_programs(const loaded_programs&) = delete;
  loaded_programs& operator=(const loaded_programs&) = delete;

  bpf_object* object = nullptr;
  program_maps maps;
  int xdp = -1;
  int egress = -1;
  // Instructions that the verifier went through, by program.
  std::map<std::string, std::uint64_t> verified;
};

}  // namespace tutti::network
