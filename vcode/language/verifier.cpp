// SPDX-License-Identifier: Apache-2.0
// Types one function by abstract interpretation on a stack of types.
#include "vcode/language/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vcode/language/call_graph.hpp"
#include "vcode/language/types.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t most_values = 16384;
constexpr std::size_t most_paths = 16;
// Each open IF may have as many values on its paths as the limits above allow, and thousands of IFs
// may be open: this many values take 64 MB. A path of no values counts too, as it takes memory.
constexpr std::size_t most_waiting = std::size_t{1} << 24;
constexpr std::size_t cost_of_path = 8;
// Each value may have a large type, and each path 16384 values: this many nodes take some 60 MB.
constexpr std::uint32_t largest_effect = std::uint32_t{1} << 20;
// A function may call many others, each of a large effect: this many nodes take 64 MB.
constexpr std::size_t most_nodes = std::size_t{1} << 22;
// Each round carries known effects across one more call. Without a limit, a recursion that takes
// more values at each call would never converge.
constexpr std::size_t fewest_rounds = 100;

class inference {
 public:
  inference(const program_data& data, const function& of) : data_(data), function_(of) {}

  // Returns the effect, given what is known of the other functions so far.
  stack_effect run(std::uint32_t& growth) {
    for (at_ = function_.begin; at_ < function_.end; ++at_) step(data_.code[at_]);
    growth = static_cast<std::uint32_t>(growth_);
    return effect();
  }

 private:
  using id = type_pool::id;

  struct state {
    // The number of entries of inputs_ that lie at the bottom of `stack`.
    std::size_t known = 0;
    std::vector<id> stack;
  };
  // The stacks that are possible at one place; empty if it cannot be reached.
  using states = std::vector<state>;

  [[noreturn]] void fail(const std::string& sentence) const {
    const place& where = data_.code[at_].where;
    throw source_error(
        data_.file, where.line, where.column,
        fmt::format("{} in {}: {}", info(data_.code[at_].code).name, function_.name, sentence));
  }

  void check_size(std::size_t count) const {
    if (count > most_values) fail(fmt::format("more than {} values on the stack", most_values));
  }

  // Puts the inputs that were found since this state was made below its values.
  void extend(state& s) const {
    s.stack.insert(s.stack.begin(), inputs_.rbegin(),
                   inputs_.rend() - static_cast<std::ptrdiff_t>(s.known));
    s.known = inputs_.size();
  }

  // Ensures that `count` values are there; missing ones become inputs.
  void reach(std::size_t count) {
    check_size(count);
    if (count <= now_.stack.size()) return;
    extend(now_);
    if (count > now_.stack.size() && inputs_.empty()) first_reach_ = at_;
    const std::size_t missing = count - std::min(count, now_.stack.size());
    // Every stack gets these values below its own.
    check_size(inputs_.size() + missing);
    for (std::size_t i = 0; i < missing; ++i) inputs_.push_back(types_.variable());
    extend(now_);
  }
  id& top(std::size_t depth) { return now_.stack[now_.stack.size() - 1 - depth]; }
  id pop() {
    reach(1);
    const id popped = now_.stack.back();
    now_.stack.pop_back();
    return popped;
  }
  void push(id type) {
    check_size(now_.stack.size() + 1);
    now_.stack.push_back(type);
  }

  void take(std::string_view letters, kind stated) {
    reach(letters.size());
    for (std::size_t i = letters.size(); i-- > 0;) {
      const id wanted = types_.of(kind_of(letters[i], stated));
      const id found = now_.stack.back();
      if (!types_.unify(found, wanted)) {
        fail(fmt::format("operand {} of {} must be {} and is {}", i + 1, letters.size(),
                         types_.name(wanted), types_.name(found)));
      }
      now_.stack.pop_back();
    }
  }

  void step(const instruction& i) {
    switch (i.code) {
      case opcode::branch_if: begin_branch(); return;
      case opcode::branch_else:
        waiting_ -= cost(branches_.back());
        std::swap(paths_, branches_.back());
        add_waiting(branches_.back());
        return;
      case opcode::end_if: end_branch(); return;
      case opcode::exit: paths_.clear(); return;
      default: break;
    }
    states before;
    std::swap(before, paths_);
    for (state& each : before) {
      now_ = std::move(each);
      step_path(i);
    }
  }

