// SPDX-License-Identifier: Apache-2.0
// Tests files with errors: each gets one sentence with the line, and nothing is loaded.
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/data_graphs.hpp"
#include "tutti/graph/load.hpp"

namespace tutti::graph::test {
namespace {

struct bad_file {
  std::string bytes;
  // The text after the name of the file.
  std::string error;
  load_options options = {};
  std::string name = {};
};

void PrintTo(const bad_file& bad, std::ostream* out) { *out << bad.name << bad.error; }

// Gives the files a name, on which depends how they are read.
auto named(const char* name, std::vector<bad_file> files) {
  for (bad_file& each : files) each.name = name;
  return testing::ValuesIn(files);
}

std::string beyond(const std::string& limit) {
  return " are more than the limit of " + limit +
         ", which vertices_at_most (tutti graph --vertices-at-most) sets";
}

class Malformed : public testing::TestWithParam<bad_file> {};

TEST_P(Malformed, IsRefusedWithASentence) {
  const bad_file& bad = GetParam();
  EXPECT_EQ(error_of<file_error>([&] { load_from(bad.bytes, bad.name, bad.options); }),
            bad.name + bad.error);
}

const load_options no_negative = {.negative_weights = false};

INSTANTIATE_TEST_SUITE_P(
    EdgeList, Malformed,
    named("x.el",
          {{"", ": is empty"},
           {"# nothing\n", ": holds no edge, and no header that says so"},
           {"0 1\n2\n", ":2: the line ends where a vertex should be"},
           {"0 1\n2 3 4\n", ":2: '4' follows after the two vertices of an edge"},
           {"0 1\n\n2 x\n", ":3: a vertex must be a whole number from 0, not 'x'"},
           {"0 -1\n", ":1: a vertex must be a whole number from 0, not '-1'"},
           {"0 1.5\n", ":1: a vertex must be a whole number from 0, not '1.5'"},
           {"0,1\n", ":1: a vertex must be a whole number from 0, not '0,1'"},
           {"0 4294967295\n", ":1: 4294967296 vertices" + beyond("268435456")},
           {"0 1\n99999999999999999999999 0\n",
            ":2: a number beyond 2^64 vertices" + beyond("268435456")},
           {"0 1\r2 3\n", ":1: a vertex must be a whole number from 0, not '1\\x0d2'"},
           {"0 11\n", ":1: 12 vertices" + beyond("10"), {.vertices_at_most = 10}},
           {"0 4294967295\n",
            ":1: 4294967296 vertices are more than the limit of 4294967294",
            {.vertices_at_most = most_vertices}},
           {std::string("0 1\n\0\1\xff", 7),
            ":2: a vertex must be a whole number from 0, not '\\x00\\x01\\xff'"},
           {"0 1\n" + std::string(100, 'z'),
            ":2: a vertex must be a whole number from 0, not 'zzzzzzzzzzzzzzzzzzzzzzzz...'"},
           {"# tutti graph: vertices=2 edges=2\n0 1\n",
            ":1: the header promises 2 edges, but there are 1"},
           {"# tutti graph: vertices=2 edges=1\n0 2\n",
            ":1: the header promises 2 vertices, but there is a vertex 2"},
           {"# tutti graph: vertices=2\n0 1\n",
            ":1: the header of a saved graph must say 'vertices=N edges=M'"},
           {"# tutti graph: vertices=2 edges=1\n# tutti graph: vertices=2 edges=1\n0 1\n",
            ":2: there is a second header"},
           {"# tutti graph: vertices=99999999999 edges=1\n0 1\n",
            ":1: 99999999999 vertices" + beyond("268435456")},
           {"# Nodes: 99999999999 Edges: 1\n0 1\n",
            ":1: 99999999999 vertices" + beyond("268435456")}}));

INSTANTIATE_TEST_SUITE_P(
    EdgeListWithoutEnding, Malformed,
    named("x",
          {{"0 \r 1\n", ":1: a vertex must be a whole number from 0, not '\\x0d'"},
           {std::string("\0\0\0", 3), ": is not text, and its name does not end in .sg or .wsg"},
           {"0 1 2 3\n", ":1: an edge is 'from to' or 'from to weight', not 4 columns"},
           {"0 1\n0 1 5\n", ":2: '5' follows after the two vertices of an edge"}}));

INSTANTIATE_TEST_SUITE_P(
    Weighted, Malformed,
    named("x.wel",
          {{"0 1\n", ":1: the line ends where a weight should be"},
           {"0 1 nan\n", ":1: a weight must be a finite number, not 'nan'"},
           {"0 1 -inf\n", ":1: a weight must be a finite number, not '-inf'"},
           {"0 1 1e39\n", ":1: a weight, '1e39', is too large for a float"},
           {"0 1 -1e999999\n", ":1: a weight, '-1e999999', is too large for a float"},
           {"0 1 0.1e6000\n", ":1: a weight, '0.1e6000', is too large for a float"},
           {"0 1 1e99999999999999999999\n",
            ":1: a weight, '1e99999999999999999999', is too large for a float"},
           {"0 1 --5\n", ":1: a weight must be a finite number, not '--5'"},
           {"0 1 .\n", ":1: a weight must be a finite number, not '.'"},
           {"0 1 0x10\n", ":1: a weight must be a finite number, not '0x10'"},
           {"0 1 1.5.2\n", ":1: a weight must be a finite number, not '1.5.2'"},
           {"0 1 5 6\n", ":1: '6' follows after the weight of an edge"},
           {"0 1 5\n1 0 -5\n", ":2: negative weights are not allowed here", no_negative}}));

const std::string coordinate = "%%MatrixMarket matrix coordinate ";

INSTANTIATE_TEST_SUITE_P(
    MatrixMarket, Malformed,
    named("x.mtx", {{"4 4 1\n1 2\n", ":1: a Matrix Market file must begin with %%MatrixMarket"}}));

INSTANTIATE_TEST_SUITE_P(
    MatrixMarketByItsFirstLine, Malformed,
    named("x",
          {{"%%MatrixMarket\n", ":1: 'matrix' should follow, not ''"},
           {"%%MatrixMarket matrix array real general\n",
            ":1: only 'coordinate' matrices are graphs, not 'array'"},
           {coordinate + "complex general\n",
            ":1: entries are 'pattern', 'real' or 'integer', not 'complex'"},
           {coordinate + "real skew-symmetric\n",
            ":1: a graph is 'general' or 'symmetric', not 'skew-symmetric'"},
           {coordinate + "real general extra\n", ":1: 'extra' follows after the kind of symmetry"},
           {coordinate + "real general\n% only comments\n",
            ":3: the file ends before the size of the matrix"},
           {coordinate + "real general\n3 4 0\n",
            ":2: a graph is a square matrix, not one of 3 by 4"},
           {coordinate + "real general\n3 3\n",
            ":2: the line ends where the number of entries should be"},
           {coordinate + "real general\n3 3 1152921504606846976\n1 1 1\n",
            ":2: the header promises 1152921504606846976 entries, but the file has only 1 more "
            "lines"},
           {coordinate + "real general\n1152921504606846976 1152921504606846976 0\n",
            ":2: 1152921504606846976 vertices" + beyond("268435456")},
           {coordinate + "pattern general\n3 3 2\n1 1\n\n",
            ":2: the header promises 2 entries, but there are 1"},
           {coordinate + "pattern general\n3 3 1\n1 1\n2 2\n",
            ":4: the header promises 1 entries, but here is one more"},
           {coordinate + "pattern general\n3 3 1\n0 1\n",
            ":3: entry (0, 1) is outside a matrix of 3 rows, counted from 1"},
           {coordinate + "pattern general\n3 3 1\n1 4\n",
            ":3: entry (1, 4) is outside a matrix of 3 rows, counted from 1"},
           {coordinate + "pattern general\n3 3 1\n1 2 3\n", ":3: '3' follows after an entry"},
           {coordinate + "pattern symmetric\n3 3 1\n1 2\n",
            ":3: a symmetric file lists the lower triangle only, not entry (1, 2)"},
           {coordinate + "integer general\n3 3 1\n1 2 1.5\n",
            ":3: an entry's value must be a whole number, not '1.5'"},
           {coordinate + "real general\n3 3 1\n1 2 nan\n",
            ":3: an entry's value must be a finite number, not 'nan'"},
           {coordinate + "real general\n3 3 1\n1 2 -1\n",
            ":3: negative weights are not allowed here", no_negative}}));

INSTANTIATE_TEST_SUITE_P(
    Metis, Malformed,
    named("x.graph",
          {{"% only comments\n", ":2: the file ends before its header"},
           {"3\n", ":1: the line ends where the number of edges should be"},
           {"3 2 2\n", ":1: the format must be up to three digits 0 or 1, not '2'"},
           {"2 1 0 1\n2\n1\n",
            ":1: a number of weights is given, but the format has no weights of vertices"},
           {"2 1 10 0\n2\n1\n", ":1: the format has weights of vertices, but their number is 0"},
           {"2 1 10 9999\n2\n1\n", ":1: more than 1000 weights of a vertex"},
           {"2 1 11 1 1\n2\n1\n", ":1: '1' follows after the header"},
           {"200000000 1\n2\n1\n",
            ":1: the header promises 200000000 vertices, but the file has only 2 more "
            "lines"},
           {"2 1152921504606846976\n2\n1\n",
            ":1: the header promises 1152921504606846976 edges, more than fit into the "
            "file"},
           {"3 2\n2\n1 3", ":3: the file ends at vertex 3 of 3"},
           {"5 0\n%\n%\n%\n%\n", ":6: the file ends at vertex 1 of 5"},
           {"4 1\n2\n1\n% c\n", ":5: the file ends at vertex 3 of 4"},
           {"2 0 010\n1\n", ":3: the line ends where a weight or size of a vertex should be"},
           {"3 1\n2\n1\n\n5\n", ":5: '5' follows after the last vertex"},
           {"2 1\n3\n1\n", ":2: neighbour 3 is not one of 2 vertices, counted from 1"},
           {"2 1\n0\n1\n", ":2: neighbour 0 is not one of 2 vertices, counted from 1"},
           {"2 1\n1\n2\n", ":2: vertex 1 is its own neighbour"},
           {"2 1\n2 2\n1\n",
            ":3: the header promises 1 edges, each listed twice, but here is one more"},
           {"2 2\n2\n1\n",
            ":1: the header promises 2 edges, each listed twice, but 2 neighbours are "
            "listed"},
           {"3 1\n2 3\n\n\n", ": vertex 1 lists 2 as a neighbour more often than 2 lists it"},
           {"2 1 1\n2 5\n1 6\n", ": an edge has different weights in its two directions"},
           {"2 1 1\n2 0\n1 0\n", ":2: an edge's weight must be a whole number from 1"},
           {"2 1 1\n2\n1 5\n", ":2: the line ends where an edge's weight should be"}}));

// A GAP file made of 64-bit and 32-bit numbers.
std::string gap(int directed, std::vector<std::int64_t> wide, std::vector<std::int32_t> narrow,
                std::vector<std::int64_t> wide2 = {}, std::vector<std::int32_t> narrow2 = {}) {
  std::string bytes(1, static_cast<char>(directed));
  const auto append = [&](const auto& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  append(wide);
  append(narrow);
  append(wide2);
  append(narrow2);
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Gap, Malformed,
    named("x.sg",
          {{"0 1\n", ": is too short for the header of a GAP graph"},
           {gap(7, {2, 2, 0, 1, 2}, {1, 0}),
            ": does not begin as a GAP graph does, with a byte 0 or 1"},
           {gap(0, {-2, 2, 0, 1, 2}, {1, 0}),
            ": the header has a negative number of edges or vertices"},
           {gap(0, {2, std::int64_t{1} << 60, 0, 1, 2}, {1, 0}),
            ": 1152921504606846976 vertices" + beyond("268435456")},
           {gap(0, {std::int64_t{1} << 60, 2, 0, 1, 2}, {1, 0}),
            ": the header promises 1152921504606846976 edges, more than fit into the file"},
           {gap(0, {2, 2, 0, 1, 2}, {1}),
            ": the header promises 2 vertices and 2 edges, which are 49 bytes, but the file "
            "has 45"},
           {gap(1, {2, 2, 0, 1, 2}, {1, 0}),
            ": the header promises 2 vertices and 2 edges, which are 81 bytes, but the file "
            "has 49"},
           {gap(0, {2, 2, 1, 1, 2}, {1, 0}), ": the first offset of the out-edges is not 0"},
           {gap(0, {2, 2, 0, 3, 2}, {1, 0}),
            ": the offset of the out-edges of vertex 1 does not lie between the one "
            "before it and the "
            "number of edges"},
           {gap(0, {2, 2, 0, 1, 1}, {1, 0}),
            ": the last offset of the out-edges is not the number of edges"},
           {gap(0, {2, 2, 0, 1, 2}, {-1, 0}),
            ": vertex 0 has vertex -1 among its out-edges, but there are 2 vertices"},
           {gap(0, {2, 2, 0, 2, 2}, {0, 1}),
            ": is marked as undirected, but an edge lacks its reverse"},
           {gap(1, {1, 2, 0, 1, 1}, {1}, {0, 1, 1}, {1}),
            ": its in-edges are not the reverse of its out-edges"}}));

INSTANTIATE_TEST_SUITE_P(
    GapWeighted, Malformed,
    named("x.wsg",
          {{gap(0, {2, 2, 0, 1, 2}, {1, 5, 0, 5, 0}),
            ": the header promises 2 vertices and 2 edges, which are 57 bytes, but the file "
            "has 61"},
           {gap(0, {2, 2, 0, 1, 2}, {1, -5, 0, -5}),
            ": vertex 0 has an edge of negative weight; negative weights are not allowed here",
            no_negative},
           {gap(1, {1, 2, 0, 1, 1}, {1, 5}, {0, 0, 1}, {0, 6}),
            ": its in-edges are not the reverse of its out-edges"}}));

// Every beginning of a good file, and every single byte of it changed, is refused or gives a graph.
TEST(MalformedBytes, CutAndChanged) {
  const std::pair<const char*, std::string> files[] = {
      {"x.el", "# tutti graph: vertices=4 edges=2\n0 1\n3 2\n"},
      {"x.wel", "# c\n0 1 2.5e3\r\n3 2 -1\n"},
      {"x.mtx", coordinate + "integer symmetric\n% c\n4 4 2\n2 1 5\n4 3 -7\n"},
      {"x.graph", "3 2 001\n2 4\n1 4 3 6\n2 6\n"},
      {"x.sg", gap(1, {1, 2, 0, 1, 1}, {1}, {0, 0, 1}, {0})},
      {"x.wsg", gap(0, {2, 2, 0, 1, 2}, {1, 5, 0, 5})}};
  const load_options options = {.vertices_at_most = 1000};
  for (const auto& [name, good] : files) {
    EXPECT_NO_THROW(validate(load_from(good, name, options))) << name;
    const auto try_it = [&, name = name](const std::string& bytes) {
      try {
        validate(load_from(bytes, name, options));
      } catch (const file_error& error) {
        EXPECT_EQ(std::string(error.what()).rfind(name, 0), 0u);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    };
    for (std::size_t length = 0; length < good.size(); ++length) try_it(good.substr(0, length));
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const int byte : {0, 1, 9, 10, 13, 32, 45, 46, 48, 57, 101, 127, 128, 255}) {
        std::string changed = good;
        changed[at] = static_cast<char>(byte);
        try_it(changed);
      }
  }
}

}  // namespace
}  // namespace tutti::graph::test
