// SPDX-License-Identifier: Apache-2.0
// Alignments as text, and patterns.
#include "workloads/phylo/alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "workloads/phylo/input.hpp"
#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/patterns.hpp"
#include "workloads/phylo/tests/refusal.hpp"

namespace tutti::phylo {
namespace {

std::string row(const alignment& a, std::size_t i) {
  std::string text;
  for (const state_set s : a.rows[i]) text += letter_of(s);
  return text;
}

TEST(Alignment, CodesOfIupac) {
  EXPECT_EQ(states_of('A') | states_of('C') | states_of('G') | states_of('T'), any_state);
  EXPECT_EQ(states_of('u'), states_of('T'));
  EXPECT_EQ(states_of('R'), states_of('A') | states_of('G'));
  EXPECT_EQ(states_of('y'), states_of('C') | states_of('T'));
  EXPECT_EQ(states_of('M'), states_of('A') | states_of('C'));
  EXPECT_EQ(states_of('k'), states_of('G') | states_of('T'));
  EXPECT_EQ(states_of('S'), states_of('C') | states_of('G'));
  EXPECT_EQ(states_of('W'), states_of('A') | states_of('T'));
  EXPECT_EQ(states_of('B'), any_state & ~states_of('A'));
  EXPECT_EQ(states_of('D'), any_state & ~states_of('C'));
  EXPECT_EQ(states_of('h'), any_state & ~states_of('G'));
  EXPECT_EQ(states_of('V'), any_state & ~states_of('T'));
  for (const char gap : std::string("NnXxOo?-~")) EXPECT_EQ(states_of(gap), any_state) << gap;
  for (const char other : std::string("EFIJLPQZ.*!1 \n\0\xff", 15)) {
    EXPECT_EQ(states_of(other), 0) << int(other);
  }
}

TEST(Alignment, Fasta) {
  const alignment a = parse_alignment("\n>a first one\r\nAC\r\nGT\n>b\nRYN-\n\n", "f");
  EXPECT_EQ(a.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(row(a, 0), "ACGT");
  EXPECT_EQ(row(a, 1), "RYNN");
}

TEST(Alignment, PhylipInALine) {
  const alignment a = parse_alignment(" 2  4\nalpha AC GT\nb    acgu\n", "f");
  EXPECT_EQ(a.names, (std::vector<std::string>{"alpha", "b"}));
  EXPECT_EQ(row(a, 0), "ACGT");
  EXPECT_EQ(row(a, 1), "ACGT");
}

TEST(Alignment, PhylipSequential) {
  const alignment a = parse_alignment("3 6\na ACG\n  TTT\nb ACG\nTTA\nc\nACGTTC\n", "f");
  EXPECT_EQ(row(a, 0), "ACGTTT");
  EXPECT_EQ(row(a, 1), "ACGTTA");
  EXPECT_EQ(row(a, 2), "ACGTTC");
}

TEST(Alignment, PhylipInterleaved) {
  const alignment a = parse_alignment("3 6\na AC\nb CC\nc GC\n\nGT\nGG\nGA\n\nTT\nTT\nTC\n", "f");
  EXPECT_EQ(row(a, 0), "ACGTTT");
  EXPECT_EQ(row(a, 1), "CCGGTT");
  EXPECT_EQ(row(a, 2), "GCGATC");
}

TEST(Alignment, PhylipThatNamesItsLayout) {
  EXPECT_EQ(row(parse_alignment("2 4  S \r\na AC\nGT\nb ACGT\n", "f"), 0), "ACGT");
  EXPECT_EQ(row(parse_alignment("2 4 I\na AC\nb CC\n\nGT\nGG\n", "f"), 1), "CCGG");
}

TEST(Alignment, WrittenAndReadBackItIsTheSame) {
  const alignment a = parse_alignment(">a\nACGTRYKMSWBDHVN\n>b\nTTTTTTTTTTTTTTT\n", "f");
  const alignment b = parse_alignment(to_phylip(a), "f");
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.rows, b.rows);
}

class BadAlignment : public testing::TestWithParam<bad> {};

TEST_P(BadAlignment, IsRefusedInASentenceWithThePlace) {
  expect_refused(GetParam(), [](const char* text) { parse_alignment(text, "file"); });
}

INSTANTIATE_TEST_SUITE_P(
    Alignment, BadAlignment,
    testing::Values(
        bad{"", "file:1: the file has no alignment"},
        bad{"\n \n", "file:1: the file has no alignment"},
        bad{"hello\n",
            "file:1: this is neither FASTA, which begins with '>', nor PHYLIP, which begins with "
            "the "
            "numbers of "
            "taxa and of sites"},
        bad{"2\na A\nb A\n",
            "file:1: this is neither FASTA, which begins with '>', nor PHYLIP, which begins with "
            "the "
            "numbers of "
            "taxa and of sites"},
        bad{"\n2 0\na A\nb A\n",
            "file:2: this is neither FASTA, which begins with '>', nor PHYLIP, which begins with "
            "the "
            "numbers of "
            "taxa and of sites"},
        bad{"2 4 x\na ACGT\nb ACGT\n",
            "file:1: the numbers of taxa and of sites may be followed by I or S, which name the "
            "layout, but not by 'x'"},
        bad{"2 4 I 9 x\na ACGT\nb ACGT\n",
            "file:1: the numbers of taxa and of sites may be followed by I or S, which name the "
            "layout, but not by 'I 9 x'"},
        bad{">a\nACGT\n>b\nACG\n", "file:3: 'b' has 3 sites, but 'a' has 4"},
        bad{">a\nACGT\n>b\n>c\nACGT\n", "file:3: 'b' has no sequence"},
        bad{">a\nACGT\n>a\nACGT\n", "file:3: the name 'a' is also on line 1"},
        bad{">\nACGT\n", "file:1: a sequence has no name after '>'"},
        bad{">a\nACGT\n>b\nAC!T\n", "file:4:3: '!' in the sequence of 'b' is not a code of DNA"},
        bad{">a\nAC\x01T\n",
            "file:2:3: character 0x01 in the sequence of 'a' is not a code of DNA"},
        bad{"2 4\na ACGT\nb ACG\n", "file:3: 'b' has 3 sites, but the first line says 4"},
        bad{"2 4\na ACGT\nb ACGTT\n", "file:3: 'b' has more than 4 sites"},
        bad{"2 4\na ACGT\n", "file:2: the file ends after 1 of 2 taxa"},
        bad{"2 4\na ACGT\nb ACGT\nc ACGT\n", "file:4: a line follows the last sequence"},
        bad{"2 4\na ACGT\na ACGT\n", "file:3: the name 'a' is also on line 2"},
        bad{"2 4\na ACGT\nb AC.T\n", "file:3:5: '.' in the sequence of 'b' is not a code of DNA"},
        bad{"2 4\na AC\nb AC\nGT\nG\n", "file:3: 'b' has 3 sites, but the first line says 4"}));

TEST(Patterns, EqualColumnsAreOnePattern) {
  const alignment a = parse_alignment(">b\nAAACC\n>a\nCCCGG\n>c\nTTATT\n", "f");
  const tree t = parse_newick("(a:1,b:1,c:1);", "f");
  const pattern_set p = compress(a, t);
  EXPECT_EQ(p.patterns, 3u);
  EXPECT_EQ(p.blocks, 1u);
  EXPECT_EQ(p.weights, (std::vector<double>{2, 1, 2, 0, 0, 0, 0, 0}));
  EXPECT_EQ(p.slot_of_site, (std::vector<std::uint32_t>{0, 0, 1, 2, 2}));
  // The rows are in the order of the tree's tips, with gaps where there is no pattern.
  EXPECT_EQ(p.states[0][0], states_of('C'));
  EXPECT_EQ(p.states[1][0], states_of('A'));
  EXPECT_EQ(p.states[2][1], states_of('A'));
  EXPECT_EQ(p.states[2][3], any_state);
}

TEST(Patterns, ABlockHasOneRate) {
  const alignment a = parse_alignment(">a\nAAAC\n>b\nCCCC\n>c\nTTTT\n", "f");
  const std::vector<std::uint16_t> rates{1, 0, 1, 1};
  const pattern_set p = compress(a, parse_newick("(a:1,b:1,c:1);", "f"), rates);
  EXPECT_EQ(p.patterns, 3u);
  EXPECT_EQ(p.rate_of_block, (std::vector<std::uint16_t>{0, 1}));
  EXPECT_EQ(std::accumulate(p.weights.begin(), p.weights.end(), 0.0), 4.0);
  EXPECT_EQ(p.slot_of_site, (std::vector<std::uint32_t>{8, 0, 8, 9}));
}

std::string refusal(const char* taxa) {
  const alignment a = parse_alignment(">a\nA\n>b\nA\n>c\nA\n", "f");
  try {
    compress(a, parse_newick(taxa, "f", 1), {}, "x.phy", "y.nwk");
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

TEST(Patterns, TreeAndAlignmentMustHaveTheSameTaxa) {
  EXPECT_EQ(refusal("(a,b,c);"), "");
  EXPECT_EQ(refusal("(a,b,d);"), "x.phy: taxon 'd' of y.nwk is not in this alignment");
  EXPECT_EQ(refusal("(a,b,(c,d));"), "x.phy: taxon 'd' of y.nwk is not in this alignment");
  const alignment a = parse_alignment(">a\nA\n>b\nA\n>c\nA\n>d\nA\n", "f");
  EXPECT_THROW(compress(a, parse_newick("(a:1,b:1,c:1);", "f")), input_error);
}

}  // namespace
}  // namespace tutti::phylo