  // Executes one instruction on the path in now_ and adds the resulting states to the paths.
  void step_path(const instruction& i) {
    switch (i.code) {
      case opcode::copy: {
        const auto [count, depth] = range(i);
        check_size(now_.stack.size() + count);
        for (std::size_t k = 0; k < count; ++k) push(top(depth + count - 1));
        break;
      }
      case opcode::pop: {
        const auto [count, depth] = range(i);
        const auto end = now_.stack.end() - static_cast<std::ptrdiff_t>(depth);
        now_.stack.erase(end - static_cast<std::ptrdiff_t>(count), end);
        break;
      }
      case opcode::cpop: {
        const auto [count, depth] = range(i);
        const auto middle = now_.stack.end() - static_cast<std::ptrdiff_t>(depth);
        std::rotate(middle - static_cast<std::ptrdiff_t>(count), middle, now_.stack.end());
        break;
      }
      case opcode::make_pair: {
        reach(2);
        const id second = pop();
        push(types_.pair(pop(), second));
        break;
      }
      case opcode::split_pair: split_pair(); break;
      case opcode::constant:
        push(types_.of(data_.constants[static_cast<std::size_t>(i.first)].type));
        break;
      case opcode::call: call(data_.functions[static_cast<std::size_t>(i.first)]); return;
      default:
        take(info(i.code).operands, i.type);
        for (const char letter : info(i.code).results) push(types_.of(kind_of(letter, i.type)));
    }
    add_path();
  }

  void add_path() {
    growth_ = std::max(growth_, now_.stack.size() - std::min(now_.stack.size(), now_.known));
    absorb(std::move(now_));
  }

  // Merges paths whose stacks have the same shape. The NESL compiler makes no others; hand-written
  // programs may.
  void absorb(state&& added) {
    extend(added);
    for (state& each : paths_) {
      extend(each);
      if (!has_shape(each, added)) continue;
      for (std::size_t k = 0; k < added.stack.size(); ++k) {
        if (!types_.unify(each.stack[k], added.stack[k]))
          fail("the branches leave PAIRs of different types");
      }
      return;
    }
    if (paths_.size() == most_paths) {
      fail(fmt::format("more than {} different stacks are possible", most_paths));
    }
    paths_.push_back(std::move(added));
  }

  bool has_shape(const state& a, const state& b) {
    return std::equal(a.stack.begin(), a.stack.end(), b.stack.begin(), b.stack.end(),
                      [&](id x, id y) { return types_.may_be_same(x, y); });
  }

  struct span {
    std::size_t count;
    std::size_t depth;
  };
  span range(const instruction& i) {
    // With a count of 0 nothing moves, whatever the depth; prepare.cpp drops the depth too.
    if (i.first == 0) return {0, 0};
    const span result{static_cast<std::size_t>(i.first), static_cast<std::size_t>(i.second)};
    reach(result.count + result.depth);
    return result;
  }

  void split_pair() {
    const id whole = pop();
    const id first = types_.variable();
    const id second = types_.variable();
    if (!types_.unify(whole, types_.pair(first, second))) {
      fail(fmt::format("the top of the stack must be a PAIR and is {}", types_.name(whole)));
    }
    push(first);
    push(second);
  }

  void call(const function& callee) {
    const stack_effect& effect = callee.effect;
    reach(effect.inputs.size());
    std::map<std::int32_t, id> variables;
    for (std::size_t i = effect.inputs.size(); i-- > 0;) {
      const id wanted = types_.instance(effect.inputs[i], variables);
      const id found = now_.stack.back();
      if (!types_.unify(found, wanted)) {
        fail(fmt::format("{} takes {} as value {} from the top and finds {}", callee.name,
                         types_.name(wanted), effect.inputs.size() - i, types_.name(found)));
      }
      now_.stack.pop_back();
    }
    const state below = now_;
    for (const auto& outputs : effect.outputs) {
      now_ = below;
      for (const auto& each : outputs) push(types_.instance(each, variables));
      add_path();
    }
    if (types_.size() > most_nodes) fail("the types of all values that calls leave are too large");
  }

