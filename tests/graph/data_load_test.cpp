// SPDX-License-Identifier: Apache-2.0
// Tests correct files, in every form that docs/graph-files.md allows.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <thread>

#include "tests/graph/data_graphs.hpp"
#include "tests/support/run_program.hpp"
#include "tutti/graph/load.hpp"

namespace tutti::graph::test {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The layout of the GAP benchmark suite, written here by hand.
std::string gap_bytes(bool directed, const std::vector<std::int64_t>& offsets,
                      const std::vector<std::int32_t>& entries, std::int64_t edges,
                      const std::vector<std::int64_t>& in_offsets = {},
                      const std::vector<std::int32_t>& in_entries = {}) {
  std::string bytes;
  append(bytes, static_cast<char>(directed));
  append(bytes, edges);
  append(bytes, static_cast<std::int64_t>(offsets.size()) - 1);
  for (const auto each : offsets) append(bytes, each);
  for (const auto each : entries) append(bytes, each);
  for (const auto each : in_offsets) append(bytes, each);
  for (const auto each : in_entries) append(bytes, each);
  return bytes;
}

const csr small = graph_of(4, {{0, 1}, {0, 3}, {3, 0}});
const csr small_weighted = graph_of(4, {{0, 1, 2.5f}, {0, 3, -1}, {3, 0, 7}}, true);

TEST(Load, EdgeListsInEverySpelling) {
  for (const char* text :
       {"0 1\n0 3\n3 0\n", "0 1\n0 3\n3 0", "0\t1\r\n0\t3\r\n3\t0\r\n",
        "# a comment\n\n 0  1 \n%another\n0 3\n \n3 0\n\n", "000 001\n0 3\n3 0\r"})
    EXPECT_EQ(load_from(text, "x.el"), small) << text;
}

TEST(Load, WeightedEdgeLists) {
  for (const char* text : {"0 1 2.5\n0 3 -1\n3 0 7\n", "0 1 25e-1\r\n0 3 -1.0\r\n3 0 +7",
                           "0 1 .25E1\n0 3 -1.\n3 0 7e0\n"})
    EXPECT_EQ(load_from(text, "x.wel"), small_weighted) << text;
}

TEST(Load, WeightsAreTheNearestFloats) {
  const csr graph = load_from(
      "0 1 0.1\n0 2 16777217\n0 3 3.4028235e38\n0 4 1e-46\n0 5 1e-400\n0 6 1e-45\n0 7 -0\n"
      "0 8 0.00000000000000000000000000000000000000000000000000012e51\n"
      "0 9 1e-5000\n1 0 -1e-99999999999999999999\n1 2 0." +
          std::string(6000, '0') + "1e+9\n",
      "x.wel");
  const std::vector<float> expected = {0.1f,  16777216, 3.4028235e38f, 0, 0, 1e-45f, -0.0f,
                                       0.12f, 0,        -0.0f,         0};
  EXPECT_EQ(graph.weights, expected);
}

TEST(Load, AnEdgeListMayStateItsSize) {
  EXPECT_EQ(load_from("# tutti graph: vertices=6 edges=1\n0 1\n", "x.el"), graph_of(6, {{0, 1}}));
  EXPECT_EQ(load_from("# tutti graph: vertices=0 edges=0\n", "x.el"), csr());
  // SNAP's count of vertices is only a lower bound.
  EXPECT_EQ(load_from("# Nodes: 3 Edges: 77\n0 5\n", "x.txt"), graph_of(6, {{0, 5}}));
  EXPECT_EQ(load_from("# Nodes: 9 Edges: 1\n0 5\n", "x.txt"), graph_of(9, {{0, 5}}));
  EXPECT_EQ(load_from("# Nodes: 0 Edges: 0\n", "x.txt"), csr());
}

TEST(Load, ColumnsTellTheFormatWhenTheNameDoesNot) {
  EXPECT_EQ(load_from("# c\n0 1\n0 3\n3 0\n", "graph.txt"), small);
  EXPECT_EQ(load_from("0 1 2.5\n0 3 -1\n3 0 7\n", "folder.d/graph"), small_weighted);
  EXPECT_EQ(load_from("0 1\n", "x.mtx", {.format = file_format::edge_list}), graph_of(2, {{0, 1}}));
}

TEST(Load, MatrixMarket) {
  EXPECT_EQ(
      load_from("%%MatrixMarket matrix coordinate pattern general\n% c\n\n4 4 3\n1 2\n1 4\n4 1\n",
                "x.mtx"),
      small);
  EXPECT_EQ(
      load_from("%%MatrixMarket MATRIX Coordinate Real General\r\n4 4 3\r\n1 2 2.5\r\n1 4 -1\r\n"
                "4 1 7\r\n",
                "whatever"),
      small_weighted);
  EXPECT_EQ(
      load_from("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n2 2 6\n3 1 7",
                "x.mtx"),
      graph_of(3, {{1, 0, 5}, {0, 1, 5}, {1, 1, 6}, {2, 0, 7}, {0, 2, 7}}, true));
  EXPECT_EQ(load_from("%%MatrixMarket matrix coordinate pattern symmetric\n5 5 0\n", "x.mtx"),
            graph_of(5, {}));
  EXPECT_EQ(load_from("%%MatrixMarket matrix coordinate real general\n0 0 0\n", "x.mtx"), csr());
}

TEST(Load, GapsOwnBytes) {
  EXPECT_EQ(
      load_from(gap_bytes(true, {0, 2, 2, 2, 3}, {1, 3, 0}, 3, {0, 1, 2, 2, 3}, {3, 0, 0}), "x.sg"),
      small);
  EXPECT_EQ(load_from(gap_bytes(false, {0, 1, 2}, {1, 0}, 2), "x.sg"),
            graph_of(2, {{0, 1}, {1, 0}}));
  const std::string weighted = gap_bytes(false, {0, 1, 2}, {1, -9, 0, -9}, 2);
  const csr expected = graph_of(2, {{0, 1, -9}, {1, 0, -9}}, true);
  EXPECT_EQ(load_from(weighted, "x.wsg"), expected);
  EXPECT_EQ(load_from(weighted, "x", {.format = file_format::gap}), expected);
  EXPECT_EQ(load_from(gap_bytes(false, {0, 0}, {}, 0), "x.sg"), graph_of(1, {}));
}

TEST(Load, Metis) {
  const csr path = graph_of(4, {{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  for (const char* text :
       {"4 2\n2\n1 3\n2\n\n", "% c\n4 2 0\n2\n%c\n3 1\n2\n", "4 2 000\r\n2\r\n1 3\r\n2\r\n\r\n"})
    EXPECT_EQ(sorted(load_from(text, "x.graph")), path) << text;
  const csr weighted = graph_of(3, {{0, 1, 4}, {1, 0, 4}, {1, 2, 6}, {2, 1, 6}}, true);
  EXPECT_EQ(load_from("3 2 1\n2 4\n1 4 3 6\n2 6\n", "x.graph"), weighted);
  // Sizes and weights of vertices are skipped.
  EXPECT_EQ(load_from("3 2 011 2\n8 9 2 4\n8 9 1 4 3 6\n8 9 2 6\n", "x.graph"), weighted);
  EXPECT_EQ(load_from("2 0 010\n1\n7", "x.graph"), graph_of(2, {}));
  // An empty line may lack its end.
  EXPECT_EQ(load_from("3 1\n2\n1\n", "x.graph"), graph_of(3, {{0, 1}, {1, 0}}));
  EXPECT_EQ(load_from("3 2 111\n5 8 2 4\n5 8 1 4 3 6\n5 8 2 6\n", "x.metis"), weighted);
  EXPECT_EQ(load_from("0 0\n", "x.graph"), csr());
}

TEST(Load, FormatsHaveNames) {
  for (const char* name : {"auto", "el", "wel", "mtx", "gap", "metis"})
    EXPECT_EQ(name_of(format_named(name)), name);
  EXPECT_EQ(error_of<std::invalid_argument>([] { format_named("mxt"); }),
            "tutti: unknown graph format 'mxt' (known: auto, el, wel, mtx, gap, metis)");
}

TEST(Load, FilesPipesAndCompressedFiles) {
  const scratch here;
  const std::string file = here.write("g.el", "0 1\n0 3\n3 0\n");
  EXPECT_EQ(load(file), small);
  ASSERT_EQ(tutti::test::run_shell("mkfifo " + here.path("pipe.el")).status, 0);
  std::thread writer([&] { here.write("pipe.el", "0 1\n0 3\n3 0\n"); });
  EXPECT_EQ(load(here.path("pipe.el")), small);
  writer.join();
  if (tutti::test::run_shell("gzip -k " + file + " 2>&1").status != 0)
    GTEST_SKIP() << "SKIPPED: there is no gzip";
  const std::string packed = here.read("g.el.gz");
  try {
    EXPECT_EQ(load(file + ".gz"), small);
  } catch (const file_error& error) {
    if (std::string(error.what()).find("without zlib") == std::string::npos) throw;
    GTEST_SKIP() << "SKIPPED: " << error.what();
  }
  // gzip's own rule: two files one after the other are one file.
  EXPECT_EQ(load_from(packed + packed, "x.el").edges(), 6u);
  const auto refusal = [&](const std::string& bytes) {
    return error_of<file_error>([&] { load_from(bytes, "x.el.gz"); });
  };
  EXPECT_EQ(refusal(packed.substr(0, packed.size() - 1)),
            "x.el.gz: is damaged: the compressed data end early");
  EXPECT_EQ(refusal(packed + "xyz"), "x.el.gz: has other bytes after the compressed data");
  std::string damaged = packed;
  // A byte of the checksum.
  damaged[damaged.size() - 6] ^= 1;
  EXPECT_EQ(refusal(damaged), "x.el.gz: is damaged: the compressed data are invalid");
  EXPECT_EQ(error_of<file_error>([&] { load(file + ".gz", {.bytes_at_most = 5}); }),
            file + ".gz: unpacks to more than 5 bytes");
}

TEST(Load, WhatIsNoFileToRead) {
  const scratch here;
  EXPECT_EQ(error_of<file_error>([&] { load(here.path("none.el")); }),
            here.path("none.el") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(error_of<file_error>([&] { load(here.path(".")); }),
            here.path(".") + ": is a folder, not a graph");
  EXPECT_EQ(error_of<file_error>([] { load("/dev/zero"); }), "/dev/zero: is a device, not a graph");
  const std::string empty = here.write("empty.el", "");
  EXPECT_EQ(error_of<file_error>([&] { load(empty); }), empty + ": is empty");
  const std::string locked = here.write("locked.el", "0 1\n");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  // The superuser may read every file, and therefore becomes `nobody` for a moment.
  const bool is_super = geteuid() == 0;
  constexpr uid_t nobody = 65534;
  if (is_super && seteuid(nobody) != 0) GTEST_SKIP() << "SKIPPED: this user may read every file";
  const std::string error = error_of<file_error>([&] { load(locked); });
  if (is_super) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(error, locked + ": cannot be opened: Permission denied");
}

}  // namespace
}  // namespace tutti::graph::test
