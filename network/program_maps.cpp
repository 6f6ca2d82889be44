// SPDX-License-Identifier: Apache-2.0
#include "network/program_maps.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

namespace tutti::network {
namespace {

// In the map `owners`, the process that frees what others have left.
constexpr std::uint32_t cleaner = TUTTI_NET_MEMBERS;

[[noreturn]] void refuse_version(const std::string& device) {
  throw device_error(device +
                     " has the programs of another version of tutti; `tutti network detach " +
                     device + "`, then attach those of this one");
}

// Identifies the process name space of this process.
std::uint64_t process_space() {
  struct stat space {};
  return ::stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

tutti_net_owner this_process(std::uint16_t communicator) {
  return {communicator, 0, static_cast<std::uint32_t>(::getpid()), process_space()};
}

// Processes of other name spaces cannot be seen from here.
bool has_ended(const tutti_net_owner& owner) {
  return owner.space == process_space() && ::kill(static_cast<pid_t>(owner.process), 0) != 0 &&
         errno == ESRCH;
}

}  // namespace

std::string reason(int error) { return std::strerror(error < 0 ? -error : error); }

program_maps::~program_maps() {
  for (const auto& [name, fd] : fds_) ::close(fd);
}

int program_maps::fd(const std::string& name) const {
  const auto found = fds_.find(name);
  if (found == fds_.end()) throw device_error("the attached program has no map '" + name + "'");
  return found->second;
}

std::array<std::uint64_t, TUTTI_NET_COUNTERS> program_maps::counters() const {
  std::array<std::uint64_t, TUTTI_NET_COUNTERS> all{};
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0)
    throw device_error("the number of CPUs cannot be read in /sys/devices/system/cpu: " +
                       reason(cpus));
  std::vector<std::uint64_t> each(static_cast<std::size_t>(cpus));
  for (std::uint32_t c = 0; c < TUTTI_NET_COUNTERS; ++c) {
    if (bpf_map_lookup_elem(fd("counters"), &c, each.data()) != 0) continue;
    for (const std::uint64_t n : each) all[c] += n;
  }
  return all;
}

std::optional<std::uint32_t> program_maps::place_of(std::uint16_t communicator) const {
  std::uint32_t place = 0;
  if (bpf_map_lookup_elem(fd("places"), &communicator, &place) != 0) return std::nullopt;
  return place;
}

template <class Each>
void program_maps::for_each_owner(Each each) const {
  for (std::uint32_t place = 0; place < TUTTI_NET_MEMBERS; ++place) {
    tutti_net_owner owner{};
    if (bpf_map_lookup_elem(fd("owners"), &place, &owner) == 0) each(place, owner);
  }
}

std::vector<tutti_net_member> program_maps::members() const {
  std::vector<tutti_net_member> all;
  for_each_owner([&](std::uint32_t place, const tutti_net_owner& owner) {
    tutti_net_member m{};
    if (place_of(owner.communicator) == place &&
        bpf_map_lookup_elem_flags(fd("members"), &place, &m, BPF_F_LOCK) == 0)
      all.push_back(m);
  });
  return all;
}

std::optional<owning_process> program_maps::owner_of(std::uint16_t communicator) const {
  const auto place = place_of(communicator);
  tutti_net_owner owner{};
  if (!place || bpf_map_lookup_elem(fd("owners"), &*place, &owner) != 0) return std::nullopt;
  using state = owning_process::state;
  return owning_process{owner.process, owner.space != process_space() ? state::is_unseen
                                       : has_ended(owner)             ? state::has_ended
                                                                      : state::runs};
}

// The kernel adds an entry that is not there for one process alone. (A list of the entries would
// not do: it can lack one that another process replaces meanwhile.)
bool program_maps::become_owner(std::uint32_t place, const tutti_net_owner& owner) const {
  if (bpf_map_update_elem(fd("owners"), &place, &owner, BPF_NOEXIST) == 0) return true;
  if (errno != EEXIST) throw device_error("a place could not be taken: " + reason(errno));
  return false;
}

std::uint32_t program_maps::claim(std::uint16_t communicator) const {
  // The process, so that others can free the place if this one is killed before it has a table.
  const tutti_net_owner owner = this_process(communicator);
  for (std::uint32_t place = 0; place < TUTTI_NET_MEMBERS; ++place)
    if (become_owner(place, owner)) return place;
  throw device_error("all " + std::to_string(TUTTI_NET_MEMBERS) +
                     " communicators of this device are in use");
}

std::uint32_t program_maps::start(const tutti_net_member& member) const {
  if (member.table.rows > TUTTI_NET_KERNEL_ROWS)
    throw device_error("a schedule of more than 12 rounds does not fit the kernel's programs");
  const std::uint16_t key = member.table.communicator;
  const std::uint32_t place = claim(key);
  const auto blank = std::make_unique<tutti_net_values>();
  const tutti_net_member nobody{};
  tutti_net_completion word{};
  // A node that begins again goes on with an episode that has not ended, whatever its number is.
  word.done = member.state.episode;
  // A switch has no host to tell.
  const bool has_word = fds_.contains("completions");
  // The programs find the place once everything is there. One that still has a packet of the
  // communicator before it finds nobody, and leaves the values and the word alone.
  if (bpf_map_update_elem(fd("members"), &place, &nobody, BPF_F_LOCK) != 0 ||
      bpf_map_update_elem(fd("values"), &place, blank.get(), BPF_ANY) != 0 ||
      (has_word && bpf_map_update_elem(fd("completions"), &place, &word, BPF_ANY) != 0) ||
      bpf_map_update_elem(fd("members"), &place, &member, BPF_F_LOCK) != 0 ||
      bpf_map_update_elem(fd("places"), &key, &place, BPF_NOEXIST) != 0) {
    const int error = errno;
    bpf_map_delete_elem(fd("owners"), &place);
    if (error == EEXIST)
      throw device_error("communicator " + std::to_string(key) + " is in use on this device");
    throw device_error("the kernel does not take a table: " + reason(error));
  }
  return place;
}

void program_maps::stop(std::uint16_t communicator) const {
  const auto place = place_of(communicator);
  if (!place) return;
  bpf_map_delete_elem(fd("places"), &communicator);
  bpf_map_delete_elem(fd("owners"), &*place);
}

void program_maps::stop_orphans() const {
  // Two processes must not free the same place: another one may take it between them. One that
  // has been stopped here is not waited for longer than a second.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!become_owner(cleaner, this_process(0))) {
    tutti_net_owner other{};
    if (bpf_map_lookup_elem(fd("owners"), &cleaner, &other) == 0 &&
        (has_ended(other) || std::chrono::steady_clock::now() >= end))
      bpf_map_delete_elem(fd("owners"), &cleaner);
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  for_each_owner([&](std::uint32_t place, const tutti_net_owner& owner) {
    if (!has_ended(owner)) return;
    if (place_of(owner.communicator) == place)
      bpf_map_delete_elem(fd("places"), &owner.communicator);
    bpf_map_delete_elem(fd("owners"), &place);
  });
  bpf_map_delete_elem(fd("owners"), &cleaner);
}

program_maps maps_by_number(std::span<const std::uint32_t> numbers, const std::string& device) {
  program_maps maps;
  for (const std::uint32_t number : numbers) {
    const int map = bpf_map_get_fd_by_id(number);
    bpf_map_info about{};
    __u32 size = sizeof about;
    const bool is_known = map >= 0 && bpf_obj_get_info_by_fd(map, &about, &size) == 0;
    // One without a name is only to be closed.
    if (map >= 0) maps.add(about.name, map);
    if (!is_known) throw device_error("the maps cannot be opened: run it as root");
    for (const auto& [name, value_size] : {std::pair{"members", sizeof(tutti_net_member)},
                                           std::pair{"values", sizeof(tutti_net_values)},
                                           std::pair{"completions", sizeof(tutti_net_completion)},
                                           std::pair{"places", sizeof(std::uint32_t)}})
      if (std::strcmp(about.name, name) == 0 &&
          (about.value_size != value_size || about.max_entries != TUTTI_NET_MEMBERS))
        refuse_version(device);
  }
  if (!maps.has("said_by_nodes")) refuse_version(device);
  return maps;
}

}  // namespace tutti::network