  static std::size_t cost(const states& paths) {
    std::size_t values = 0;
    for (const state& each : paths) values += each.stack.size() + cost_of_path;
    return values;
  }
  void add_waiting(const states& paths) {
    waiting_ += cost(paths);
    if (waiting_ > most_waiting) {
      fail(fmt::format("more than {} values wait on the stacks of {} open IFs", most_waiting,
                       branches_.size()));
    }
  }

  void begin_branch() {
    states before;
    std::swap(before, paths_);
    for (state& each : before) {
      now_ = std::move(each);
      take("b", kind::none);
      absorb(std::move(now_));
    }
    branches_.push_back(paths_);
    add_waiting(paths_);
  }
  void end_branch() {
    states others = std::move(branches_.back());
    branches_.pop_back();
    waiting_ -= cost(others);
    for (state& each : others) absorb(std::move(each));
  }

  stack_effect effect() {
    at_ = function_.end - 1;
    stack_effect made;
    made.first_reach = first_reach_;
    std::map<id, std::int32_t> numbers;
    std::uint32_t budget = largest_effect;
    const auto add = [&](id type, std::vector<type_term>& to) {
      auto term = types_.term(type, numbers, budget);
      if (!term) fail("the type of a nested PAIR is too large");
      to.push_back(std::move(*term));
    };
    for (std::size_t i = inputs_.size(); i-- > 0;) add(inputs_[i], made.inputs);
    for (state& each : paths_) {
      extend(each);
      made.outputs.emplace_back();
      for (const id type : each.stack) add(type, made.outputs.back());
    }
    return made;
  }

  const program_data& data_;
  const function& function_;
  type_pool types_;
  // Topmost first.
  std::vector<id> inputs_;
  std::uint32_t first_reach_ = 0;
  states paths_{state{}};
  // The path that is being followed.
  state now_;
  // For each open IF, the paths that wait for ELSE or ENDIF.
  std::vector<states> branches_;
  // What those paths cost together.
  std::size_t waiting_ = 0;
  std::size_t growth_ = 0;
  std::uint32_t at_ = 0;
};

void verify_group(program_data& data, const call_group& group) {
  const std::size_t most_rounds = std::max(fewest_rounds, 2 * group.functions.size());
  for (std::size_t round = 0; round < most_rounds; ++round) {
    bool changed = false;
    for (const std::uint32_t index : group.functions) {
      function& each = data.functions[index];
      std::uint32_t growth = 0;
      stack_effect found = inference(data, each).run(growth);
      changed = changed || !(found == each.effect);
      each.effect = std::move(found);
      each.growth = growth;
    }
    if (!group.recursive || !changed) return;
  }
  const function& first = data.functions[group.functions.front()];
  throw source_error(data.file, first.where.line, first.where.column,
                     fmt::format("the recursion of {} takes or leaves more at each call: its "
                                 "stack effect cannot be found",
                                 first.name));
}

void append(const type_term& type, std::string& text) {
  // For each PAIR that is open, how many of its parts have not been written yet.
  std::vector<int> open;
  for (const type_node& each : type) {
    if (each.kind == kind::pair) {
      text += "pair(";
      open.push_back(2);
      continue;
    }
    text += each.kind == kind::none ? fmt::format("any{}", each.variable + 1)
                                    : std::string(name_of(each.kind));
    while (!open.empty() && --open.back() == 0) {
      text += ")";
      open.pop_back();
    }
    if (!open.empty()) text += ",";
  }
}

}  // namespace

void verify(program_data& data) {
  for (const auto& group : call_groups(data)) verify_group(data, group);
}

std::string to_text(const std::vector<type_term>& types) {
  std::string text;
  for (const auto& each : types) {
    if (!text.empty()) text += " ";
    append(each, text);
  }
  return text;
}

}  // namespace tutti::vcode
