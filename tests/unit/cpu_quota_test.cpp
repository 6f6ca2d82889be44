// SPDX-License-Identifier: Apache-2.0
// Quotas of control groups, read from artificial trees of files as v1, v2 and hybrid mounts have
// them, and from a real group where one can be made; and the number of CPUs that a process may use.

#include "tutti/platform/cpu_quota.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace platform = tutti::platform;
namespace files = std::filesystem;
using platform::read_cpu_quota;

namespace {

constexpr std::uint64_t ms = 1'000'000;

// A folder that stands for /.
class CpuQuota : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const files::path whole = root_ + path;
    files::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void groups(const std::string& text) const { write("/proc/self/cgroup", text); }
  void mounts(const std::string& text) const { write("/proc/self/mountinfo", text); }
  void v1(const std::string& folder, const std::string& quota, const std::string& period) const {
    write(folder + "/cpu.cfs_quota_us", quota + "\n");
    write(folder + "/cpu.cfs_period_us", period + "\n");
  }
  double quota() const { return read_cpu_quota(root_).cpus; }

  const tutti::test::scratch scratch_;
  const std::string root_ = scratch_.folder();
};

constexpr const char* v2_mount =
    "24 1 0:22 / / rw - ext4 /dev/vda rw\n"
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "31 24 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:11 - cgroup cgroup "
    "rw,cpu,cpuacct\n";

TEST_F(CpuQuota, OfV2) {
  groups("0::/user.slice/job\n");
  mounts(v2_mount);
  EXPECT_EQ(quota(), 0) << "no file yet";
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  const platform::cpu_quota found = read_cpu_quota(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 1.5);
  EXPECT_EQ(found.file, root_ + "/sys/fs/cgroup/user.slice/job/cpu.max");
  EXPECT_EQ(found.stats, root_ + "/sys/fs/cgroup/user.slice/job/cpu.stat");
}

TEST_F(CpuQuota, OfV1) {
  groups("5:cpuset:/other\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/\n");
  mounts(v1_mounts);
  v1("/sys/fs/cgroup/cpu,cpuacct/docker/1", "250000", "100000");
  v1("/sys/fs/cgroup/cpuset/other", "10000", "100000");
  const platform::cpu_quota found = read_cpu_quota(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 2.5);
  EXPECT_EQ(found.file, root_ + "/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us");
}

