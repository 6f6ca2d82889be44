// SPDX-License-Identifier: Apache-2.0
// Reads and writes Newick trees. Neither recurses, so memory limits the depth, not the stack.
#include "workloads/phylo/newick.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "workloads/phylo/input.hpp"

namespace tutti::phylo {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view delimiters = "()[]':;,";

// A node of a rooted tree of any shape, as written.
struct written_node {
  std::size_t parent;
  std::vector<std::size_t> children;
  std::string label;
  std::optional<double> length;
  text_place where;
};

class reader {
 public:
  reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::vector<written_node> read() {
    skip_blanks();
    if (at_end()) fail("the file has no tree");
    add_node(nowhere);
    std::size_t current = 0;
    while (true) {
      skip_blanks();
      if (peek() == '(' && !closed_) {
        nodes_[current].where = here();
        next();
        current = add_node(current);
        continue;
      }
      read_label_and_length(current);
      skip_blanks();
      const char c = at_end() ? '\0' : peek();
      if (c == ',' || c == ')') {
        current = close(current, c);
      } else if (c == ';') {
        if (current != 0) fail_here("';' before the last '(' is closed");
        next();
        break;
      } else if (at_end()) {
        fail_here(current == 0 ? "the tree does not end with ';'" : "a '(' is never closed");
      } else {
        fail_here(fmt::format("{} where ',', ')' or ';' is needed", shown(c)));
      }
    }
    skip_blanks();
    if (!at_end())
      fail_here("the file continues after the first tree; only one tree per file is read");
    return std::move(nodes_);
  }

 private:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  char next() {
    const char c = text_[position_++];
    if (c == '\n') {
      ++line_;
      line_start_ = position_;
    }
    return c;
  }
  text_place here() const { return {line_, position_ - line_start_ + 1}; }
  [[noreturn]] void fail(std::string_view what) const { refuse_input(file_, {line_, 0}, what); }
  [[noreturn]] void fail_here(std::string_view what) const { refuse_input(file_, here(), what); }

  void skip_blanks() {
    while (!at_end()) {
      if (blanks.find(peek()) != std::string_view::npos) {
        next();
      } else if (peek() == '[') {
        const text_place start = here();
        while (!at_end() && peek() != ']') next();
        if (at_end()) refuse_input(file_, start, "a comment that begins with '[' never ends");
        next();
      } else {
        return;
      }
    }
  }

  std::size_t add_node(std::size_t parent) {
    nodes_.push_back({parent, {}, {}, std::nullopt, here()});
    if (parent != nowhere) nodes_[parent].children.push_back(nodes_.size() - 1);
    return nodes_.size() - 1;
  }

  // Called after a whole subtree: a sibling follows, or the parent is complete. Returns the node to
  // read next.
  std::size_t close(std::size_t current, char c) {
    const std::size_t parent = nodes_[current].parent;
    if (parent == nowhere) fail_here(fmt::format("{} outside parentheses", shown(c)));
    next();
    if (c == ',') return add_node(parent);
    closed_ = true;
    return parent;
  }

  void read_label_and_length(std::size_t current) {
    written_node& node = nodes_[current];
    const bool inner = std::exchange(closed_, false);
    if (!inner) node.where = here();
    node.label = peek() == '\'' ? read_quoted() : read_plain();
    if (!inner && node.label.empty()) fail_here("a taxon has no name");
    skip_blanks();
    if (peek() != ':') return;
    next();
    skip_blanks();
    const text_place start = here();
    std::string_view token = read_token();
    const std::string_view written = token;
    if (token.starts_with('+')) token.remove_prefix(1);
    double length = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), length);
    const bool whole = error != std::errc::invalid_argument && end == token.data() + token.size();
    if (!whole || !std::isfinite(length)) {
      refuse_input(file_, start, fmt::format("branch length '{}' is not a number", written));
    }
    if (error == std::errc::result_out_of_range) {
      // from_chars does not tell at which end; strtod returns 0 or infinity.
      length = std::strtod(std::string(token).c_str(), nullptr);
      if (!std::isfinite(length))
        refuse_input(file_, start, fmt::format("branch length {} is too large", written));
    }
    if (length < 0)
      refuse_input(file_, start, fmt::format("branch length {} is negative", written));
    node.length = length;
  }

  std::string_view read_token() {
    const std::size_t start = position_;
    while (!at_end() && blanks.find(peek()) == std::string_view::npos &&
           delimiters.find(peek()) == std::string_view::npos) {
      next();
    }
    return text_.substr(start, position_ - start);
  }
  std::string read_plain() { return std::string(read_token()); }

  std::string read_quoted() {
    const text_place start = here();
    std::string label;
    next();
    while (!at_end()) {
      const char c = next();
      if (c != '\'') {
        label += c;
      } else if (peek() == '\'') {
        label += next();
      } else {
        return label;
      }
    }
    refuse_input(file_, start, "a quoted label never ends");
  }

  std::string_view text_, file_;
  std::size_t position_ = 0, line_ = 1, line_start_ = 0;
  // A ')' has just been read, so the next text describes an inner node.
  bool closed_ = false;
  std::vector<written_node> nodes_;
};

