// SPDX-License-Identifier: Apache-2.0
// The kernel's programs on a network device: load and attach them, find those that are attached,
// read their counters, take them off. Needs root.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "network/bpf/shared.h"

struct bpf_object;

namespace tutti::network {

// What went wrong, and the way out, in a sentence.
class device_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
// What to throw if there is no device of that name.
device_error no_device(const std::string& name);

enum class xdp_mode { native_or_generic, native, generic };

// The process that has a communicator of a device.
struct owning_process {
  enum class state { runs, has_ended, is_unseen };

  std::uint32_t number = 0;
  // A process of another name space is unseen.
  state now = state::is_unseen;
};

// Maps of attached programs, by name. They stay alive while this or the programs do.
class program_maps {
 public:
  program_maps() = default;
  ~program_maps();
  program_maps(program_maps&& other) noexcept : fds_(std::move(other.fds_)) { other.fds_.clear(); }
  program_maps& operator=(program_maps&& other) noexcept {
    fds_.swap(other.fds_);
    return *this;
  }

  void add(const std::string& name, int fd) { fds_[name] = fd; }
  int fd(const std::string& name) const;
  bool has(const std::string& name) const { return fds_.contains(name); }
  // The sum over all CPUs of each counter.
  std::array<std::uint64_t, TUTTI_NET_COUNTERS> counters() const;
  // The communicators that have a table here.
  std::vector<tutti_net_member> members() const;
  // Nothing if the communicator has ended meanwhile.
  std::optional<owning_process> owner_of(std::uint16_t communicator) const;
  // Gives a communicator a place and starts it; returns the place. Throws device_error if there is
  // none left, or the communicator has one already.
  std::uint32_t start(const tutti_net_member& member) const;
  void stop(std::uint16_t communicator) const;
  // Stops those whose process has ended without doing so. Processes of other name spaces, which
  // this one cannot see, keep theirs.
  void stop_orphans() const;
  // The first half of start(): a place for a table that is not written yet.
  std::uint32_t claim(std::uint16_t communicator) const;

 private:
  std::optional<std::uint32_t> place_of(std::uint16_t communicator) const;
  // Calls each(place, owner) for each place that has an owner.
  template <class Each>
  void for_each_owner(Each each) const;
  // Returns whether this call has made the entry; false if the place has an owner.
  bool become_owner(std::uint32_t place, const tutti_net_owner& owner) const;

  std::map<std::string, int> fds_;
};

inline constexpr const char* counter_names[TUTTI_NET_COUNTERS] = {
    "counted",   "early",     "repeated", "stranger", "asked", "disagrees", "unknown",
    "malformed", "unchecked", "local",    "sent",     "lost",  "no_room"};

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
