// SPDX-License-Identifier: Apache-2.0
// The search: depth first over states, or breadth first with the way to each state.
#include "tests/termination/explore.hpp"

namespace tutti::protocol::test {
namespace {

// From a quiescent state the episode must end whatever control message comes first. Each state on
// the way is quiescent too, and the search visits it with every order, so one continuation is
// enough here. States that are known to end are not tried again.
class liveness {
 public:
  template <class World>
  const char* check(const scenario& s, World at) {
    const std::uint8_t episode = at.episode(s);
    for (int steps = 0; !at.everybody_released(s, episode); ++steps) {
      if (!ends_.insert(at.hash())) return nullptr;
      action next;
      if (!at.forced(s, next))
        return "all are idle, nothing is under way, and nothing happens any more";
      at.apply(s, next);
      if (at.violation() != nullptr) return at.violation();
      if (steps == most_steps)
        return "all are idle, nothing is under way, and the episode never ends";
    }
    return nullptr;
  }
  std::uint64_t size() const { return ends_.size(); }

 private:
  static constexpr int most_steps = 200;
  hash_set ends_;
};

template <class World>
class search {
 public:
  search(const scenario& s, std::uint64_t most_states) : s_(s), most_states_(most_states) {}

  findings depth_first() {
    std::vector<World> pending;
    World start(s_);
    if (visit(start)) pending.push_back(start);
    while (!pending.empty() && found_.violation.empty() && found_.complete) {
      const World at = pending.back();
      pending.pop_back();
      at.each_action(s_, [&](const action& a) {
        if (World next = at; step_to(next, a)) pending.push_back(next);
      });
    }
    return finish();
  }

  const std::set<std::array<std::uint64_t, most_participants>>& ends() const { return ends_; }

  findings breadth_first() {
    std::vector<World> layer{World(s_)};
    std::vector<std::uint32_t> names{0};
    ways_.push_back({});
    visit(layer[0]);
    for (; !layer.empty() && found_.violation.empty() && found_.complete; ++found_.depth) {
      std::vector<World> next_layer;
      std::vector<std::uint32_t> next_names;
      for (std::size_t i = 0; i < layer.size() && found_.violation.empty(); ++i)
        layer[i].each_action(s_, [&](const action& a) {
          if (!found_.violation.empty()) return;
          World next = layer[i];
          const bool is_new = step_to(next, a);
          if (!is_new && found_.violation.empty()) return;
          next_names.push_back(static_cast<std::uint32_t>(ways_.size()));
          ways_.push_back({names[i], a});
          next_layer.push_back(next);
        });
      layer.swap(next_layer);
      names.swap(next_names);
    }
    if (!found_.violation.empty()) trace(names.back());
    return finish();
  }

 private:
  struct way {
    std::uint32_t from = 0;
    action by{};
  };

  // Returns whether the state is new and right.
  bool step_to(World& next, const action& a) {
    ++found_.steps;
    next.apply(s_, a);
    return visit(next);
  }
  bool visit(const World& at) {
    if (at.violation() != nullptr) {
      if (found_.violation.empty()) found_.violation = at.violation();
      return false;
    }
    if (!seen_.insert(at.hash())) return false;
    if (s_.histories && at.finished(s_)) ends_.insert(at.histories());
    if (seen_.size() >= most_states_) found_.complete = false;
    if (at.quiescent(s_)) {
      ++found_.quiescent;
      if (const char* what = liveness_.check(s_, at)) {
        found_.violation = what;
        found_.by_itself = true;
      }
    }
    return found_.violation.empty();
  }
  void trace(std::uint32_t name) {
    for (; name != 0; name = ways_[name].from) found_.trace.push_back(text(ways_[name].by));
    std::reverse(found_.trace.begin(), found_.trace.end());
  }
  findings finish() {
    found_.states = seen_.size();
    return found_;
  }

  const scenario& s_;
  std::uint64_t most_states_;
  findings found_;
  hash_set seen_;
  liveness liveness_;
  std::vector<way> ways_;
  std::set<std::array<std::uint64_t, most_participants>> ends_;
};

template <class Machine>
findings run(const scenario& s, bool shortest, std::uint64_t most_states) {
  search<world<Machine>> searching(s, most_states);
  return shortest ? searching.breadth_first() : searching.depth_first();
}

template <class Machine>
auto ends(const scenario& s) {
  search<world<Machine>> searching(s, ~std::uint64_t{0});
  searching.depth_first();
  return searching.ends();
}

}  // namespace

std::set<std::array<std::uint64_t, most_participants>> histories(const scenario& s) {
  std::set<std::array<std::uint64_t, most_participants>> found;
  with_algorithm(s.name, [&](auto entry) {
    found = ends<typename decltype(entry)::template machine<watched>>(s);
  });
  return found;
}

findings explore(const scenario& s, bool shortest, std::uint64_t most_states) {
  findings found;
  with_algorithm(s.name, [&](auto entry) {
    found = run<typename decltype(entry)::template machine<watched>>(s, shortest, most_states);
  });
  return found;
}

}  // namespace tutti::protocol::test
