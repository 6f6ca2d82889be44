// SPDX-License-Identifier: Apache-2.0
// Writes into the cgroup file systems; version 1 and version 2.
#include "bench/harness/cpu_quota.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "tutti/platform/cpu_quota.hpp"

namespace tutti::bench {
namespace {

constexpr long period_us = 100000;
constexpr int removal_attempts = 200;
constexpr long between_attempts_ns = 10'000'000;

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Throws std::runtime_error.
void write_text(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool good =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) close(file);
  if (!good) throw std::runtime_error(fmt::format("{}: {}", path, strerror(error)));
}

// The group's own files appear when its parent gives it the controller.
void give_controller(const std::string& parent) {
  write_text(parent + "/cgroup.subtree_control", "+cpu");
}

// A process and all that it has started.
std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> family{process};
  for (std::size_t i = 0; i < family.size(); ++i) {
    // A process that has ended meanwhile has no threads.
    std::error_code ended;
    std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", family[i]), ended);
    for (; !ended && thread != std::filesystem::directory_iterator(); thread.increment(ended)) {
      std::istringstream children(read_whole(thread->path().string() + "/children"));
      for (pid_t child = 0; children >> child;) family.push_back(child);
    }
  }
  return family;
}

// Below: only what is safe after a fork of a process with threads.

void move_all(const char* from, const char* to) {
  char text[4096];
  const int file = open(from, O_RDONLY);
  if (file < 0) return;
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  const int target = open(to, O_WRONLY);
  if (target < 0) return;
  for (ssize_t begin = 0, i = 0; i < length; ++i) {
    if (text[i] != '\n') continue;
    (void)!write(target, text + begin, static_cast<std::size_t>(i - begin));
    begin = i + 1;
  }
  close(target);
}

// What has ended leaves a group only after a moment.
bool remove_group(const char* folder, const char* inside, const char* outside) {
  for (int attempt = 0; attempt < removal_attempts; ++attempt) {
    move_all(inside, outside);
    if (rmdir(folder) == 0 || errno == ENOENT) return true;
    const timespec t{0, between_attempts_ns};
    nanosleep(&t, nullptr);
  }
  return false;
}

// Waits for the end of the other side of the pipe, in a session of its own: what is typed at the
// terminal is not for it.
[[noreturn]] void guard(int pipe, const char* folder, const char* inside, const char* outside) {
  setsid();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) signal(signal_number, SIG_IGN);
  // The standard streams too: who waits for their end must not wait for this process.
  if (pipe > 0) close_range(0, static_cast<unsigned>(pipe) - 1, 0);
  close_range(static_cast<unsigned>(pipe) + 1, ~0u, 0);
  char byte = 0;
  while (read(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
  _exit(remove_group(folder, inside, outside) ? 0 : 1);
}

}  // namespace

std::optional<cpu_controller> find_cpu_controller(const std::string& mountinfo,
                                                  const std::string& cgroup) {
  std::optional<cpu_controller> found;
  for (const platform::cpu_group& at : platform::cpu_groups(cgroup, mountinfo))
    if (!found || found->unified) found = {at.is_v2, at.mount + at.group};
  return found;
}

cpu_quota::cpu_quota(double cpus) : cpus_(cpus) {
  const auto found =
      find_cpu_controller(read_whole("/proc/self/mountinfo"), read_whole("/proc/self/cgroup"));
  if (!found)
    throw std::runtime_error("no file system of cgroups with the cpu controller is mounted");
  unified_ = found->unified;
  std::string parent = found->folder;
  if (unified_) {
    try {
      give_controller(parent);
    } catch (const std::runtime_error&) {
      // A group with processes cannot give controllers to others: one beside it, then.
      parent = parent.substr(0, parent.rfind('/'));
      give_controller(parent);
    }
  }
  folder_ = fmt::format("{}/tutti-bench-{}-{}", parent, getpid(), cpus);
  const std::string inside = folder_ + "/cgroup.procs";
  outside_ = found->folder + "/cgroup.procs";
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("a pipe cannot be made");
  guarded_ = ends[1];
  // Before there is anything to remove: nothing can be left behind.
  guard_ = fork();
  if (guard_ == 0) guard(ends[0], folder_.c_str(), inside.c_str(), outside_.c_str());
  close(ends[0]);
  try {
    if (guard_ < 0) throw std::runtime_error("a process cannot be started");
    if (mkdir(folder_.c_str(), 0755) != 0) {
      throw std::runtime_error(fmt::format("{}: {}", folder_, strerror(errno)));
    }
    set();
  } catch (const std::runtime_error&) {
    rmdir(folder_.c_str());
    close(guarded_);
    if (guard_ > 0) waitpid(guard_, nullptr, 0);
    throw;
  }
}

cpu_quota::~cpu_quota() {
  close(guarded_);
  waitpid(guard_, nullptr, 0);
}

void cpu_quota::enter(pid_t process, members who) const {
  // The kernel gives a group its whole quota when the quota is set, and lets it run.
  set();
  move(process, who, folder_ + "/cgroup.procs");
}

void cpu_quota::set() const {
  const auto quota_us = static_cast<long>(cpus_ * static_cast<double>(period_us));
  if (unified_) {
    write_text(folder_ + "/cpu.max", fmt::format("{} {}", quota_us, period_us));
    return;
  }
  write_text(folder_ + "/cpu.cfs_period_us", std::to_string(period_us));
  write_text(folder_ + "/cpu.cfs_quota_us", std::to_string(quota_us));
}

void cpu_quota::move(pid_t process, members who, const std::string& target) const {
  for (const pid_t each : who == members::family ? family_of(process) : std::vector{process}) {
    if (each != guard_) write_text(target, std::to_string(each));
  }
}

}  // namespace tutti::bench