// v2 is mounted beside v1, which has the controller: v2's group must not hide that of v1.
TEST_F(CpuQuota, OfHybridMounts) {
  const std::string v2_beside =
      "40 31 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";
  groups("1:cpu,cpuacct:/job\n0::/scope\n");
  mounts(v1_mounts + v2_beside);
  v1("/sys/fs/cgroup/cpu,cpuacct/job", "50000", "100000");
  write("/sys/fs/cgroup/unified/scope/cgroup.procs", "");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
  // The opposite case: v1 has only the name of systemd.
  groups("1:name=systemd:/job\n0::/scope\n");
  write("/sys/fs/cgroup/unified/scope/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 3);
}

TEST_F(CpuQuota, IsTheTightestUpToTheRoot) {
  groups("0::/a/b/c\n");
  mounts(v2_mount);
  write("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "20000 10000\n");
  EXPECT_DOUBLE_EQ(quota(), 2);
  EXPECT_EQ(read_cpu_quota(root_).stats, root_ + "/sys/fs/cgroup/a/cpu.stat");
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 1) << "a container's own group is the root that it sees";
}

TEST_F(CpuQuota, OfAContainerThatSeesItsOwnGroupOnly) {
  // Docker without a cgroup namespace: the path is the host's, and the mount's root is the group.
  groups("4:cpu,cpuacct:/docker/1\n");
  mounts("33 31 0:29 /docker/1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  v1("/sys/fs/cgroup/cpu,cpuacct", "75000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.75);
  // A group below that of the mount.
  groups("4:cpu,cpuacct:/docker/1/part\n");
  v1("/sys/fs/cgroup/cpu,cpuacct/part", "25000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.25);
  // A name with the same beginning is not a group below; then the existing folder counts.
  groups("4:cpu,cpuacct:/docker/10/part\n");
  EXPECT_DOUBLE_EQ(quota(), 0.75);
  // The path is outside the namespace.
  groups("4:cpu,cpuacct:/../2\n");
  EXPECT_DOUBLE_EQ(quota(), 0.75);
}

TEST_F(CpuQuota, UsesTheMountThatShowsMost) {
  groups("0::/a/b\n");
  mounts(
      "50 1 0:26 /a/b /here rw - cgroup2 none rw\n"
      "51 1 0:26 / /the\\040whole rw - cgroup2 none rw\n");
  write("/here/cpu.max", "400000 100000");
  write("/the whole/a/b/cpu.max", "400000 100000");
  write("/the whole/a/cpu.max", "100000 100000");
  EXPECT_DOUBLE_EQ(quota(), 1);
}

TEST_F(CpuQuota, ThatIsNoneOrCannotBeUnderstoodIsNone) {
  EXPECT_EQ(quota(), 0) << "nothing is there";
  groups("0::/job\n");
  EXPECT_EQ(quota(), 0) << "nothing is mounted";
  mounts(v2_mount);
  const auto v2_file = "/sys/fs/cgroup/job/cpu.max";
  for (const char* text :
       {"max 100000\n", "max\n", "", "\n", "0 100000\n", "100000 0\n", "-1 100000\n", "100000\n",
        "1e5 100000\n", "100000 100000 7\n", "ten thousand\n", "100000x 100000\n", "nan inf\n",
        "99999999999999999999999 100000\n", " 100000 100000\n"}) {
    write(v2_file, text);
    EXPECT_EQ(quota(), 0) << "'" << text << "'";
    EXPECT_TRUE(read_cpu_quota(root_).file.empty());
  }
  files::remove(root_ + v2_file);
  files::create_directory(root_ + v2_file);
  EXPECT_EQ(quota(), 0) << "a folder in place of the file";

  groups("4:cpu,cpuacct:/job\n");
  mounts(v1_mounts);
  const char* cases[][2] = {{"-1", "100000"}, {"", ""},        {"0", "100000"},
                            {"100000", "0"},  {"100000", "x"}, {"max", "100000"}};
  for (const auto& [limit, period] : cases) {
    v1("/sys/fs/cgroup/cpu,cpuacct/job", limit, period);
    EXPECT_EQ(quota(), 0) << limit << ' ' << period;
  }
  for (const char* text : {"", "4\n", "4:cpu\n", "::\n", ":::::\n", "4:cpu:no/slash\n", "0::\n",
                           "cpu,cpuacct:/job\n", "\n\n\n"}) {
    groups(text);
    EXPECT_EQ(quota(), 0) << text;
  }
  groups("4:cpu,cpuacct:/job\n");
  v1("/sys/fs/cgroup/cpu,cpuacct/job", "100000", "100000");
  EXPECT_EQ(quota(), 1);
  for (const char* text : {"", "33\n", " - \n", "33 31 - cgroup\n", "a b c d e f - cgroup\n",
                           "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw cgroup cgroup rw,cpu\n",
                           "33 31 0:29 / /x\\0 rw - cgroup c rw,cpu\n"}) {
    mounts(text);
    EXPECT_EQ(quota(), 0) << text;
  }
}

TEST_F(CpuQuota, TellsHowLongThreadsWereStopped) {
  const auto read = [&] { return platform::read_cpu_throttling(root_ + "/cpu.stat"); };
  EXPECT_EQ(read().ns, 0u);
  write("/cpu.stat", "nr_periods 70\nnr_throttled 5\nthrottled_time 123456789\n");
  EXPECT_EQ(read().times, 5u);
  EXPECT_EQ(read().ns, 123456789u);
  write("/cpu.stat",
        "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods 7\nnr_throttled 3\n"
        "throttled_usec 1200\nnr_bursts 0\nburst_usec 0\n");
  EXPECT_EQ(read().times, 3u);
  EXPECT_EQ(read().ns, 1'200'000u);
  write("/cpu.stat", "nr_throttled -3\nthrottled_usec\nthrottled_usec 5 6\n\nthrottled_time x\n");
  EXPECT_EQ(read().times, 0u);
  EXPECT_EQ(read().ns, 0u);
}

// ---- a real group, where a user may make one

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

// A group of v1 or v2 below that of this process, removed at the end.
class real_group {
 public:
  real_group() {
    const std::string name = "/tutti-test-" + std::to_string(getpid());
    if (try_folder("/sys/fs/cgroup/cpu" + name, "cpu.cfs_quota_us")) return;
    if (try_folder("/sys/fs/cgroup" + name, "cpu.max")) return;
    folder_.clear();
  }
  ~real_group() {
    // A group can be removed once the kernel has cleaned up the last process.
    for (int i = 0; i < 100 && !folder_.empty() && rmdir(folder_.c_str()) != 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  bool is_there() const { return !folder_.empty(); }
  bool is_v2() const { return files::exists(folder_ + "/cpu.max"); }
  bool limit_to(double cpus) const {
    const std::string us = std::to_string(static_cast<long>(cpus * 100'000));
    return is_v2() ? write_file(folder_ + "/cpu.max", us + " 100000")
                   : write_file(folder_ + "/cpu.cfs_quota_us", us);
  }
  bool enter() const { return write_file(folder_ + "/cgroup.procs", std::to_string(getpid())); }

 private:
  bool try_folder(const std::string& folder, const char* file) {
    folder_ = folder;
    if (mkdir(folder.c_str(), 0755) != 0) return false;
    if (files::exists(folder + "/" + file)) return true;
    rmdir(folder.c_str());
    return false;
  }
  std::string folder_;
};

// Runs in a child process, so that this one is never limited. Returns the number of the check that
// failed, or 0.
int watch_a_quota_change(const real_group& group) {
  using std::chrono::milliseconds;
  // This process is limited already, so nothing can be seen.
  if (platform::recent_cpu_quota() != 0) return 0;
  if (!group.limit_to(0.5) || !group.enter()) return 1;
  if (platform::read_cpu_quota().cpus != 0.5) return 2;
  // The quota must not be read again before a second has passed.
  if (platform::recent_cpu_quota() != 0) return 3;
  const std::uint64_t stopped = platform::recent_throttled_ns();
  if (stopped != 0) return 4;
  std::this_thread::sleep_for(milliseconds(1'050));
  if (platform::recent_cpu_quota() != 0.5) return 5;
  if (platform::usable_cpus() != 1 || platform::usable_cores() != 1) return 6;
  // The quota is so small that it is used up beside any load. The kernel counts a stop when it has
  // ended.
  if (!group.limit_to(0.02)) return 7;
  const std::uint64_t start = platform::now_ns();
  while (platform::throttled_ns() < 20'000'000)
    if (platform::now_ns() - start > 20'000'000'000) return 8;
  return 0;
}

// Returns true if waiters sleep for a part of the time because of the quota. A turn begins so.
bool is_polling_expensive() {
  constexpr std::uint64_t turn = platform::quota_stops::turn_ns;
  return platform::stops_by_quota.forbid_polling((platform::now_ns() / turn + 1) * turn);
}

// Keeps the calling thread on the n-th CPU that the process may use.
void stay_on(std::size_t n) {
  const std::vector<unsigned>& cpus = platform::machine().allowed;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus[n % cpus.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

// Runs in a child too, and returns the same.
int wait_until_stopped(const real_group& group) {
  if (platform::recent_cpu_quota() != 0) return 0;
  // Any waiter that polls is stopped soon, beside any load. One that shares its CPU with the late
  // participant would sleep, and be asleep when the quota stops them.
  if (!group.limit_to(0.1) || !group.enter()) return 1;
  const std::uint64_t start = platform::now_ns();
  tutti::barrier<> sync(2);
  std::atomic<unsigned> last{~0u};
  stay_on(0);
  std::thread late([&] {
    stay_on(1);
    for (unsigned episode = 0; episode <= last; ++episode) {
      const std::uint64_t begin = platform::now_ns();
      while (platform::now_ns() - begin < ms / 10) {
      }
      sync.arrive_and_wait();
    }
  });
  bool is_expensive = false;
  for (unsigned episode = 0; episode <= last; ++episode) {
    is_expensive = is_expensive || is_polling_expensive();
    if (last == ~0u && (is_expensive || platform::now_ns() - start > 20'000 * ms))
      last = episode + 1;
    sync.arrive_and_wait();
  }
  late.join();
  return is_expensive ? 0 : 2;
}

class RealCpuQuota : public testing::Test {
 protected:
  // Runs the checks in a child.
  void check_in_group(int (*checks)(const real_group&)) {
    const real_group group;
    if (!group.is_there()) GTEST_SKIP() << "this user can make no control group with a quota";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(checks(group));
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
};

TEST_F(RealCpuQuota, IsReadAgainWhenItChanges) { check_in_group(watch_a_quota_change); }
TEST_F(RealCpuQuota, MakesPollingExpensiveWhenItStopsAWaiter) {
  check_in_group(wait_until_stopped);
}

// ---- how many CPUs

class UsableCpus : public testing::Test {
 protected:
  void TearDown() override { platform::cpu_limits = before_; }
  const platform::detail::cpu_limits before_ = platform::cpu_limits;
};

TEST_F(UsableCpus, AreThoseOfTheProcessAndNotOfAPinnedThread) {
  platform::cpu_limits = {};
  const auto all = platform::usable_cpus();
  EXPECT_EQ(all, platform::process_cpus().size());
  EXPECT_EQ(all, platform::machine().allowed.size());
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(platform::process_cpus().front(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(platform::usable_cpus(), all);
  }).join();
}

TEST_F(UsableCpus, AreNoMoreThanTheQuotaRoundedUp) {
  static double quota;
  platform::cpu_limits = {[]() noexcept { return quota; }, nullptr};
  const auto all = static_cast<std::uint32_t>(platform::process_cpus().size());
  const std::pair<double, std::uint32_t> cases[] = {
      {0, all}, {0.01, 1}, {1, 1}, {1.01, 2}, {1.5, 2}, {2, 2}, {3, 3}, {1e9, all}, {1e300, all}};
  for (const auto& [cpus, expected] : cases) {
    quota = cpus;
    EXPECT_EQ(platform::usable_cpus(), std::min(all, expected)) << cpus;
  }
  EXPECT_EQ(platform::throttled_ns(), 0u) << "nobody tells";
}

TEST_F(UsableCpus, AThreadThatDidNotRunLearnsWhetherTheQuotaStoppedIt) {
  static std::uint64_t throttled;
  platform::cpu_limits = {nullptr, nullptr};
  platform::quota_stops stops;
  EXPECT_FALSE(stops.ended_since(10 * ms, 20 * ms)) << "nobody tells";
  platform::cpu_limits.throttled_ns = []() noexcept { return throttled; };
  throttled = 0;
  EXPECT_FALSE(stops.ended_since(10 * ms, 20 * ms)) << "there was no stop";
  throttled = 500 * ms;
  EXPECT_FALSE(stops.ended_since(110 * ms, 120 * ms)) << "perhaps it was long ago";
  EXPECT_FALSE(stops.ended_since(210 * ms, 240 * ms));
  throttled += 30 * ms;
  EXPECT_TRUE(stops.ended_since(310 * ms, 340 * ms));
  EXPECT_TRUE(stops.ended_since(311 * ms, 341 * ms)) << "the same stop, on another CPU";
  EXPECT_FALSE(stops.ended_since(350 * ms, 353 * ms)) << "something else";
}

// The next test runs this one, in a process of its own.
TEST(UsableCpusOfAChild, DISABLED_IsOne) {
  EXPECT_EQ(platform::process_cpus().size(), 1u);
  EXPECT_EQ(platform::usable_cpus(), 1u);
  EXPECT_EQ(platform::usable_cores(), 1u);
}

TEST_F(UsableCpus, FollowTheMaskThatTheProcessBeganWith) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(platform::process_cpus().back(), &one);
    sched_setaffinity(0, sizeof one, &one);
    execl("/proc/self/exe", "unit_cpu_quota", "--gtest_also_run_disabled_tests",
          "--gtest_filter=UsableCpusOfAChild.*", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
