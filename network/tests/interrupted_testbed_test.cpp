// SPDX-License-Identifier: Apache-2.0
// Tests that a test bed ends: a signal leaves nothing of it in the kernel, and a rank that fails
// ends the others.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace std::chrono_literals;

TEST(namespaces, a_rank_that_fails_is_not_waited_for_by_the_others) {
  NEEDS_TESTBED();
  testbed bed(2, xdp_mode::native, false);
  const auto begin = clock::now();
  EXPECT_EQ(bed.run(
                [](rank_t r) {
                  if (r == 1) throw std::runtime_error("it cannot");
                  std::this_thread::sleep_for(30s);
                },
                60s),
            "rank 1: it cannot");
  EXPECT_LT(clock::now() - begin, 20s);
}

// What a test bed has in the kernel while it runs.
struct traces_of_a_bed {
  std::atomic<unsigned> ready;
  std::array<std::atomic<std::uint64_t>, 8> namespaces;
  std::array<std::atomic<std::uint32_t>, 8> programs;
};

std::uint64_t own_namespace() {
  struct stat s {};
  return ::stat("/proc/thread-self/ns/net", &s) == 0 ? s.st_ino : 0;
}
std::uint32_t xdp_program_of(const char* device) {
  std::uint32_t id = 0;
  (void)bpf_xdp_query_id(static_cast<int>(::if_nametoindex(device)), 0, &id);
  return id;
}
// The maps of a program are those of the programs beside it, too.
std::set<std::uint32_t> maps_of_program(std::uint32_t id) {
  std::array<__u32, 32> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<__u64>(ids.data());
  __u32 length = sizeof info;
  const int fd = bpf_prog_get_fd_by_id(id);
  if (fd < 0) return {};
  const int error = bpf_obj_get_info_by_fd(fd, &info, &length);
  ::close(fd);
  if (error != 0) return {};
  return {ids.begin(), ids.begin() + info.nr_map_ids};
}
bool has_descriptor(int fd) {
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}
// Processes that run, by a test of their number.
template <class Chosen>
std::vector<pid_t> processes(Chosen chosen) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.rfind(')') == std::string::npos) continue;
    char state = 0;
    int parent = 0;
    std::sscanf(text.c_str() + text.rfind(')') + 1, " %c %d", &state, &parent);
    if (state != 'Z' && chosen(entry.path(), static_cast<pid_t>(parent)))
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

void a_test_bed_that_runs_for_long(traces_of_a_bed& t) {
  testbed bed(3);
  bed.inject_faults({.repeat = 0.05, .reorder = 0.05});
  std::thread([&] {
    bed.enter_switch();
    t.namespaces[3] = own_namespace();
    t.programs[3] = xdp_program_of("p0");
  }).join();
  (void)bed.run(
      [&](rank_t r) {
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_RING, r));
        t.namespaces[r] = own_namespace();
        t.programs[r] = xdp_program_of("eth0");
        ++t.ready;
        while (t.ready < 3) std::this_thread::sleep_for(1ms);
        for (;;) e.barrier();
      },
      60s);
}

TEST(namespaces, nothing_is_left_of_a_test_bed_that_is_interrupted_or_killed) {
  NEEDS_TESTBED();
  for (const int signal : {SIGINT, SIGKILL}) {
    const shared_array<traces_of_a_bed> traces(1);
    const pid_t bed = ::fork();
    ASSERT_GE(bed, 0);
    if (bed == 0) {
      ::setpgid(0, 0);
      a_test_bed_that_runs_for_long(traces[0]);
      ::_exit(0);
    }
    for (int i = 0; i < 2000 && traces[0].ready < 3; ++i) std::this_thread::sleep_for(5ms);
    ASSERT_EQ(traces[0].ready, 3u);
    std::this_thread::sleep_for(50ms);
    const auto children = processes([&](auto&&, pid_t parent) { return parent == bed; });
    // Three ranks and the cable.
    EXPECT_EQ(children.size(), 4u);
    std::set<std::uint32_t> programs, maps;
    std::set<std::uint64_t> spaces;
    for (unsigned i = 0; i < 4; ++i) {
      programs.insert(traces[0].programs[i]);
      maps.merge(maps_of_program(traces[0].programs[i]));
      spaces.insert(traces[0].namespaces[i]);
    }
    EXPECT_EQ(programs.size(), 4u);
    EXPECT_EQ(programs.count(0), 0u);
    EXPECT_EQ(spaces.size(), 4u);
    EXPECT_GT(maps.size(), 8u);
    // A terminal sends ctrl-C to the whole group; kill -9 ends one process.
    ::kill(signal == SIGINT ? -bed : bed, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(bed, &status, 0), bed);
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, signal);
    // The kernel takes namespaces away in the background.
    std::string left;
    for (int i = 0; i < 1000; ++i) {
      left.clear();
      for (const std::uint32_t id : programs)
        if (has_descriptor(bpf_prog_get_fd_by_id(id))) left += " program " + std::to_string(id);
      for (const std::uint32_t id : maps)
        if (has_descriptor(bpf_map_get_fd_by_id(id))) left += " map " + std::to_string(id);
      for (const pid_t p : processes([&](const std::filesystem::path&path, pid_t) {
             struct stat s {};
             const bool is_there = ::stat((path / "ns" / "net").c_str(), &s) == 0;
             return (is_there && spaces.contains(s.st_ino)) ||
                    std::ranges::count(children, std::stol(path.filename().string())) != 0;
           }))
        left += " process " + std::to_string(p);
      if (left.empty()) break;
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(left, "") << "after signal " << signal;
    EXPECT_EQ(::if_nametoindex("p0"), 0u) << "a device of the switch is in this namespace";
  }
}

}  // namespace
