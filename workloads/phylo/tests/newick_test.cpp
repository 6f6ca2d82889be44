// SPDX-License-Identifier: Apache-2.0
// Tests which trees are read, which are refused with which words, and what is written.
#include "workloads/phylo/newick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "workloads/phylo/input.hpp"
#include "workloads/phylo/simulate.hpp"
#include "workloads/phylo/tests/refusal.hpp"

namespace tutti::phylo {
namespace {

// The length of the branch above a tip.
double length_of(const tree& t, const std::string& name) {
  const auto tip = std::find(t.names.begin(), t.names.end(), name) - t.names.begin();
  return t.edges[t.incident[static_cast<std::size_t>(tip)][0]].length;
}

// The sum of the lengths between each two tips. It is equal for equal trees, however they are
// written.
std::map<std::pair<std::string, std::string>, double> distances(const tree& t) {
  std::map<std::pair<std::string, std::string>, double> all;
  for (node_t tip = 0; tip < t.tips(); ++tip) {
    std::vector<std::tuple<edge_t, node_t, double>> open{{t.incident[tip][0], tip, 0.0}};
    while (!open.empty()) {
      const auto [e, from, length] = open.back();
      open.pop_back();
      const node_t to = t.far_end(e, from);
      const double here = length + t.edges[e].length;
      if (t.is_tip(to)) {
        all[{t.names[tip], t.names[to]}] = here;
        continue;
      }
      for (const edge_t next : t.other_edges(to, e)) open.emplace_back(next, to, here);
    }
  }
  return all;
}

TEST(Newick, UnrootedTree) {
  const tree t = parse_newick("(a:0.1,b:2e-2,(c:.3,d:4)x:+0.5)root:9;", "f");
  EXPECT_EQ(t.tips(), 4u);
  EXPECT_EQ(t.edges.size(), 5u);
  EXPECT_EQ(t.names, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(length_of(t, "b"), 0.02);
  EXPECT_EQ(length_of(t, "c"), 0.3);
  const auto between = distances(t);
  EXPECT_DOUBLE_EQ(between.at({"a", "d"}), 0.1 + 0.5 + 4);
}

TEST(Newick, ARootOfTwoBranchesIsTakenOut) {
  const tree t = parse_newick("((a:1,b:2):0.25,(c:3,d:4):0.5);", "f");
  EXPECT_EQ(t.edges.size(), 5u);
  EXPECT_DOUBLE_EQ(distances(t).at({"a", "c"}), 1 + 0.75 + 3);
  const tree beside_tip = parse_newick("(a:1,(b:2,c:3):0.5);", "f");
  EXPECT_DOUBLE_EQ(length_of(beside_tip, "a"), 1.5);
}

TEST(Newick, MissingLengthsGetTheDefault) {
  const tree t = parse_newick("((a,b:0.2),c,d);", "f", 0.7);
  EXPECT_EQ(length_of(t, "a"), 0.7);
  EXPECT_EQ(length_of(t, "b"), 0.2);
  // One length is enough for the two halves of a root's branch.
  EXPECT_EQ(length_of(parse_newick("(a,(b,c):0.3);", "f", 0.7), "a"), 0.3);
  EXPECT_EQ(length_of(parse_newick("(a,(b,c));", "f", 0.7), "a"), 0.7);
}

TEST(Newick, ALengthBelowTheLeastDoubleIsZero) {
  const tree t = parse_newick("(a:1e-400,b:+2.5e-9999,c:1e-310);", "f");
  EXPECT_EQ(length_of(t, "a"), 0);
  EXPECT_EQ(length_of(t, "b"), 0);
  EXPECT_EQ(length_of(t, "c"), 1e-310);
}

TEST(Newick, CommentsQuotesAndBlanks) {
  const tree t = parse_newick(
      " [a [comment]\n( 'it''s, a (name)' :1 , b[x]:2,\n'c d':[y]3 )\n;\n[end]\n", "f");
  EXPECT_EQ(t.names, (std::vector<std::string>{"it's, a (name)", "b", "c d"}));
  EXPECT_EQ(length_of(t, "c d"), 3);
}

TEST(Newick, WrittenAndReadBackItIsTheSame) {
  for (const std::size_t taxa : {3u, 4u, 5u, 17u, 200u}) {
    tree t = random_tree(taxa, 0.3, taxa);
    t.names[0] = "it's, a name";
    EXPECT_EQ(distances(parse_newick(to_newick(t), "f")), distances(t)) << taxa;
  }
}

TEST(Newick, DepthIsNoProblem) {
  constexpr int depth = 200'000;
  std::string text;
  for (int i = 0; i < depth; ++i) text += "(t" + std::to_string(i) + ",";
  text += "(x,y)" + std::string(depth, ')') + ";";
  const tree t = parse_newick(text, "f", 0.1);
  EXPECT_EQ(t.tips(), depth + 2u);
  EXPECT_EQ(parse_newick(to_newick(t), "f").edges.size(), t.edges.size());
  EXPECT_THROW(parse_newick(std::string(depth, '('), "f"), input_error);
}

class BadNewick : public testing::TestWithParam<bad> {};

TEST_P(BadNewick, IsRefusedInASentenceWithThePlace) {
  expect_refused(GetParam(), [](const char* text) { parse_newick(text, "file.nwk"); });
}

INSTANTIATE_TEST_SUITE_P(
    Newick, BadNewick,
    testing::Values(
        bad{"", "file.nwk:1: the file has no tree"},
        bad{" \n\n", "file.nwk:3: the file has no tree"},
        bad{"a;", "file.nwk:1:1: the tree has no '('"},
        bad{"(a,b,c)", "file.nwk:1:8: the tree does not end with ';'"},
        bad{"((a,b),c", "file.nwk:1:9: a '(' is never closed"},
        bad{"((a,b),c;", "file.nwk:1:9: ';' before the last '(' is closed"},
        bad{"(a,b),c);", "file.nwk:1:6: ',' outside parentheses"},
        bad{"(a,b,c));", "file.nwk:1:8: ')' outside parentheses"},
        bad{"(a,b,c);\n(a,b,c);",
            "file.nwk:2:1: the file continues after the first tree; only one tree per file is "
            "read"},
        bad{"(a,b,\n c:x);", "file.nwk:2:4: branch length 'x' is not a number"},
        bad{"(a,b,c:);", "file.nwk:1:8: branch length '' is not a number"},
        bad{"(a,b,c:nan);", "file.nwk:1:8: branch length 'nan' is not a number"},
        bad{"(a,b,c:1e999);", "file.nwk:1:8: branch length 1e999 is too large"},
        bad{"(a,b,c:inf);", "file.nwk:1:8: branch length 'inf' is not a number"},
        bad{"(a:1,b:1, c);", "file.nwk:1:11: the branch that leads here has no length"},
        bad{"(a:1,b:1,\n(c:1,d:1));", "file.nwk:2:1: the branch that leads here has no length"},
        bad{"((a:1,b:1),(c:1,d:1));", "file.nwk:1:2: the branch that leads here has no length"},
        bad{"(a,b,c:1.5.2);", "file.nwk:1:8: branch length '1.5.2' is not a number"},
        bad{"(a,b,c:-1);", "file.nwk:1:8: branch length -1 is negative"},
        bad{"(a,,b);", "file.nwk:1:4: a taxon has no name"},
        bad{"(a,b,());", "file.nwk:1:7: a taxon has no name"},
        bad{"(a,b c,d);", "file.nwk:1:6: 'c' where ',', ')' or ';' is needed"},
        bad{"(a,b(c,d));", "file.nwk:1:5: '(' where ',', ')' or ';' is needed"},
        bad{"(a,(b,c)(d,e));", "file.nwk:1:9: '(' where ',', ')' or ';' is needed"},
        bad{"(a,b,c:1:2);", "file.nwk:1:9: ':' where ',', ')' or ';' is needed"},
        bad{"(a,b,'c);", "file.nwk:1:6: a quoted label never ends"},
        bad{"(a,[b,c);", "file.nwk:1:4: a comment that begins with '[' never ends"},
        bad{"(a,b,]c);", "file.nwk:1:6: a taxon has no name"},
        bad{"(a,b);", "file.nwk:1:1: 2 taxa; at least three are needed"},
        bad{"(a,b,c,d);",
            "file.nwk:1:1: a node has 4 branches below it, but the tree must be binary"},
        bad{"(a,b,(c));",
            "file.nwk:1:6: a node has 1 branch below it, but the tree must be binary"},
        bad{"(a,b,(c,d,e));",
            "file.nwk:1:6: a node has 3 branches below it, but the tree must be binary"},
        bad{"(a,b,\n\na);", "file.nwk:3:1: taxon 'a' is also on line 1"}));

}  // namespace
}  // namespace tutti::phylo
