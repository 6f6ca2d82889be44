// SPDX-License-Identifier: Apache-2.0
// Types with variables, made equal by unification.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "language/program.hpp"

namespace tutti::vcode {

class type_pool {
 public:
  using id = std::int32_t;

  type_pool();
  id of(kind k) const { return static_cast<id>(k); }
  id variable();
  id pair(id first, id second);

  // False if no choice of the variables makes them equal.
  bool unify(id a, id b);
  // False if they are of different kinds; looks at the outermost PAIR only.
  bool may_be_same(id a, id b);

  // Outside of the pool: variables get numbers in the order in which they are met. Empty if the type is
  // too large to be of use: PAIRs of PAIRs double it.
  std::optional<type_term> term(id type, std::map<id, std::int32_t>& numbers);
  // Back, with a fresh variable for each number.
  id instance(const type_term& term, std::map<std::int32_t, id>& variables);

  std::string name(id type);

 private:
  struct node {
    vcode::kind kind = vcode::kind::none;  // none: a variable
    id first = -1;                         // of a PAIR
    id second = -1;
    id link = -1;  // this is the same as that
  };
  id find(id type);
  bool contains(id type, id variable, std::uint32_t& budget);
  bool term(id type, std::map<id, std::int32_t>& numbers, type_term& made, std::uint32_t& budget);

  std::vector<node> nodes_;
};

}  // namespace tutti::vcode
