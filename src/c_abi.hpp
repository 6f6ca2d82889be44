// SPDX-License-Identifier: Apache-2.0
// Code that the parts of the C interface share: names and timeouts in the form that C uses, the
// arrivals of ranks, and errors instead of exceptions.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>

#include "src/later_members.hpp"
#include "tutti.h"
#include "tutti/barrier/any.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/registry.hpp"

namespace tutti::c_abi {

// The arrivals of a rank, on a cache line of its own. Other threads read them only to tell which
// ranks are missing.
struct alignas(cache_line) history {
  std::atomic<std::uint64_t> arrivals{0};
  bool broken = false;
  // The phase of the last wait that was late (tutti_barrier_resume_for).
  std::uint64_t late_phase = 0;

  void note_arrival() noexcept {
    // relaxed: only this rank writes it, and others read it for messages only.
    arrivals.store(arrivals.load(relaxed) + 1, relaxed);
  }
  // The rank is never missing again.
  // relaxed: see note_arrival().
  void note_last_arrival() noexcept { arrivals.store(UINT64_MAX, relaxed); }
  // relaxed: the rank's own value.
  bool has_dropped() const noexcept { return arrivals.load(relaxed) == UINT64_MAX; }
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

  // Implements tutti_barrier_missing.
  int missing(rank_t rank, std::uint32_t* ranks, std::size_t capacity,
              std::size_t* count) const noexcept {
    if (count == nullptr || (ranks == nullptr && capacity > 0)) return TUTTI_EINVAL;
    if (rank >= ranks_.size()) return TUTTI_ERANK;
    // relaxed: a snapshot for a message.
    const std::uint64_t mine = ranks_[rank].arrivals.load(relaxed);
    *count = 0;
    for (rank_t other = 0; other < participants(); ++other) {
      // relaxed: a snapshot for a message.
      if (ranks_[other].arrivals.load(relaxed) >= mine) continue;
      if (*count < capacity) ranks[*count] = other;
      ++*count;
    }
    return TUTTI_OK;
  }

 private:
  array<history> ranks_;
};

// Returns TUTTI_OK or TUTTI_ENOTSUP.
template <class Options>
int check_later_members(const Options& given) noexcept {
  return sets_later_members(given) ? TUTTI_ENOTSUP : TUTTI_OK;
}

inline deadline deadline_in(std::uint64_t timeout_ns) noexcept {
  const std::uint64_t now = native::now_ns();
  // Half of the clock's range is practically endless and still a time that the kernel accepts.
  return deadline(timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns);
}

inline std::string_view wait_or_adaptive(const char* wait) noexcept {
  return wait == nullptr ? default_wait : std::string_view(wait);
}

// Calls set(patience) with the patience that the text names; NULL leaves it open. Returns
// TUTTI_EINVAL if the text is no patience, and TUTTI_ENOTSUP if set() returns false.
template <class Set>
int set_patience(const char* text, Set set) noexcept {
  patience p;
  if (text != nullptr && !patience::parse(text, std::string_view(text).size(), p))
    return TUTTI_EINVAL;
  return set(p) ? TUTTI_OK : TUTTI_ENOTSUP;
}

// Returns TUTTI_ENAME unless both names are known, and TUTTI_ENOTSUP if this machine does not
// support the wait policy.
inline int check_names(std::string_view algorithm, std::string_view wait) noexcept {
  const wait_info* policy = detail::find_by_name(wait_policies, wait);
  if (policy == nullptr || !is_barrier_name(algorithm)) return TUTTI_ENAME;
  return policy->available() ? TUTTI_OK : TUTTI_ENOTSUP;
}

// What guarded() returns for an exception.
template <class Exception, class ErrorOf>
struct exception_handler {
  using exception = Exception;
  ErrorOf error_of;
};
template <class Exception, class ErrorOf>
exception_handler<Exception, ErrorOf> on(ErrorOf error_of) noexcept {
  return {error_of};
}
template <class Exception>
auto on(tutti_error error) noexcept {
  return on<Exception>([error](const Exception&) { return error; });
}

// Returns call(), or an error for the exception that it throws: TUTTI_ENOMEM for std::bad_alloc,
// and otherwise that of the first handler that fits.
//
//   return guarded([&] { return of(me).flush(), TUTTI_OK; }, on<std::logic_error>(TUTTI_EINVAL));
template <class Call>
int guarded(Call call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return TUTTI_ENOMEM;
  }
}
template <class Call, class First, class... Rest>
int guarded(Call call, First first, Rest... rest) noexcept {
  return guarded(
      [&]() -> int {
        try {
          return call();
        } catch (const typename First::exception& e) {
          return first.error_of(e);
        }
      },
      rest...);
}

}  // namespace tutti::c_abi
