// SPDX-License-Identifier: Apache-2.0
#include "network/device.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

// The objects that clang made of network/bpf/*.bpf.c.
extern "C" {
extern const unsigned char tutti_network_nic_begin[], tutti_network_nic_end[];
extern const unsigned char tutti_network_switch_begin[], tutti_network_switch_end[];
}

namespace tutti::network {
namespace {

constexpr std::uint32_t tc_handle = 0x7475, tc_priority = 0x7474;

// The programs of a node, by their names.
constexpr std::array node_programs{"tutti_xdp", "tutti_egress", "tutti_fan_out"};

constexpr const char* may_not_attach =
    "this user may not attach programs to devices: run it as root, or with CAP_NET_ADMIN";

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

program_maps maps_of(bpf_object* o) {
  program_maps maps;
  bpf_map* map;
  bpf_object__for_each_map(map, o) maps.add(bpf_map__name(map), ::dup(bpf_map__fd(map)));
  return maps;
}

int program(bpf_object* o, const char* name) {
  return bpf_program__fd(bpf_object__find_program_by_name(o, name));
}

owned_object load_nic() {
  owned_object o = load(tutti_network_nic_begin, tutti_network_nic_end, "tutti_nic");
  // No program looks at the owners; bound to this one, they are among the maps that open_maps()
  // finds.
  const int owners = bpf_object__find_map_fd_by_name(o.get(), "owners");
  if (const int error = bpf_prog_bind_map(program(o.get(), "tutti_xdp"), owners, nullptr);
      error != 0)
    fail_to_load(error);
  return o;
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

// The programs read frames with the header of Ethernet; the loopback device has one, too.
bool has_ethernet_frames(const std::string& device) {
  ifreq request{};
  std::copy_n(device.c_str(), std::min<std::size_t>(device.size(), IFNAMSIZ - 1), request.ifr_name);
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool is_known = ::ioctl(s, SIOCGIFHWADDR, &request) == 0;
  if (s >= 0) ::close(s);
  const auto family = request.ifr_hwaddr.sa_family;
  return !is_known || family == ARPHRD_ETHER || family == ARPHRD_LOOPBACK;
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
  if (made == -EPERM) throw device_error(may_not_attach);
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

// Takes the program off unless another one stands in its place.
void detach_tc(int index, bpf_tc_attach_point point, int fd) {
  if (tc_program_id(index, point) == info_of(fd).id) detach_tc(index, point);
}

// Throws if a device has an XDP program.
void refuse_occupied(const attached_device& d) {
  if (d.program == "tutti_xdp")
    throw device_error(d.name + " has tutti's programs already; `tutti network detach " + d.name +
                       "` takes them off");
  if (!d.program.empty())
    throw device_error(d.name + " has another XDP program, " + d.program +
                       "; take it off first: ip link set dev " + d.name + " xdp off");
}

void attach_xdp(int index, int fd, xdp_mode mode, const std::string& device) {
  const auto with = [&](unsigned flags) {
    return bpf_xdp_attach(index, fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr);
  };
  int error = mode == xdp_mode::generic ? with(XDP_FLAGS_SKB_MODE) : with(XDP_FLAGS_DRV_MODE);
  if (error != 0 && mode == xdp_mode::native_or_generic && error != -EBUSY)
    error = with(XDP_FLAGS_SKB_MODE);
  if (error == 0) return;
  if (error == -EPERM) throw device_error(may_not_attach);
  // Another process has been faster.
  if (error == -EBUSY || error == -EEXIST) refuse_occupied(look_at(device));
  if (mode == xdp_mode::native && error == -EOPNOTSUPP)
    throw device_error("the driver of " + device +
                       " does not run XDP programs; use --mode generic, which is slower");
  if (mode == xdp_mode::native && (error == -ERANGE || error == -EINVAL))
    throw device_error("the driver of " + device + " does not run XDP programs as it is set (" +
                       reason(error) +
                       "), perhaps because of its MTU; use a smaller MTU, or --mode generic, which "
                       "is slower");
  throw device_error("the program could not be attached to " + device + ": " + reason(error));
}

}  // namespace

device_error no_device(const std::string& name) {
  return device_error("there is no network device '" + name + "'; `ip link` lists them");
}

std::string what_does_not_fit(const std::string& device) {
  ifreq request{};
  std::copy_n(device.c_str(), std::min<std::size_t>(device.size(), IFNAMSIZ - 1), request.ifr_name);
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool is_known = ::ioctl(s, SIOCGIFMTU, &request) == 0;
  if (s >= 0) ::close(s);
  constexpr int most = int{TUTTI_NET_LONGEST_FRAME} - TUTTI_NET_ETHERNET_BYTES,
                none = int{TUTTI_NET_EXTENDED_FRAME} - TUTTI_NET_ETHERNET_BYTES;
  const int mtu = request.ifr_mtu;
  if (!is_known || mtu >= most) return {};
  return device + " has an MTU of " + std::to_string(mtu) + " bytes: calls with more than " +
         std::to_string(std::max((mtu - none) / 8, 0)) +
         " values do not fit in its packets; for all, `ip link set dev " + device + " mtu " +
         std::to_string(most) + "`, or more";
}

std::string what_driver_lacks(const std::string& device) {
  return "the driver of " + device +
         " has no room for the notes by which tutti's programs send more than one packet; `tutti "
         "network detach " +
         device + "`, then attach them with --mode generic";
}

attached_device look_at(const std::string& device) {
  // A device without queues for programs is no reason for a message.
  libbpf_set_print(nullptr);
  attached_device d{device, index_of(device), "", ""};
  const std::uint32_t id = xdp_program_id(d.index, d.mode);
  if (id != 0) {
    d.program = "another program";
    if (const int fd = bpf_prog_get_fd_by_id(id); fd >= 0) {
      d.program = info_of(fd).name;
      ::close(fd);
    } else if (errno == EPERM) {
      throw device_error(device + " has a program that only root may look at: run it as root");
    }
  }
  for (const std::uint32_t each :
       {id, tc_program_id(d.index, BPF_TC_EGRESS), tc_program_id(d.index, BPF_TC_INGRESS)}) {
    const int fd = each == 0 ? -1 : bpf_prog_get_fd_by_id(each);
    if (fd < 0) continue;
    const bpf_prog_info info = info_of(fd);
    ::close(fd);
    for (const char* own : node_programs)
      if (std::strcmp(info.name, own) == 0) d.verified[own] = info.verified_insns;
  }
  return d;
}

std::string what_is_missing(const attached_device& d) {
  if (d.program != "tutti_xdp" || d.verified.size() == node_programs.size()) return {};
  return "programs behind " + d.name + " are missing, perhaps because it was moved to another " +
         "network namespace; `tutti network detach " + d.name + "`, then attach them again";
}

std::uint32_t program_of(const std::string& device) {
  std::string mode;
  return xdp_program_id(index_of(device), mode);
}

attached_device attach(const std::string& device, xdp_mode mode) {
  const attached_device before = look_at(device);
  refuse_occupied(before);
  if (!has_ethernet_frames(device)) throw device_error(device + " carries no Ethernet frames");
  const owned_object o = load_nic();
  const int xdp = program(o.get(), "tutti_xdp"), egress = program(o.get(), "tutti_egress"),
            fan_out = program(o.get(), "tutti_fan_out");
  // The kernel lets one process alone attach the XDP program, and whoever has done so may change
  // the programs behind the device.
  attach_xdp(before.index, xdp, mode, device);
  try {
    attach_tc(before.index, BPF_TC_EGRESS, egress);
    attach_tc(before.index, BPF_TC_INGRESS, fan_out);
    // A queue for incoming packets alone takes both, as if what is sent had come in.
    if (tc_program_id(before.index, BPF_TC_EGRESS) == info_of(fan_out).id)
      throw device_error(device +
                         " has a queue for incoming packets only, which another program has put "
                         "there; take it off first: tc qdisc del dev " +
                         device + " ingress");
    const attached_device after = look_at(device);
    if (after.verified.size() != node_programs.size())
      throw device_error("another process has taken programs off " + device +
                         " meanwhile; attach them again");
    return after;
  } catch (...) {
    detach_tc(before.index, BPF_TC_EGRESS, egress);
    detach_tc(before.index, BPF_TC_INGRESS, fan_out);
    bpf_xdp_attach_opts only{};
    only.sz = sizeof only;
    only.old_prog_fd = xdp;
    // The kernel refuses the mode in which the program is not attached.
    for (const unsigned flags : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE})
      bpf_xdp_detach(before.index, flags, &only);
    throw;
  }
}

void detach(const std::string& device) {
  const attached_device d = look_at(device);
  // Also what stands behind a device whose XDP program somebody else has taken off.
  if (d.verified.empty())
    throw device_error(d.program.empty()
                           ? device + " has no program of tutti's"
                           : device + " has another program, " + d.program + ", which stays");
  // The XDP program goes last: until then nobody else attaches programs of tutti's.
  detach_tc(d.index, BPF_TC_EGRESS);
  detach_tc(d.index, BPF_TC_INGRESS);
  if (d.program == "tutti_xdp") {
    std::string mode;
    bpf_xdp_attach_opts only{};
    only.sz = sizeof only;
    // Another program may have taken its place meanwhile.
    only.old_prog_fd = bpf_prog_get_fd_by_id(xdp_program_id(d.index, mode));
    const int error = bpf_xdp_detach(
        d.index, d.mode == "generic" ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE, &only);
    if (only.old_prog_fd >= 0) ::close(only.old_prog_fd);
    if (error == -EPERM) throw device_error(may_not_attach);
    if (error != 0)
      throw device_error("the program of " + device + " could not be taken off: " + reason(error));
  }
  const attached_device after = look_at(device);
  if (!after.verified.empty())
    throw device_error(after.verified.begin()->first + " could not be taken off " + device +
                       ": run it as root, or with CAP_NET_ADMIN");
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
  // The kernel tells how many maps there are, even if that is more than the array holds.
  const std::size_t known = std::min<std::size_t>(ids.size(), info.nr_map_ids);
  return maps_by_number({ids.data(), known}, device);
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
    const bool is_ethernet = has_ethernet_frames(device);
    all.push_back({"device", is_ethernet,
                   is_ethernet ? device : device + " carries no Ethernet frames",
                   "name an Ethernet device that `ip link` lists"});
    const bool is_free = d.program.empty() || d.program == "tutti_xdp";
    all.push_back({"no other program", is_free,
                   d.program.empty() ? "none is attached" : d.program + " (" + d.mode + ")",
                   "ip link set dev " + device + " xdp off"});
    if (const std::string tight = what_does_not_fit(device); !tight.empty())
      all.push_back({"MTU", true, tight, ""});
    if (d.program == "tutti_xdp") {
      const std::string missing = what_is_missing(d);
      all.push_back({"all programs", missing.empty(), missing.empty() ? "attached" : missing,
                     "tutti network detach " + device});
    }
    if (d.program.empty() && permission.met && is_ethernet) {
      const owned_object o = load_nic();
      const int fd = program(o.get(), "tutti_xdp");
      const unsigned only = XDP_FLAGS_UPDATE_IF_NOEXIST;
      const int error = bpf_xdp_attach(d.index, fd, XDP_FLAGS_DRV_MODE | only, nullptr);
      if (error == 0) bpf_xdp_detach(d.index, XDP_FLAGS_DRV_MODE, nullptr);
      all.push_back({"driver", error != -EPERM,
                     error == 0        ? "native"
                     : error == -EPERM ? "this user may not attach programs to devices"
                                       : "generic only: slower, but it works",
                     "run it as root, or with CAP_NET_ADMIN"});
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
