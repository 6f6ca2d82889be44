// SPDX-License-Identifier: Apache-2.0
// NIST's Matrix Market, as far as it holds graphs: a square coordinate matrix of reals, integers or
// nothing (pattern). Row i, column j is the edge from i-1 to j-1. A symmetric matrix lists its
// lower triangle; an entry off the diagonal becomes two edges, one after the other.
#include <array>
#include <cctype>

#include "src/graph/read/readers.hpp"
#include "src/graph/read/text.hpp"

namespace tutti::graph {

namespace {

enum class field { pattern, real, integer };

struct banner {
  field values = field::pattern;
  bool symmetric = false;
};

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) != b[i]) return false;
  return true;
}

banner read_banner(text& words) {
  if (!same_word(words.word(), "%%matrixmarket"))
    words.fail("a Matrix Market file must begin with %%MatrixMarket");
  if (const auto object = words.word(); !same_word(object, "matrix"))
    words.fail("'matrix' should follow, not '" + text::shown(object) + "'");
  if (const auto format = words.word(); !same_word(format, "coordinate"))
    words.fail("only 'coordinate' matrices are graphs, not '" + text::shown(format) + "'");
  banner found;
  const auto values = words.word();
  if (same_word(values, "real") || same_word(values, "double"))
    found.values = field::real;
  else if (same_word(values, "integer"))
    found.values = field::integer;
  else if (!same_word(values, "pattern"))
    words.fail("entries are 'pattern', 'real' or 'integer', not '" + text::shown(values) + "'");
  const auto symmetry = words.word();
  if (same_word(symmetry, "symmetric"))
    found.symmetric = true;
  else if (!same_word(symmetry, "general"))
    words.fail("a graph is 'general' or 'symmetric', not '" + text::shown(symmetry) + "'");
  words.end_line("the kind of symmetry");
  return found;
}

void skip_comments(text& words) {
  while (!words.at_end()) {
    if (words.peek() == '%')
      words.take_line();
    else if (words.at_line_end())
      words.next_line();
    else
      return;
  }
}

}  // namespace

listed_graph list_matrix_market(const input& in, edge_sink& sink) {
  text words(in.bytes, in.name);
  const banner how = read_banner(words);
  skip_comments(words);
  if (words.at_end()) words.fail("the file ends before the size of the matrix");

  const std::uint64_t rows = words.whole("the number of rows");
  const std::uint64_t columns = words.whole("the number of columns");
  const std::uint64_t entries = words.whole("the number of entries");
  if (rows != columns)
    words.fail("a graph is a square matrix, not one of " + std::to_string(rows) + " by " +
               std::to_string(columns));
  check_vertices(in, words.line(), rows);
  const std::uint64_t header = words.line();
  words.end_line("the size of the matrix");
  if (const std::uint64_t lines = lines_in(in, words.rest()); lines < entries)
    words.fail_at(header, "the header promises " + std::to_string(entries) +
                              " entries, but the file has only " + std::to_string(lines) +
                              " more lines");

  const bool weighted = how.values != field::pattern;
  sink.announce(weighted, how.symmetric ? 2 * entries : entries);
  std::uint64_t found = 0;
  for (; !words.at_end(); ++found) {
    if (words.at_line_end()) {
      words.next_line();
      --found;
      continue;
    }
    if (found == entries)
      words.fail("the header promises " + std::to_string(entries) +
                 " entries, but here is one more");
    const std::uint64_t row = words.whole("a row");
    const std::uint64_t column = words.whole("a column");
    if (row == 0 || column == 0 || row > rows || column > rows)
      words.fail("entry (" + std::to_string(row) + ", " + std::to_string(column) +
                 ") is outside a matrix of " + std::to_string(rows) + " rows, counted from 1");
    if (how.symmetric && row < column)
      words.fail("a symmetric file lists the lower triangle only, not entry (" +
                 std::to_string(row) + ", " + std::to_string(column) + ")");
    const auto from = static_cast<vertex_t>(row - 1), to = static_cast<vertex_t>(column - 1);
    float value = 0;
    if (weighted) {
      value = words.real("an entry's value", how.values == field::integer);
      if (value < 0 && !in.options.negative_weights)
        words.fail("negative weights are not allowed here");
    }
    if (sink.is_full()) in.forget_before(words.rest().data());
    sink.add(from, to, value);
    if (how.symmetric && from != to) sink.add(to, from, value);
    words.end_line("an entry");
  }
  if (found != entries)
    words.fail_at(header, "the header promises " + std::to_string(entries) +
                              " entries, but there are " + std::to_string(found));
  sink.flush();
  return {static_cast<vertex_t>(rows), how.symmetric};
}

}  // namespace tutti::graph
