// SPDX-License-Identifier: Apache-2.0
// Unifies types by links. Every walk over a type has a budget, since PAIRs can make types of
// exponential size.
#include "vcode/language/types.hpp"

#include <algorithm>

namespace tutti::vcode {
namespace {

constexpr std::uint32_t largest_type = 4096;

}  // namespace

type_pool::type_pool() {
  for (const kind k : {kind::integer, kind::real, kind::boolean, kind::segdes}) {
    nodes_.push_back({k, -1, -1, -1});
  }
}

type_pool::id type_pool::variable() {
  nodes_.push_back({});
  return static_cast<id>(nodes_.size() - 1);
}

type_pool::id type_pool::pair(id first, id second) {
  nodes_.push_back({kind::pair, first, second, -1});
  return static_cast<id>(nodes_.size() - 1);
}

type_pool::id type_pool::find(id type) {
  id root = type;
  while (nodes_[static_cast<std::size_t>(root)].link >= 0) {
    root = nodes_[static_cast<std::size_t>(root)].link;
  }
  while (nodes_[static_cast<std::size_t>(type)].link >= 0) {
    const id next = nodes_[static_cast<std::size_t>(type)].link;
    nodes_[static_cast<std::size_t>(type)].link = root;
    type = next;
  }
  return root;
}

// Returns true also when the budget is spent: the verifier refuses such a type like an infinite
// one.
bool type_pool::contains(id type, id variable, std::uint32_t& budget) {
  std::vector<id> open{type};
  while (!open.empty()) {
    const id each = find(open.back());
    open.pop_back();
    if (each == variable || budget-- == 0) return true;
    const node& n = nodes_[static_cast<std::size_t>(each)];
    if (n.kind == kind::pair) open.insert(open.end(), {n.first, n.second});
  }
  return false;
}

bool type_pool::unify(id a, id b) {
  // The usual case needs no memory.
  if (find(a) == find(b)) return true;
  std::vector<std::pair<id, id>> open{{a, b}};
  while (!open.empty()) {
    const id x = find(open.back().first);
    const id y = find(open.back().second);
    open.pop_back();
    if (x == y) continue;
    node& left = nodes_[static_cast<std::size_t>(x)];
    node& right = nodes_[static_cast<std::size_t>(y)];
    std::uint32_t budget = largest_type;
    if (left.kind == kind::none) {
      if (right.kind == kind::pair && contains(y, x, budget)) return false;
      left.link = y;
    } else if (right.kind == kind::none) {
      if (left.kind == kind::pair && contains(x, y, budget)) return false;
      right.link = x;
    } else if (left.kind != right.kind) {
      return false;
    } else if (left.kind == kind::pair) {
      // Link before the parts are unified, so that shared parts are visited once.
      left.link = y;
      open.emplace_back(left.first, right.first);
      open.emplace_back(left.second, right.second);
    }
  }
  return true;
}

bool type_pool::may_be_same(id a, id b) {
  const kind x = nodes_[static_cast<std::size_t>(find(a))].kind;
  const kind y = nodes_[static_cast<std::size_t>(find(b))].kind;
  return x == y || x == kind::none || y == kind::none;
}

std::optional<type_term> type_pool::term(id type, std::map<id, std::int32_t>& numbers,
                                         std::uint32_t& budget) {
  type_term made;
  const std::uint32_t most = std::min(largest_type, budget);
  std::vector<id> open{type};
  while (!open.empty()) {
    if (made.size() == most) return std::nullopt;
    const id root = find(open.back());
    open.pop_back();
    const node& n = nodes_[static_cast<std::size_t>(root)];
    made.push_back({n.kind, 0});
    if (n.kind == kind::none) {
      made.back().variable =
          numbers.try_emplace(root, static_cast<std::int32_t>(numbers.size())).first->second;
    } else if (n.kind == kind::pair) {
      open.insert(open.end(), {n.second, n.first});
    }
  }
  budget -= static_cast<std::uint32_t>(made.size());
  return made;
}

type_pool::id type_pool::instance(const type_term& term, std::map<std::int32_t, id>& variables) {
  // From the end, so that the parts of a PAIR are there before it, the first one on top.
  std::vector<id> made;
  for (std::size_t i = term.size(); i-- > 0;) {
    if (term[i].kind == kind::none) {
      const auto [found, is_new] = variables.try_emplace(term[i].variable, -1);
      if (is_new) found->second = variable();
      made.push_back(found->second);
    } else if (term[i].kind == kind::pair) {
      const id first = made.back();
      made.pop_back();
      made.back() = pair(first, made.back());
    } else {
      made.push_back(of(term[i].kind));
    }
  }
  return made.back();
}

std::string type_pool::name(id type) {
  const kind k = nodes_[static_cast<std::size_t>(find(type))].kind;
  return k == kind::none ? "a value of any type" : std::string(name_of(k));
}

}  // namespace tutti::vcode
