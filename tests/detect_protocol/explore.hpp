// SPDX-License-Identifier: Apache-2.0
// Visits every state that a world can reach, and checks of each that it violates nothing and that its episode can end.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "world.hpp"

namespace tutti::protocol::test {

struct findings {
  std::uint64_t states = 0;     // different ones
  std::uint64_t steps = 0;      // from state to state
  std::uint64_t quiescent = 0;  // states from which the end of the episode was shown to follow
  std::uint32_t depth = 0;  // steps of the shortest way to the farthest state; breadth first only
  bool complete = true;     // false: the limit of states was met
  std::string violation;    // the first one; empty: none
  bool by_itself = false;   // it follows from the last state of the trace, whatever the programs do
  std::vector<std::string> trace;  // how to get there
};

// Set of hashes: open addressing, 64 bits an entry. Two of N states are confused with probability N^2 / 2^65.
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

// Depth first with little memory; breadth first, with the shortest trace, if `shortest`.
findings explore(const scenario& s, bool shortest, std::uint64_t most_states);

// What programs that have finished can have met, one entry for each combination. The scenario keeps histories.
std::set<std::array<std::uint64_t, most_participants>> histories(const scenario& s);

}  // namespace tutti::protocol::test
