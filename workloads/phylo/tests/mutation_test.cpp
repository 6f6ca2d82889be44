// SPDX-License-Identifier: Apache-2.0
// Damages files at random: the readers must accept them or report an error, and do nothing else.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/newick.hpp"

namespace tutti::phylo {
namespace {

constexpr int rounds = 20'000;

std::string damaged(std::string text, std::mt19937& random) {
  static const std::string alphabet =
      std::string("()[]':;,.-+eE{}> \n\r\t0129ACGTNxyz") + '\0' + '\xff';
  for (int n = 1 + static_cast<int>(random() % 4); n > 0 && !text.empty(); --n) {
    const std::size_t at = random() % text.size();
    const std::size_t length = random() % 5;
    switch (random() % 5) {
      case 0: text[at] = alphabet[random() % alphabet.size()]; break;
      case 1: text.insert(at, 1, alphabet[random() % alphabet.size()]); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(random() % text.size(), 8 * length)); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

// Returns how many of the damaged texts were accepted. An exception other than Error ends the test.
template <class Error, class Parse>
int accepted(const std::string& text, Parse parse) {
  std::mt19937 random(1);
  int count = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string damage = damaged(text, random);
    try {
      parse(damage);
      ++count;
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
  return count;
}

// Some damage does no harm (a digit in a length), other damage does. A reader that accepts all or
// nothing is broken.
void expect_some(int count) {
  EXPECT_GT(count, rounds / 100);
  EXPECT_LT(count, rounds);
}

TEST(Mutation, Newick) {
  const std::string text = "((alpha:0.1,'b c':2e-3)0.9:0.5,(d:1,(e,f:3):0.25)[x],g:0.125);\n";
  expect_some(accepted<input_error>(text, [](const std::string& s) {
    const tree t = parse_newick(s, "f", 0.1);
    // An accepted text must give a whole tree.
    ASSERT_EQ(t.edges.size(), 2 * t.tips() - 3);
    ASSERT_EQ(edges_in_preorder(t).size(), t.edges.size());
    ASSERT_EQ(parse_newick(to_newick(t), "f").names.size(), t.names.size());
  }));
}

void expect_rectangle(const std::string& s) {
  const alignment a = parse_alignment(s, "f");
  ASSERT_EQ(a.rows.size(), a.names.size());
  for (const auto& row : a.rows) ASSERT_EQ(row.size(), a.sites());
}

TEST(Mutation, Fasta) {
  expect_some(accepted<input_error>(
      ">one\nACGTACGT\nRYN-\n>two x\nACGTACGTACGT\n>three\nTTTTTTTTTTTT\n", expect_rectangle));
}

TEST(Mutation, PhylipSequential) {
  expect_some(accepted<input_error>(
      "3 12\none ACGTACGTRYN-\ntwo ACGTAC\nGTACGT\nthree TTTTTTTTTTTT\n", expect_rectangle));
}

TEST(Mutation, PhylipInterleaved) {
  expect_some(accepted<input_error>(
      "3 12\none ACGTAC\ntwo ACGTAC\nthree TTTTTT\n\nGTRYN-\nGTACGT\nTTTTTT\n", expect_rectangle));
}

TEST(Mutation, Rates) {
  expect_some(accepted<input_error>("0.5\n1.25\n2e-1\n3\n", [](const std::string& s) {
    ASSERT_EQ(parse_site_rates(s, "f", 4).rate_of_site.size(), 4u);
  }));
}

TEST(Mutation, Models) {
  expect_some(accepted<std::invalid_argument>(
      "GTR{1,2,3,4,5,6}+F{0.1,0.2,0.3,0.4}+G4{0.5}",
      [](const std::string& s) { model(parse_model(s).parameters); }));
}

}  // namespace
}  // namespace tutti::phylo
