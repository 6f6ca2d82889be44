// SPDX-License-Identifier: Apache-2.0
// Types with variables, made equal by unification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vcode/language/program.hpp"

namespace tutti::vcode {

class type_pool {
 public:
  using id = std::int32_t;

  type_pool();
  id of(kind k) const { return static_cast<id>(k); }
  id variable();
  id pair(id first, id second);

  // Returns false if no choice of the variables makes the two types equal.
  bool unify(id a, id b);
  // Returns false if the kinds differ; looks at the outermost PAIR only.
  bool may_be_same(id a, id b);

  // Copies a type out of the pool; variables get numbers in the order in which they are found.
  // Returns nothing if the type is too large, since every PAIR of PAIRs doubles it, or has more
  // nodes than `budget`, from which it takes them.
  std::optional<type_term> term(id type, std::map<id, std::int32_t>& numbers,
                                std::uint32_t& budget);
  // Copies a type into the pool, with a fresh variable for each number.
  id instance(const type_term& term, std::map<std::int32_t, id>& variables);

  std::string name(id type);
  // The number of nodes that the pool has made.
  std::size_t size() const { return nodes_.size(); }

 private:
  struct node {
    // `none` marks a variable.
    vcode::kind kind = vcode::kind::none;
    // The parts of a PAIR.
    id first = -1;
    id second = -1;
    // The type that this one was unified with.
    id link = -1;
  };
  id find(id type);
  bool contains(id type, id variable, std::uint32_t& budget);

  std::vector<node> nodes_;
};

}  // namespace tutti::vcode
