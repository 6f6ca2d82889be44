// SPDX-License-Identifier: Apache-2.0
// Visits every state that a world can reach, and checks that each violates nothing and that its
// episode can end.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/termination/world.hpp"

namespace tutti::protocol::test {

struct findings {
  // The number of different states.
  std::uint64_t states = 0;
  // Steps from state to state.
  std::uint64_t steps = 0;
  // States from which the end of the episode was shown to follow.
  std::uint64_t quiescent = 0;
  // Steps of the shortest way to the farthest state; breadth first only.
  std::uint32_t depth = 0;
  // False: the limit of states was reached.
  bool complete = true;
  // The first violation; empty: none.
  std::string violation;
  // The violation follows from the last state of the trace, whatever the programs do.
  bool by_itself = false;
  // The steps that lead to the violation.
  std::vector<std::string> trace;
};

// A set of hashes with open addressing and 64 bits per entry. Two of N states are confused with
// probability N^2 / 2^65.
class hash_set {
 public:
  bool insert(std::uint64_t hash) {
    if (2 * (size_ + 1) > table_.size()) grow();
    return put(hash | (hash == 0));
  }
  std::uint64_t size() const { return size_; }

 private:
  bool put(std::uint64_t hash) {
    std::size_t at = hash & (table_.size() - 1);
    for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1))
      if (table_[at] == hash) return false;
    table_[at] = hash;
    ++size_;
    return true;
  }
  void grow() {
    std::vector<std::uint64_t> old(std::max<std::size_t>(1024, 2 * table_.size()));
    old.swap(table_);
    size_ = 0;
    for (const std::uint64_t hash : old)
      if (hash != 0) put(hash);
  }
  std::vector<std::uint64_t> table_;
  std::size_t size_ = 0;
};

// Searches depth first with little memory, or, if `shortest`, breadth first with the shortest
// trace.
findings explore(const scenario& s, bool shortest, std::uint64_t most_states);

// What programs that have finished can have observed, one entry per combination. The scenario must
// keep histories.
std::set<std::array<std::uint64_t, most_participants>> histories(const scenario& s);

}  // namespace tutti::protocol::test
