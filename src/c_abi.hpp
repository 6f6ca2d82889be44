// SPDX-License-Identifier: Apache-2.0
// What the parts of the C interface share: names and timeouts as C gives them, who has arrived, exceptions as errors.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>

#include "tutti.h"
#include "tutti/registry.hpp"

namespace tutti::c_abi {

// What a rank has done, on a line of its own: read by others only to tell who is missing.
struct alignas(cache_line) history {
  std::atomic<std::uint64_t> arrivals{0};
  bool broken = false;

  void note_arrival() noexcept {
    // relaxed: mine alone to write; others read it for a message.
    arrivals.store(arrivals.load(relaxed) + 1, relaxed);
  }
};

class attendance {
 public:
  explicit attendance(rank_t participants) : ranks_(participants) {}

  rank_t participants() const noexcept { return static_cast<rank_t>(ranks_.size()); }
  history& operator[](rank_t rank) noexcept { return ranks_[rank]; }

  int check(rank_t rank) const noexcept {
    if (rank >= ranks_.size()) return TUTTI_ERANK;
    return ranks_[rank].broken ? TUTTI_EBROKEN : TUTTI_OK;
  }

  // As tutti_barrier_missing.
  int missing(rank_t rank, std::uint32_t* ranks, std::size_t capacity,
              std::size_t* count) const noexcept {
    if (count == nullptr || (ranks == nullptr && capacity > 0)) return TUTTI_EINVAL;
    if (rank >= ranks_.size()) return TUTTI_ERANK;
    // relaxed: a snapshot for a message.
    const std::uint64_t mine = ranks_[rank].arrivals.load(relaxed);
    *count = 0;
    for (rank_t other = 0; other < participants(); ++other) {
      // relaxed: as above.
      if (ranks_[other].arrivals.load(relaxed) >= mine) continue;
      if (*count < capacity) ranks[*count] = other;
      ++*count;
    }
    return TUTTI_OK;
  }

 private:
  array<history> ranks_;
};

inline deadline deadline_in(std::uint64_t timeout_ns) noexcept {
  const std::uint64_t now = native::now_ns();
  // Half the clock's range: "for ever", and still a time that the kernel takes.
  return deadline(timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns);
}

inline std::string_view wait_or_adaptive(const char* wait) noexcept {
  return wait == nullptr ? registry::adaptive::name : std::string_view(wait);
}

// set(patience) with what the text means. NULL leaves it open.
template <class Set>
int set_patience(const char* text, Set set) noexcept {
  patience p;
  if (text != nullptr && !patience::parse(text, std::string_view(text).size(), p))
    return TUTTI_EINVAL;
  return set(p) ? TUTTI_OK : TUTTI_ENOTSUP;
}

// Whether there are an algorithm and a wait policy of these names, and the machine has what the latter needs.
inline int check_names(std::string_view algorithm, std::string_view wait) noexcept {
  bool known = algorithm == default_algorithm || algorithm == default_rankless_algorithm;
  for (const algorithm_info& info : algorithms) known = known || info.name == algorithm;
  if (!known) return TUTTI_ENAME;
  for (const wait_info& policy : wait_policies)
    if (policy.name == wait) return policy.available() ? TUTTI_OK : TUTTI_ENOTSUP;
  return TUTTI_ENAME;
}

}  // namespace tutti::c_abi
