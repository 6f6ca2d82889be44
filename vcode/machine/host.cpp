// SPDX-License-Identifier: Apache-2.0
// Copies vectors in and out, and checks the inputs against the types that the entry function takes.
#include "vcode/machine/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "vcode/io/format.hpp"
#include "vcode/language/verifier.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

type_term type_of(const vector_value& v) {
  type_term made;
  std::vector<const vector_value*> open{&v};
  while (!open.empty()) {
    const vector_value* const each = open.back();
    open.pop_back();
    made.push_back({static_cast<kind>(each->index()), 0});
    if (const auto* const whole = std::get_if<std::shared_ptr<pair>>(each)) {
      const pair& parts = pair_of(*whole);
      open.insert(open.end(), {&parts.second, &parts.first});
    }
  }
  return made;
}

// Returns the index behind the type that begins at this one.
std::size_t end_of(const type_term& type, std::size_t at) {
  for (std::size_t missing = 1; missing > 0; ++at) {
    if (type[at].kind == kind::pair) {
      ++missing;
    } else {
      --missing;
    }
  }
  return at;
}

bool matches(const type_term& wanted, const type_term& given,
             std::map<std::int32_t, type_term>& variables) {
  std::size_t at = 0;
  for (const type_node& each : wanted) {
    if (each.kind == kind::none) {
      const auto from = given.begin() + static_cast<std::ptrdiff_t>(at);
      at = end_of(given, at);
      const type_term part(from, given.begin() + static_cast<std::ptrdiff_t>(at));
      if (variables.try_emplace(each.variable, part).first->second != part) return false;
    } else if (each.kind != given[at++].kind) {
      return false;
    }
  }
  return true;
}

template <class T>
std::vector<T> copy_of(context& c, const value& v) {
  const T* const data = elements<T>(c, v);
  return std::vector<T>(data, data + v.length());
}

// Does what to_machine() does, for all but PAIRs.
value one_to_machine(context& c, const vector_value& v) {
  switch (v.index()) {
    case 0: return to_machine(c, kind::integer, std::get<0>(v).data(), std::get<0>(v).size());
    case 1: return to_machine(c, kind::real, std::get<1>(v).data(), std::get<1>(v).size());
    case 2: {
      std::vector<std::uint8_t> flags = std::get<2>(v);
      for (auto& each : flags) each = each != 0 ? 1 : 0;
      return to_machine(c, kind::boolean, flags.data(), flags.size());
    }
    default: {
      const auto& lengths = std::get<segments>(v).lengths;
      return make_segdes(c, to_machine(c, kind::integer, lengths.data(), lengths.size()));
    }
  }
}

vector_value one_to_host(context& c, const value& v) {
  switch (v.type()) {
    case kind::real: return copy_of<double>(c, v);
    case kind::boolean: return copy_of<std::uint8_t>(c, v);
    case kind::segdes:
      if (v.is_scalar()) return segments{{v.integer()}};
      return segments{copy_of<std::int32_t>(c, value(v.vector()->lengths))};
    default: return copy_of<std::int32_t>(c, v);
  }
}

// Moves the PAIRs that are parts of this one into the list.
void move_parts(pair& from, std::vector<std::shared_ptr<pair>>& list) {
  for (vector_value* const part : {&from.first, &from.second}) {
    auto* const whole = std::get_if<std::shared_ptr<pair>>(part);
    if (whole == nullptr || *whole == nullptr) continue;
    try {
      list.push_back(std::move(*whole));
    } catch (const std::bad_alloc&) {
      // Without memory for the list, the destructor of `from` releases the part.
    }
  }
}

}  // namespace

// The parts have no parts left when their own destructors run, so those do not nest.
pair::~pair() {
  std::vector<std::shared_ptr<pair>> reached;
  move_parts(*this, reached);
  while (!reached.empty()) {
    const std::shared_ptr<pair> released = std::move(reached.back());
    reached.pop_back();
    if (released.use_count() == 1) move_parts(*released, reached);
  }
}

value to_machine(context& c, kind type, const void* elements, std::size_t count) {
  if (count == 1) return value::from(type, elements);
  if (count > INT32_MAX) fail("a vector has more elements than an INT can count");
  block* const made = c.memory.make(type, static_cast<std::int32_t>(count));
  if (count > 0) {
    c.workers.each(1, [&](unsigned) { std::memcpy(made->data, elements, count * size_of(type)); });
  }
  return value(made);
}

value to_machine(context& c, const vector_value& v) {
  // The parts that follow, and behind them a null for each PAIR whose parts are then in `made`.
  std::vector<const vector_value*> open{&v};
  std::vector<value> made;
  while (!open.empty()) {
    const vector_value* const each = open.back();
    open.pop_back();
    if (each == nullptr) {
      const value second = made.back();
      made.pop_back();
      made.back() = value(c.memory.make_pair(made.back(), second));
    } else if (const auto* const whole = std::get_if<std::shared_ptr<pair>>(each)) {
      open.insert(open.end(), {nullptr, &(*whole)->second, &(*whole)->first});
    } else {
      made.push_back(one_to_machine(c, *each));
    }
  }
  return made.front();
}

vector_value to_host(context& c, value v) {
  struct part {
    value from;
    vector_value* to;
  };
  vector_value made;
  std::vector<part> open{{v, &made}};
  while (!open.empty()) {
    const part each = open.back();
    open.pop_back();
    if (each.from.type() == kind::pair) {
      const auto* const whole = static_cast<const pair_block*>(each.from.vector());
      auto parts = std::make_shared<pair>();
      open.insert(open.end(), {{whole->second, &parts->second}, {whole->first, &parts->first}});
      *each.to = std::move(parts);
    } else {
      *each.to = one_to_host(c, each.from);
    }
  }
  return made;
}

void print(context& c, value v, std::FILE* to) {
  if (v.type() == kind::pair) {
    const std::string text = to_text(to_host(c, v));
    std::fwrite(text.data(), 1, text.size(), to);
    return;
  }
  const value data = v.type() == kind::segdes && !v.is_scalar() ? value(v.vector()->lengths) : v;
  write_text(to, v.type(), elements<std::byte>(c, data), static_cast<std::size_t>(v.length()));
}

void require_inputs(const function& entry, const std::vector<vector_value>& inputs) {
  std::vector<type_term> given;
  for (const auto& each : inputs) given.push_back(type_of(each));
  const auto& wanted = entry.effect.inputs;
  std::map<std::int32_t, type_term> variables;
  bool fits = given.size() == wanted.size();
  for (std::size_t i = 0; fits && i < given.size(); ++i) {
    fits = matches(wanted[i], given[i], variables);
  }
  if (fits) return;
  const auto shown = [](const std::vector<type_term>& types) {
    return types.empty() ? std::string("nothing") : to_text(types);
  };
  throw std::invalid_argument(
      fmt::format("tutti: {} takes {} and is given {}", entry.name, shown(wanted), shown(given)));
}

}  // namespace tutti::vcode