class converter {
 public:
  converter(const std::vector<written_node>& nodes, std::string_view file,
            std::optional<double> default_length)
      : nodes_(nodes), file_(file), default_length_(default_length), number_(nodes.size(), none) {}

  tree convert() {
    check_shape();
    tree t(tip_names());
    auto inner = static_cast<node_t>(t.tips());
    const bool rooted = nodes_[0].children.size() == 2;
    for (std::size_t i = rooted ? 1 : 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].children.empty()) number_[i] = inner++;
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      const std::size_t parent = nodes_[i].parent;
      if (rooted && parent == 0) continue;
      t.connect(number_[parent], number_[i], length_of(i));
    }
    if (rooted) join_root_branches(t);
    return t;
  }

 private:
  void check_shape() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t branches = nodes_[i].children.size();
      const bool fits = i == 0 ? branches == 2 || branches == 3 : branches == 0 || branches == 2;
      if (fits) continue;
      if (i == 0 && branches == 0) refuse_input(file_, nodes_[0].where, "the tree has no '('");
      refuse_input(file_, nodes_[i].where,
                   fmt::format("a node has {} branch{} below it, but the tree must be binary",
                               branches, branches == 1 ? "" : "es"));
    }
  }

  std::vector<std::string> tip_names() {
    std::vector<std::string> names;
    std::unordered_map<std::string_view, std::size_t> seen;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].children.empty()) continue;
      const auto [first, is_new] = seen.emplace(nodes_[i].label, i);
      if (!is_new) {
        refuse_input(file_, nodes_[i].where,
                     fmt::format("taxon '{}' is also on line {}", nodes_[i].label,
                                 nodes_[first->second].where.line));
      }
      number_[i] = static_cast<node_t>(names.size());
      names.push_back(nodes_[i].label);
    }
    if (names.size() < 3) {
      refuse_input(file_, nodes_[0].where,
                   fmt::format("{} taxa; at least three are needed", names.size()));
    }
    return names;
  }

  void join_root_branches(tree& t) const {
    const std::size_t left = nodes_[0].children[0], right = nodes_[0].children[1];
    const auto& a = nodes_[left].length;
    const auto& b = nodes_[right].length;
    // One length is enough for the two halves of a branch.
    const double length = a || b ? a.value_or(0) + b.value_or(0) : length_of(left);
    t.connect(number_[left], number_[right], length);
  }

  double length_of(std::size_t i) const {
    const std::optional<double> length = nodes_[i].length ? nodes_[i].length : default_length_;
    if (!length) refuse_input(file_, nodes_[i].where, "the branch that leads here has no length");
    return *length;
  }

  const std::vector<written_node>& nodes_;
  std::string_view file_;
  std::optional<double> default_length_;
  std::vector<node_t> number_;
};

std::string label_of(const std::string& name) {
  const bool plain = name.find_first_of(blanks) == std::string::npos &&
                     name.find_first_of(delimiters) == std::string::npos;
  if (plain) return name;
  std::string quoted = "'";
  for (const char c : name) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

}  // namespace

tree parse_newick(std::string_view text, std::string_view file,
                  std::optional<double> default_length) {
  const std::vector<written_node> nodes = reader(text, file).read();
  return converter(nodes, file, default_length).convert();
}

std::string to_newick(const tree& t) {
  std::string text = "(";
  // An item that is still to be written, the next one on top: a branch and the node at its lower
  // end, or punctuation.
  struct item {
    edge_t e;
    node_t below;
    char mark;
  };
  std::vector<item> stack;
  const auto push_branches = [&](node_t node, const auto& branches) {
    stack.push_back({none, none, ')'});
    for (std::size_t i = std::size(branches); i-- > 0;) {
      stack.push_back({branches[i], t.far_end(branches[i], node), 'b'});
      if (i > 0) stack.push_back({none, none, ','});
    }
  };
  const auto root = static_cast<node_t>(t.tips());
  push_branches(root, t.incident[root]);
  // Branches whose lower node is being written.
  std::vector<edge_t> open;
  while (!stack.empty()) {
    const item top = stack.back();
    stack.pop_back();
    if (top.mark == ',') {
      text += ',';
    } else if (top.mark == ')') {
      text += ')';
      if (open.empty()) continue;
      text += fmt::format(":{}", t.edges[open.back()].length);
      open.pop_back();
    } else if (t.is_tip(top.below)) {
      text += fmt::format("{}:{}", label_of(t.names[top.below]), t.edges[top.e].length);
    } else {
      text += '(';
      open.push_back(top.e);
      push_branches(top.below, t.other_edges(top.below, top.e));
    }
  }
  return text + ";\n";
}

}  // namespace tutti::phylo
