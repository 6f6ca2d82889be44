// SPDX-License-Identifier: Apache-2.0
// What is put beside a run: neighbours, and a quota. And what ends a run: its time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness/cpu_quota.hpp"
#include "bench/harness/neighbour.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/sweeps.hpp"
#include "bench/harness/ticks.hpp"
#include "tutti/platform/clock.hpp"

namespace tutti::bench {
namespace {

using namespace std::chrono_literals;

// ---- neighbours

double cpu_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
  double ns = 0;
  file >> ns;
  return ns * 1e-9;
}

neighbour_plan plan_on_first_cpu() {
  neighbour_plan plan;
  plan.cpus = {allowed_cpus().front()};
  return plan;
}

TEST(Neighbours, AreInTheSessionThatIsAskedFor) {
  neighbours same, own;
  neighbour_plan plan = plan_on_first_cpu();
  plan.each = 2;
  same.select(plan);
  plan.own_session = true;
  own.select(plan);
  own.start();
  std::this_thread::sleep_for(50ms);  // a child has run through its beginning
  own.stop();
  ASSERT_EQ(same.processes().size(), 2u);
  for (const pid_t pid : same.processes()) EXPECT_EQ(getsid(pid), getsid(0));
  ASSERT_EQ(own.processes().size(), 2u);
  for (const pid_t pid : own.processes()) EXPECT_EQ(getsid(pid), pid);
}

TEST(Neighbours, LightOnesTakeAboutAPercent) {
  neighbours light;
  neighbour_plan plan = plan_on_first_cpu();
  plan.each = 4;
  plan.light = true;
  light.select(plan);
  light.start();
  std::this_thread::sleep_for(1200ms);
  light.stop();
  EXPECT_TRUE(light.ran());
  double seconds = 0;
  for (const pid_t pid : light.processes()) seconds += cpu_seconds(pid);
  EXPECT_GT(seconds, 1.2 * 4 * 0.002);
  EXPECT_LT(seconds, 1.2 * 4 * 0.04);
}

TEST(Neighbours, BusyOnesSayWhenTheyStopped) {
  neighbours busy;
  busy.select(plan_on_first_cpu());
  busy.start();
  std::this_thread::sleep_for(20ms);
  const std::uint64_t before = ticks();
  busy.stop();
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(busy.ran());
  EXPECT_GE(busy.stopped_at(), before);
}

TEST(Neighbours, AreNotThereIfTheyStoppedByThemselves) {
  neighbours busy;
  neighbour_plan plan = plan_on_first_cpu();
  plan.longest_burst_ns = 10e6;
  busy.select(plan);
  busy.start();
  for (int i = 0; i < 1000 && busy.stopped_at() == 0; ++i) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(10ms);
  busy.stop();
  EXPECT_FALSE(busy.ran());
  // Each start begins anew.
  plan.longest_burst_ns = 60e9;
  busy.select(plan);
  busy.start();
  std::this_thread::sleep_for(50ms);
  busy.stop();
  EXPECT_TRUE(busy.ran());
}

// ---- quota

TEST(CpuQuota, FindsTheControllerOfEveryVersion) {
  const auto one = find_cpu_controller(
      "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
      "4:cpu,cpuacct:/user.slice\n0::/init\n");
  ASSERT_TRUE(one.has_value());
  EXPECT_FALSE(one->unified);
  EXPECT_EQ(one->folder, "/sys/fs/cgroup/cpu,cpuacct/user.slice");
  const auto two = find_cpu_controller("30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                                       "0::/user.slice/a.scope\n");
  ASSERT_TRUE(two.has_value());
  EXPECT_TRUE(two->unified);
  EXPECT_EQ(two->folder, "/sys/fs/cgroup/user.slice/a.scope");
  // A container's own group is what it sees at the mount.
  const auto inside = find_cpu_controller(
      "30 25 0:26 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "4:cpu:/docker/x\n");
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(inside->folder, "/sys/fs/cgroup/cpu");
  EXPECT_FALSE(find_cpu_controller("", "0::/\n").has_value());
}

std::unique_ptr<cpu_quota> make_quota(double cpus, std::string& why_not) {
  try {
    return std::make_unique<cpu_quota>(cpus);
  } catch (const std::runtime_error& e) {
    why_not = e.what();
    return nullptr;
  }
}

TEST(CpuQuota, LimitsWhoIsInsideAndLeavesNothingBehind) {
  std::string why_not;
  auto quota = make_quota(0.5, why_not);
  if (!quota) GTEST_SKIP() << why_not;
  const std::string folder = quota->folder();
  EXPECT_TRUE(std::filesystem::exists(folder));
  quota->enter(getpid(), cpu_quota::members::process);
  const double cpu = thread_cpu_ns();
  const std::uint64_t begin = platform::now_ns();
  while (platform::now_ns() - begin < 500'000'000) {
  }
  const double share = (thread_cpu_ns() - cpu) / static_cast<double>(platform::now_ns() - begin);
  quota->leave(getpid(), cpu_quota::members::process);
  EXPECT_LT(share, 0.75);
  quota.reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(CpuQuota, IsRemovedWhenTheProgramIsKilled) {
  std::string why_not;
  if (!make_quota(0.5, why_not)) GTEST_SKIP() << why_not;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const cpu_quota quota(1.5);
    quota.enter(getpid(), cpu_quota::members::process);
    const std::string text = quota.folder() + "\n";
    if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
    pause();
    _exit(0);
  }
  close(ends[1]);
  std::string folder;
  for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) folder.push_back(c);
  close(ends[0]);
  EXPECT_TRUE(std::filesystem::exists(folder));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (int i = 0; i < 300 && std::filesystem::exists(folder); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// Linux lists the children of each thread by themselves.
TEST(CpuQuota, TheFamilyHasTheChildrenOfAllThreads) {
  std::string why_not;
  const auto quota = make_quota(1.5, why_not);
  if (!quota) GTEST_SKIP() << why_not;
  pid_t child = 0;
  std::thread([&] {
    child = fork();
    if (child == 0) {
      alarm(60);
      while (true) pause();
    }
    quota->enter(getpid(), cpu_quota::members::family);
    quota->leave(getpid(), cpu_quota::members::process);
  }).join();
  std::vector<pid_t> inside;
  std::ifstream members(quota->folder() + "/cgroup.procs");
  for (pid_t each = 0; members >> each;) inside.push_back(each);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(inside, std::vector{child});
}

// ---- time

class slow_series final : public series {
 public:
  slow_series(int& rounds, int& given_up) : rounds_(rounds), given_up_(given_up) {}
  bool prepare() override {
    std::this_thread::sleep_for(60ms);
    return true;
  }
  void measure() override {
    std::this_thread::sleep_for(20ms);
    ++rounds_;
  }
  double target_ns() const override { return 20e6; }
  void give_up(const std::string& reason) override {
    EXPECT_NE(reason.find("time"), std::string::npos);
    ++given_up_;
  }

 private:
  int& rounds_;
  int& given_up_;
};

class Sweeps : public testing::Test {
 protected:
  // Returns the number of rounds.
  auto run(int of_series, const run_length& length) {
    std::vector<std::unique_ptr<series>> all;
    for (int i = 0; i < of_series; ++i)
      all.push_back(std::make_unique<slow_series>(rounds_, given_up_));
    return run_sweeps(
        all, length, [] {}, [](const std::string&, double) {});
  }

  int rounds_ = 0;
  int given_up_ = 0;
};

TEST_F(Sweeps, TheTimeBoundsPreparationToo) {
  run_length length;
  length.seconds = 0.5;
  const std::uint64_t begin = platform::now_ns();
  run(40, length);
  EXPECT_LT(static_cast<double>(platform::now_ns() - begin) * 1e-9, 0.8);
  EXPECT_GT(rounds_, 0);
  EXPECT_GT(given_up_, 25);  // 0.3 s are enough to prepare five
}

TEST_F(Sweeps, RoundsAreNotBoundByTime) {
  run_length length;
  length.rounds = 2;
  length.seconds = 0.01;
  EXPECT_EQ(run(3, length), 2u);
  EXPECT_EQ(rounds_, 6);
  EXPECT_EQ(given_up_, 0);
}

}  // namespace
}  // namespace tutti::bench
