// SPDX-License-Identifier: Apache-2.0
// Tarjan's algorithm: Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972.
#include "vcode/language/call_graph.hpp"

#include <algorithm>

namespace tutti::vcode {
namespace {

class components {
 public:
  explicit components(const program_data& data) : nodes_(data.functions.size()) {
    for (std::uint32_t f = 0; f < nodes_.size(); ++f) {
      const function& each = data.functions[f];
      for (std::uint32_t at = each.begin; at < each.end; ++at) {
        if (data.code[at].code != opcode::call) continue;
        nodes_[f].callees.push_back(static_cast<std::uint32_t>(data.code[at].first));
      }
    }
  }

  std::vector<call_group> find() {
    for (std::uint32_t f = 0; f < nodes_.size(); ++f) {
      if (nodes_[f].number == 0) visit(f);
    }
    return std::move(groups_);
  }

 private:
  struct node {
    std::vector<std::uint32_t> callees;
    // The order of discovery; 0 means not discovered yet.
    std::uint32_t number = 0;
    // The lowest number that this function reaches among those still on the stack.
    std::uint32_t lowest = 0;
    // The index of the next callee to visit.
    std::size_t next = 0;
    bool on_stack = false;
  };

  void enter(std::uint32_t f) {
    nodes_[f].number = nodes_[f].lowest = ++count_;
    nodes_[f].on_stack = true;
    stack_.push_back(f);
    path_.push_back(f);
  }

  void visit(std::uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::uint32_t f = path_.back();
      node& at = nodes_[f];
      if (at.next < at.callees.size()) {
        const std::uint32_t callee = at.callees[at.next++];
        if (nodes_[callee].number == 0) {
          enter(callee);
        } else if (nodes_[callee].on_stack) {
          at.lowest = std::min(at.lowest, nodes_[callee].number);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        node& caller = nodes_[path_.back()];
        caller.lowest = std::min(caller.lowest, at.lowest);
      }
      if (at.lowest == at.number) close(f);
    }
  }

  void close(std::uint32_t root) {
    call_group group;
    std::uint32_t f = root;
    do {
      f = stack_.back();
      stack_.pop_back();
      nodes_[f].on_stack = false;
      group.functions.push_back(f);
    } while (f != root);
    const auto& callees = nodes_[root].callees;
    group.recursive = group.functions.size() > 1 ||
                      std::find(callees.begin(), callees.end(), root) != callees.end();
    groups_.push_back(std::move(group));
  }

  std::vector<node> nodes_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> path_;
  std::vector<call_group> groups_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::vector<call_group> call_groups(const program_data& data) { return components(data).find(); }

}  // namespace tutti::vcode
