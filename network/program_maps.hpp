// SPDX-License-Identifier: Apache-2.0
// The maps of loaded programs: which communicators a device serves, which processes have them, and
// what its programs have counted. Places of processes that have ended are found and freed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "network/bpf/shared.h"

namespace tutti::network {

// What went wrong, and the way out, in a sentence.
class device_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What an error number of the kernel's means; libbpf returns them negated.
std::string reason(int error);

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

// Opens the maps that have these numbers in the kernel. Throws device_error if they cannot be
// opened, or are not those of this version's programs; it says that `device` has others.
program_maps maps_by_number(std::span<const std::uint32_t> numbers, const std::string& device);

}  // namespace tutti::network
