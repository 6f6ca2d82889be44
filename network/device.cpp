// SPDX-License-Identifier: Apache-2.0
#include "network/device.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

// The objects that clang made of network/bpf/*.bpf.c.
extern "C" {
extern const unsigned char tutti_network_nic_begin[], tutti_network_nic_end[];
extern const unsigned char tutti_network_switch_begin[], tutti_network_switch_end[];
}

namespace tutti::network {
namespace {

constexpr std::uint32_t tc_handle = 0x7475, tc_priority = 0x7474;

std::string reason(int error) { return std::strerror(error < 0 ? -error : error); }

[[noreturn]] void fail_to_load(int error) {
  if (error == -EPERM || error == -EACCES)
    throw device_error("the kernel does not let this user load programs: run it as root");
  throw device_error("the kernel refused the programs (" + reason(error) +
                     "); `tutti network check` tells what is missing");
}

struct object_deleter {
  void operator()(bpf_object* o) const { bpf_object__close(o); }
};
using owned_object = std::unique_ptr<bpf_object, object_deleter>;

owned_object load(const unsigned char* begin, const unsigned char* end, const char* name) {
  libbpf_set_print(nullptr);
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = name;
  owned_object o(bpf_object__open_mem(begin, static_cast<std::size_t>(end - begin), &options));
  if (!o) fail_to_load(-errno);
  if (const int error = bpf_object__load(o.get()); error != 0) fail_to_load(error);
  return o;
}
owned_object load_nic() {
  return load(tutti_network_nic_begin, tutti_network_nic_end, "tutti_nic");
}

program_maps maps_of(bpf_object* o) {
  program_maps maps;
  bpf_map* map;
  bpf_object__for_each_map(map, o) maps.add(bpf_map__name(map), ::dup(bpf_map__fd(map)));
  return maps;
}

int program(bpf_object* o, const char* name) {
  return bpf_program__fd(bpf_object__find_program_by_name(o, name));
}

bpf_prog_info info_of(int fd) {
  bpf_prog_info info{};
  __u32 length = sizeof info;
  if (bpf_obj_get_info_by_fd(fd, &info, &length) != 0)
    throw device_error("the kernel does not tell about a program: " + reason(errno));
  return info;
}

int index_of(const std::string& device) {
  const unsigned index = ::if_nametoindex(device.c_str());
  if (index == 0) throw no_device(device);
  return static_cast<int>(index);
}

std::uint32_t xdp_program_id(int index, std::string& mode) {
  bpf_xdp_query_opts q{};
  q.sz = sizeof q;
  if (bpf_xdp_query(index, 0, &q) != 0) return 0;
  mode = q.drv_prog_id != 0   ? "native"
         : q.skb_prog_id != 0 ? "generic"
         : q.hw_prog_id != 0  ? "hardware"
                              : "";
  return q.prog_id;
}

bpf_tc_hook hook_of(int index, bpf_tc_attach_point point) {
  bpf_tc_hook hook{};
  hook.sz = sizeof hook;
  hook.ifindex = index;
  hook.attach_point = point;
  return hook;
}

// The place of tutti's program among those of a hook.
bpf_tc_opts own_place() {
  bpf_tc_opts options{};
  options.sz = sizeof options;
  options.handle = tc_handle;
  options.priority = tc_priority;
  return options;
}

void attach_tc(int index, bpf_tc_attach_point point, int fd) {
  bpf_tc_hook hook = hook_of(index, point);
  bpf_tc_opts options = own_place();
  options.prog_fd = fd;
  options.flags = BPF_TC_F_REPLACE;
  const int made = bpf_tc_hook_create(&hook);
  if (made != 0 && made != -EEXIST)
    throw device_error("the kernel has no clsact queue for this device (" + reason(made) +
                       "): it needs CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF");
  if (const int error = bpf_tc_attach(&hook, &options); error != 0)
    throw device_error("a program could not be attached behind the device: " + reason(error));
}

void detach_tc(int index, bpf_tc_attach_point point) {
  bpf_tc_hook hook = hook_of(index, point);
  bpf_tc_opts options = own_place();
  bpf_tc_detach(&hook, &options);
}

// The number of the program that attach_tc() has attached, or 0.
std::uint32_t tc_program_id(int index, bpf_tc_attach_point point) {
  bpf_tc_hook hook = hook_of(index, point);
  bpf_tc_opts options = own_place();
  return bpf_tc_query(&hook, &options) == 0 ? options.prog_id : 0;
}

void attach_xdp(int index, int fd, xdp_mode mode, const std::string& device) {
  const auto with = [&](unsigned flags) {
    return bpf_xdp_attach(index, fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr);
  };
  int error = mode == xdp_mode::generic ? with(XDP_FLAGS_SKB_MODE) : with(XDP_FLAGS_DRV_MODE);
  if (error != 0 && mode == xdp_mode::native_or_generic && error != -EBUSY)
    error = with(XDP_FLAGS_SKB_MODE);
  if (error == 0) return;
  if (mode == xdp_mode::native && error == -EOPNOTSUPP)
    throw device_error("the driver of " + device +
                       " does not run XDP programs; use --mode generic, which is slower");
  throw device_error("the program could not be attached to " + device + ": " + reason(error));
}

}  // namespace

device_error no_device(const std::string& name) {
  return device_error("there is no network device '" + name + "'; `ip link` lists them");
}

std::uint64_t process_space() {
  struct stat space {};
  return ::stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

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
  std::vector<std::uint64_t> each(static_cast<std::size_t>(cpus));
  for (std::uint32_t c = 0; c < TUTTI_NET_COUNTERS; ++c) {
    if (bpf_map_lookup_elem(fd("counters"), &c, each.data()) != 0) continue;
    for (const std::uint64_t n : each) all[c] += n;
  }
  return all;
}

std::vector<tutti_net_member> program_maps::members() const {
  std::vector<tutti_net_member> all;
  std::uint16_t key = 0, next = 0;
  for (bool first = true; bpf_map_get_next_key(fd("places"), first ? nullptr : &key, &next) == 0;
       first = false) {
    key = next;
    std::uint32_t place = 0;
    tutti_net_member m{};
    if (bpf_map_lookup_elem(fd("places"), &key, &place) == 0 &&
        bpf_map_lookup_elem_flags(fd("members"), &place, &m, BPF_F_LOCK) == 0)
      all.push_back(m);
  }
  return all;
}

std::uint32_t program_maps::start(const tutti_net_member& member) const {
  if (member.table.rows > TUTTI_NET_KERNEL_ROWS)
    throw device_error("a schedule of more than 12 rounds does not fit the kernel's programs");
  std::array<bool, TUTTI_NET_MEMBERS> used{};
  std::uint16_t last = 0, next = 0;
  for (bool first = true; bpf_map_get_next_key(fd("places"), first ? nullptr : &last, &next) == 0;
       first = false) {
    last = next;
    std::uint32_t taken = 0;
    if (bpf_map_lookup_elem(fd("places"), &next, &taken) == 0 && taken < used.size())
      used[taken] = true;
  }
  std::uint32_t place = 0;
  const std::uint16_t key = member.table.communicator;
  if (bpf_map_lookup_elem(fd("places"), &key, &place) == 0)
    throw device_error("communicator " + std::to_string(key) + " is in use on this device");
  place = 0;
  while (place < used.size() && used[place]) ++place;
  if (place == used.size())
    throw device_error("all " + std::to_string(used.size()) +
                       " communicators of this device are in use");
  const std::vector<std::uint8_t> blank(
      std::max(sizeof(tutti_net_values), sizeof(tutti_net_completion)));
  if (bpf_map_update_elem(fd("values"), &place, blank.data(), BPF_ANY) != 0 ||
      bpf_map_update_elem(fd("members"), &place, &member, BPF_ANY) != 0)
    throw device_error("the kernel does not take a table: " + reason(errno));
  // A switch has no host to tell.
  if (fds_.contains("completions"))
    bpf_map_update_elem(fd("completions"), &place, blank.data(), BPF_ANY);
  if (bpf_map_update_elem(fd("places"), &key, &place, BPF_NOEXIST) != 0)
    throw device_error("communicator " + std::to_string(key) +
                       " could not be started: " + reason(errno));
  return place;
}

void program_maps::stop(std::uint16_t communicator) const {
  bpf_map_delete_elem(fd("places"), &communicator);
}

void program_maps::stop_orphans() const {
  const std::uint64_t here = process_space();
  for (const tutti_net_member& m : members())
    if (m.owner != 0 && m.owner_space == here && ::kill(static_cast<pid_t>(m.owner), 0) != 0 &&
        errno == ESRCH)
      stop(m.table.communicator);
}

attached_device look_at(const std::string& device) {
  attached_device d{device, index_of(device), "", ""};
  const std::uint32_t id = xdp_program_id(d.index, d.mode);
  if (id == 0) return d;
  d.program = "another program";
  if (const int fd = bpf_prog_get_fd_by_id(id); fd >= 0) {
    d.program = info_of(fd).name;
    ::close(fd);
  } else if (errno == EPERM) {
    throw device_error(device + " has a program that only root may look at: run it as root");
  }
  if (d.program != "tutti_xdp") return d;
  for (const std::uint32_t each :
       {id, tc_program_id(d.index, BPF_TC_EGRESS), tc_program_id(d.index, BPF_TC_INGRESS)}) {
    const int fd = each == 0 ? -1 : bpf_prog_get_fd_by_id(each);
    if (fd < 0) continue;
    const bpf_prog_info info = info_of(fd);
    d.verified[info.name] = info.verified_insns;
    ::close(fd);
  }
  return d;
}

std::uint32_t program_of(const std::string& device) {
  std::string mode;
  return xdp_program_id(index_of(device), mode);
}

attached_device attach(const std::string& device, xdp_mode mode) {
  const attached_device before = look_at(device);
  if (before.program == "tutti_xdp")
    throw device_error(device + " has tutti's programs already; `tutti network detach " + device +
                       "` takes them off");
  if (!before.program.empty())
    throw device_error(device + " has another XDP program, " + before.program +
                       "; take it off first: ip link set dev " + device + " xdp off");
  const owned_object o = load_nic();
  attach_tc(before.index, BPF_TC_EGRESS, program(o.get(), "tutti_egress"));
  attach_tc(before.index, BPF_TC_INGRESS, program(o.get(), "tutti_fan_out"));
  try {
    attach_xdp(before.index, program(o.get(), "tutti_xdp"), mode, device);
  } catch (...) {
    detach_tc(before.index, BPF_TC_EGRESS);
    detach_tc(before.index, BPF_TC_INGRESS);
    throw;
  }
  return look_at(device);
}

void detach(const std::string& device) {
  const attached_device d = look_at(device);
  if (d.program != "tutti_xdp")
    throw device_error(d.program.empty()
                           ? device + " has no program of tutti's"
                           : device + " has another program, " + d.program + ", which stays");
  bpf_xdp_detach(d.index, d.mode == "generic" ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE, nullptr);
  detach_tc(d.index, BPF_TC_EGRESS);
  detach_tc(d.index, BPF_TC_INGRESS);
}

program_maps open_maps(const std::string& device) {
  std::string mode;
  const attached_device d = look_at(device);
  if (d.program.empty())
    throw device_error(device + " has no program of tutti's; `tutti network attach " + device +
                       "` attaches it");
  if (d.program != "tutti_xdp")
    throw device_error(device + " has another program, " + d.program + ", and none of tutti's");
  const int fd = bpf_prog_get_fd_by_id(xdp_program_id(d.index, mode));
  if (fd < 0)
    throw device_error("the attached program cannot be opened (" + reason(errno) +
                       "): run it as root");
  std::array<__u32, 32> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<__u64>(ids.data());
  __u32 length = sizeof info;
  const int error = bpf_obj_get_info_by_fd(fd, &info, &length);
  ::close(fd);
  if (error != 0) throw device_error("the attached program cannot be read: " + reason(errno));
  program_maps maps;
  for (__u32 i = 0; i < info.nr_map_ids; ++i) {
    const int map = bpf_map_get_fd_by_id(ids[i]);
    bpf_map_info about{};
    __u32 size = sizeof about;
    if (map < 0 || bpf_obj_get_info_by_fd(map, &about, &size) != 0)
      throw device_error("the maps cannot be opened: run it as root");
    maps.add(about.name, map);
  }
  return maps;
}

program_maps attach_switch(const std::vector<std::string>& devices,
                           const std::vector<std::array<std::uint8_t, 6>>& stations) {
  const owned_object o = load(tutti_network_switch_begin, tutti_network_switch_end, "tutti_switch");
  program_maps maps = maps_of(o.get());
  for (std::uint32_t port = 0; port < devices.size(); ++port) {
    const auto index = static_cast<std::uint32_t>(index_of(devices[port]));
    attach_xdp(static_cast<int>(index), program(o.get(), "tutti_switch"), xdp_mode::native,
               devices[port]);
    std::uint64_t mac = 0;
    std::memcpy(&mac, stations[port].data(), 6);
    if (bpf_map_update_elem(maps.fd("ports"), &port, &index, BPF_ANY) != 0 ||
        bpf_map_update_elem(maps.fd("stations"), &mac, &port, BPF_ANY) != 0)
      throw device_error("a port of the switch could not be set: " + reason(errno));
  }
  return maps;
}

void detach_switch(const std::vector<std::string>& devices) {
  for (const std::string& device : devices)
    bpf_xdp_detach(index_of(device), XDP_FLAGS_DRV_MODE, nullptr);
}

std::vector<requirement> check_requirements(const std::string& device) {
  std::vector<requirement> all;
  utsname name{};
  ::uname(&name);
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  all.push_back({"kernel", major > 5 || (major == 5 && minor >= 18), name.release,
                 "use Linux 5.18 or newer"});
  std::ifstream jit("/proc/sys/net/core/bpf_jit_enable");
  int enabled = 1;
  jit >> enabled;
  all.push_back({"BPF compiler", enabled != 0, enabled != 0 ? "on" : "off",
                 "sysctl net.core.bpf_jit_enable=1"});
  requirement permission{"permission", true, "programs load", ""};
  try {
    const owned_object o = load_nic();
  } catch (const device_error& e) {
    permission = {"permission", false, e.what(),
                  ::geteuid() == 0
                      ? "look at dmesg, and at lockdown: cat /sys/kernel/security/lockdown"
                      : "run it as root, or with CAP_BPF and CAP_NET_ADMIN"};
  }
  all.push_back(permission);
  if (device.empty()) return all;
  try {
    const attached_device d = look_at(device);
    all.push_back({"device", true, device, ""});
    const bool is_free = d.program.empty() || d.program == "tutti_xdp";
    all.push_back({"no other program", is_free,
                   d.program.empty() ? "none is attached" : d.program + " (" + d.mode + ")",
                   "ip link set dev " + device + " xdp off"});
    if (d.program.empty() && permission.met) {
      const owned_object o = load_nic();
      const int fd = program(o.get(), "tutti_xdp");
      const unsigned only = XDP_FLAGS_UPDATE_IF_NOEXIST;
      const bool native = bpf_xdp_attach(d.index, fd, XDP_FLAGS_DRV_MODE | only, nullptr) == 0;
      if (native) bpf_xdp_detach(d.index, XDP_FLAGS_DRV_MODE, nullptr);
      all.push_back({"driver", true, native ? "native" : "generic only: slower, but it works", ""});
    }
  } catch (const device_error& e) {
    const bool is_there = ::if_nametoindex(device.c_str()) != 0;
    all.push_back({"device", false, e.what(),
                   is_there ? "run it as root" : "name a device that `ip link` lists"});
  }
  return all;
}

loaded_programs::loaded_programs() {
  owned_object o = load_nic();
  maps = maps_of(o.get());
  object = o.release();
  xdp = program(object, "tutti_xdp");
  egress = program(object, "tutti_egress");
  bpf_program* p;
  bpf_object__for_each_program(p, object) verified[bpf_program__name(p)] =
      info_of(bpf_program__fd(p)).verified_insns;
}

loaded_programs::~loaded_programs() { bpf_object__close(object); }

}  // namespace tutti::network
