// SPDX-License-Identifier: Apache-2.0
// The list of reductions. tutti::reduction, the teams, the tests of their bits, the model checker,
// `tutti info` and the table of docs/reductions.md are made from it. A new reduction is a header
// and an entry here.
// Hosted only: it names the reductions by std::string_view.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "tutti/reduce/counted.hpp"
#include "tutti/reduce/exchange.hpp"
#include "tutti/reduce/pair.hpp"
#include "tutti/reduce/tree.hpp"

namespace tutti {

struct reduction_info {
  std::string_view name;
  std::string_view summary;
  // The cost of an episode, for n participants.
  std::string_view cost;
  std::string_view use_when;
  // The only number of participants; 0: any.
  rank_t only_for = 0;
};

namespace registry {

// An entry describes a reduction and names its type: `Slot` holds a value while it travels.
template <template <class, class, class> class Reduction>
struct reduction_entry {
  template <class Slot, class Memory, class Wait>
  using type = Reduction<Slot, Memory, Wait>;
};

struct pair : reduction_entry<pair_reduction> {
  static constexpr reduction_info info{"pair", "the second to arrive finds the first one's value",
                                       "one transfer of one line", "two threads, up to 16 bytes",
                                       2};
};
struct exchange : reduction_entry<exchange_reduction> {
  static constexpr reduction_info info{"exchange", "each participant reads the lines of all others",
                                       "one round in which all post and all read",
                                       "up to 8 threads with a core each"};
};
struct tree : reduction_entry<tree_reduction> {
  static constexpr reduction_info info{"tree", "values are combined on the way up a tree of fan 8",
                                       "ceil(log8 n) rounds up, one line to all down",
                                       "more threads with a core each"};
};
struct counted : reduction_entry<counted_reduction> {
  static constexpr reduction_info info{
      "counted", "a counter of arrivals; the last combines all values",
      "a counter; the last arrival combines the values", "more threads than CPUs"};
};

using reductions = std::tuple<pair, exchange, tree, counted>;

}  // namespace registry

// The same list as values.
inline constexpr auto reductions = []<class... R>(std::tuple<R...>*) {
  return std::array{R::info...};
}(static_cast<registry::reductions*>(nullptr));

}  // namespace tutti
