// SPDX-License-Identifier: Apache-2.0
// The memory that one process of four needs for its share, and for the shards that it makes of it,
// is about a quarter of what one process needs for the whole graph. The peaks are those of the
// kernel (VmHWM), of a process of its own for each graph. What does not fit into memory is told.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "tests/support/scratch.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/save.hpp"
#include "tutti/graph/shards.hpp"
#include "tutti/graph/share.hpp"

namespace {

using namespace tutti;

// The kilobytes that /proc/self/status gives for a key.
long status_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key + ":", 0) == 0) return std::stol(line.substr(key.size() + 1));
  return 0;
}

// The megabytes by which a process's memory grows at its peak while it does the work.
double peak_of(const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Forgets the peak of the parent.
    std::ofstream("/proc/self/clear_refs") << 5 << std::flush;
    const long before = status_of("VmRSS");
    work();
    const long grown = status_of("VmHWM") - before;
    _exit(write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  }
  long grown = 0;
  EXPECT_EQ(read(ends[0], &grown, sizeof grown), static_cast<ssize_t>(sizeof grown));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
  return static_cast<double>(grown) / 1024;
}

void cut_whole(const graph::csr& whole) {
  const auto owners = graph::partition(whole, 1, "edge-blocks");
  const graph::edge_set<graph::nothing> pins{&whole, {}};
  const graph::shards<graph::nothing> cut(std::span(&pins, 1), owners, 1, {}, 1, true);
  EXPECT_EQ(cut[0].vertices.size(), whole.vertices);
}
void cut_share(graph::graph_share part) {
  const graph::shards<graph::nothing> cut(std::move(part), true);
  EXPECT_GT(cut[1].vertices.size(), 0u);
}
graph::share_request second_of_four() { return {.participants = 4, .first = 1}; }

// A quarter, what is kept for each vertex of the whole graph, and blocks that are not all alike.
constexpr double most = 0.35;

TEST(ShareMemory, OfGeneratedGraphs) {
  for (const std::string rule :
       {"uniform:vertices=1e5,degree=16", "kron:scale=16,degree=24",
        "geometric:vertices=1e5,degree=40", "kron:scale=16,degree=24,simple=1"}) {
    const double whole = peak_of([&] { cut_whole(graph::generate(rule)); });
    const double share = peak_of([&] { cut_share(graph::generate_share(rule, second_of_four())); });
    EXPECT_GT(whole, 20) << rule << ": too small to say anything";
    EXPECT_LT(share, most * whole) << rule << ", in MB";
  }
}

TEST(ShareMemory, OfFiles) {
  const test::scratch here;
  for (const std::string name : {"g.el", "g.mtx", "g.sg"}) {
    const std::string path = here.path(name);
    graph::save(graph::generate("uniform:vertices=1e5,degree=16"), path);
    const double whole = peak_of([&] { cut_whole(graph::load(path)); });
    const double share = peak_of([&] { cut_share(graph::load_share(path, {}, second_of_four())); });
    EXPECT_LT(share, most * whole) << name << ", in MB";
  }
}

// What the work throws in a process whose address space may grow by so many MiB.
std::string error_within(rlim_t megabytes, const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = static_cast<rlim_t>(status_of("VmSize")) * 1024 + (megabytes << 20);
    setrlimit(RLIMIT_AS, &limit);
    std::string said = "none";
    try {
      work();
    } catch (const std::exception& e) {
      said = e.what();
    }
    _exit(write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t size = read(ends[0], said.data(), said.size());
  said.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

// 2^28 vertices need 2 GiB for their offsets alone.
TEST(Memory, WhatDoesNotFitIsToldWithTheFileAndItsSize) {
  const test::scratch here;
  for (const auto& [name, text] :
       {std::pair<std::string, std::string>{"g.el", "0 1\n268435455 7\n"},
        {"g.wel", "268435455 7 1\n"},
        {"g.mtx",
         "%%MatrixMarket matrix coordinate pattern general\n268435456 268435456 1\n1 2\n"}}) {
    const std::string path = here.write(name, text);
    const std::string expected =
        path + ": is a file of " + std::to_string(text.size()) +
        " bytes whose graph of 268435456 vertices does not fit into memory";
    EXPECT_EQ(error_within(512, [&] { graph::load(path); }), expected);
    EXPECT_EQ(error_within(512, [&] { graph::load_share(path, {}, second_of_four()); }), expected);
  }
  for (const std::string rule : {"empty:vertices=268435456", "uniform:vertices=268435456,degree=1"})
    EXPECT_EQ(error_within(512, [&] { graph::generate(rule); }),
              "tutti: '" + rule + "' does not fit into memory");
  EXPECT_EQ(error_within(512, [&] { graph::generate("empty:vertices=1e6"); }), "none");
}

}  // namespace
