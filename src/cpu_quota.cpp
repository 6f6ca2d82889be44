// SPDX-License-Identifier: Apache-2.0
// Reads the quota from the control groups. /proc/self/cgroup tells the process's group in each
// hierarchy. /proc/self/mountinfo tells where a hierarchy is mounted and which of its groups is the
// root of the mount. Together they give the folder of the group.

#include "tutti/platform/cpu_quota.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/platform/clock.hpp"
#include "tutti/platform/plain_files.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::platform {
namespace {

using std::string;
using std::string_view;

std::vector<string_view> split(string_view text, char at) {
  std::vector<string_view> parts;
  for (std::size_t end = 0; end != string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == string_view::npos) break;
  }
  return parts;
}

bool lists(string_view items, string_view wanted) {
  const auto all = split(items, ',');
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

// Replaces the octal codes in paths of mountinfo: the kernel writes a blank as \040, for instance.
string unescape(string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<string> lines_of(const string& text) {
  std::vector<string> lines;
  for (const string_view line : split(text, '\n')) lines.emplace_back(line);
  return lines;
}

// ---- the folder of the group

// A hierarchy that can have the wanted controller: that of v2, or the one of v1 that has it.
struct hierarchy {
  bool is_v2 = false;
  // The group of this process. It begins with /.
  string group;
};

// Parses /proc/self/cgroup, with lines such as "4:cpu,cpuacct:/group" (v1) and "0::/group" (v2).
std::vector<hierarchy> hierarchies(const string& cgroup, string_view controller) {
  std::vector<hierarchy> found;
  for (const string& line : lines_of(cgroup)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == string::npos ? first : line.find(':', first + 1);
    if (second == string::npos || line[second + 1] != '/') continue;
    const string_view controllers = string_view(line).substr(first + 1, second - first - 1);
    const bool is_v2 = line.starts_with("0:") && controllers.empty();
    if (is_v2 || lists(controllers, controller)) found.push_back({is_v2, line.substr(second + 1)});
  }
  return found;
}

struct mount {
  bool is_v2 = false;
  // The group that is the root of the mount.
  string top;
  // The folder where it is mounted.
  string folder;
};

// Parses /proc/self/mountinfo, with lines such as
// "30 25 0:26 /top /folder rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct".
std::vector<mount> cgroup_mounts(const string& mountinfo, string_view controller) {
  std::vector<mount> found;
  for (const string& line : lines_of(mountinfo)) {
    const std::size_t dash = line.find(" - ");
    if (dash == string::npos) continue;
    const auto before = split(string_view(line).substr(0, dash), ' ');
    const auto after = split(string_view(line).substr(dash + 3), ' ');
    if (before.size() < 6 || after.size() < 3) continue;
    const bool is_v2 = after[0] == "cgroup2";
    if (is_v2 || (after[0] == "cgroup" && lists(after[2], controller)))
      found.push_back({is_v2, unescape(before[3]), unescape(before[4])});
  }
  return found;
}

// Returns the path of `group` below `top`, "" or "/...", or nothing if it does not lie there.
std::optional<string> below(const string& top, const string& group) {
  if (top == "/") return group == "/" ? string() : group;
  if (!group.starts_with(top)) return std::nullopt;
  const string rest = group.substr(top.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return rest;
}

// A path with ".." names a group outside of the process's cgroup namespace, which has no folder
// here.
bool is_outside(const string& group) {
  const auto names = split(group, '/');
  return std::find(names.begin(), names.end(), "..") != names.end();
}

// Chooses the mount that shows the most groups above the process's group. In a container
// /proc/self/cgroup may name the groups of the host while only the folder of the container's own
// group is mounted, under the usual name. Then it chooses that folder.
std::optional<cpu_group> place_of(const hierarchy& of, const std::vector<mount>& mounts) {
  std::optional<cpu_group> best, only_own;
  for (const mount& m : mounts) {
    if (m.is_v2 != of.is_v2) continue;
    const std::optional<string> group =
        is_outside(of.group) || is_outside(m.top) ? std::nullopt : below(m.top, of.group);
    if (!group) {
      if (!only_own) only_own = {of.is_v2, m.folder, ""};
    } else if (!best || group->size() > best->group.size()) {
      best = {of.is_v2, m.folder, *group};
    }
  }
  return best ? best : only_own;
}

// ---- the files

// Returns the text of the file, or as much of it as can be read. A waiting thread may call it,
// perhaps while another thread forks, so it uses no stream, whose locale may have a lock.
string whole(const string& path) {
  string text;
  const int file = open_plainly(path.c_str());
  if (file < 0) return text;
  char part[4096] = {};
  for (long size; (size = read_plainly(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  close_plainly(file);
  return text;
}

string first_line(const string& path) {
  const string text = whole(path);
  return text.substr(0, text.find('\n'));
}

// Returns the number if the text is a whole number, or nothing, such as for "max", "-1", "" and
// "12x".
std::optional<std::uint64_t> number(string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

double ratio(std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Reads quota and period, in microseconds. v2 has both in one file: "150000 100000" or "max
// 100000". v1 has a file for each: 150000 or -1, and 100000.
cpu_quota quota_of(const string& folder, bool is_v2) {
  cpu_quota found{0, folder + (is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us"), folder + "/cpu.stat"};
  const string line = first_line(found.file);
  if (is_v2) {
    const auto parts = split(line, ' ');
    if (parts.size() == 2) found.cpus = ratio(number(parts[0]), number(parts[1]));
  } else {
    found.cpus = ratio(number(line), number(first_line(folder + "/cpu.cfs_period_us")));
  }
  return found;
}

// ---- the recent values, for all threads

class recent {
 public:
  double quota() noexcept {
    const std::uint64_t now = now_ns();
    // relaxed: the two numbers publish nothing else; an old one is a second old.
    if (now < next_.load(relaxed)) return cpus_.load(relaxed);
    // While another thread reads the files, this one takes the previous value.
    if (const std::unique_lock mine(reading_, std::try_to_lock); mine) read_again();
    // relaxed: the number publishes nothing else.
    return cpus_.load(relaxed);
  }

  std::uint64_t throttled_ns() noexcept {
    if (quota() <= 0) return 0;
    if (const std::unique_lock mine(reading_, std::try_to_lock); mine) try {
        // relaxed: the number publishes nothing else.
        throttled_ns_.store(read_cpu_throttling(quota_.stats).ns, relaxed);
      } catch (...) {
        // Without memory the previous value stays.
      }
    // relaxed: the number publishes nothing else.
    return throttled_ns_.load(relaxed);
  }

 private:
  void read_again() noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    try {
      quota_ = read_cpu_quota();
      // relaxed: the number publishes nothing else.
      cpus_.store(quota_.cpus, relaxed);
    } catch (...) {
      // Without memory the previous value stays.
    }
    // relaxed: the number publishes nothing else.
    next_.store(now_ns() + second, relaxed);
  }

  std::mutex reading_;
  // reading_ protects it.
  cpu_quota quota_;
  std::atomic<double> cpus_{0};
  std::atomic<std::uint64_t> throttled_ns_{0};
  std::atomic<std::uint64_t> next_{0};
};

// It stays for threads that wait while the process ends.
recent& of_this_process() {
  static recent& value = *new recent;
  return value;
}

}  // namespace

std::vector<cpu_group> cpu_groups(const std::string& cgroup, const std::string& mountinfo,
                                  const std::string& controller) {
  std::vector<cpu_group> found;
  const auto mounts = cgroup_mounts(mountinfo, controller);
  for (const hierarchy& of : hierarchies(cgroup, controller))
    if (auto at = place_of(of, mounts)) found.push_back(std::move(*at));
  return found;
}

std::vector<group_folder> group_folders(const std::string& controller, const std::string& root) {
  std::vector<group_folder> found;
  for (const cpu_group& at : cpu_groups(whole(root + "/proc/self/cgroup"),
                                        whole(root + "/proc/self/mountinfo"), controller)) {
    for (string group = at.group;;) {
      found.push_back({at.is_v2, root + at.mount + group});
      const std::size_t parent = group.find_last_of('/');
      if (parent == string::npos) break;
      group.erase(parent);
    }
  }
  return found;
}

cpu_quota read_cpu_quota(const std::string& root) {
  cpu_quota tightest;
  for (const auto& [is_v2, folder] : group_folders("cpu", root)) {
    cpu_quota found = quota_of(folder, is_v2);
    if (found.cpus > 0 && (tightest.cpus == 0 || found.cpus < tightest.cpus))
      tightest = std::move(found);
  }
  return tightest;
}

cpu_throttling read_cpu_throttling(const std::string& stats) {
  cpu_throttling found;
  for (const string& line : lines_of(whole(stats))) {
    const auto parts = split(line, ' ');
    const auto value = parts.size() == 2 ? number(parts[1]) : std::nullopt;
    if (!value) continue;
    if (parts[0] == "nr_throttled") found.times = *value;
    // v1 has nanoseconds, v2 has microseconds.
    if (parts[0] == "throttled_time") found.ns = *value;
    if (parts[0] == "throttled_usec") found.ns = *value * 1'000u;
  }
  return found;
}

double recent_cpu_quota() noexcept { return of_this_process().quota(); }
std::uint64_t recent_throttled_ns() noexcept { return of_this_process().throttled_ns(); }

bool tell_quota_to_headers() noexcept {
  // The child of a fork() beside the first call would wait for that call for ever.
  of_this_process();
  cpu_limits = {&recent_cpu_quota, &recent_throttled_ns};
  return true;
}

namespace {
[[maybe_unused]] const bool has_told = tell_quota_to_headers();
}

}  // namespace tutti::platform
