// SPDX-License-Identifier: Apache-2.0
// The C interface of errors and barriers. It checks names, ranks and results and then calls the C++
// class.

#include "src/c_abi.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

struct tutti_barrier {
  tutti_barrier(std::string_view algorithm, std::uint32_t participants, std::string_view wait)
      : barrier(tutti::make_barrier(algorithm, participants, wait)),
        is_anonymous(barrier->is_anonymous()),
        ranks(participants) {}

  std::unique_ptr<tutti::any_barrier> barrier;
  bool is_anonymous;
  tutti::c_abi::attendance ranks;
};

namespace {

int check(const tutti_barrier* barrier, std::uint32_t rank) {
  return barrier == nullptr ? TUTTI_EINVAL : barrier->ranks.check(rank);
}

int check_without_rank(const tutti_barrier* barrier) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return barrier->is_anonymous ? TUTTI_OK : TUTTI_ENOTSUP;
}

}  // namespace

extern "C" {

const char* tutti_strerror(int error) {
  switch (error) {
    case TUTTI_OK: return "success";
    case TUTTI_EINVAL: return "an argument is null or out of its range";
    case TUTTI_ENAME: return "no barrier algorithm or wait policy has this name";
    case TUTTI_ERANK: return "the rank is not below the number of participants";
    case TUTTI_ETIMEDOUT: return "the deadline passed before all participants had arrived";
    case TUTTI_ENOMEM: return "out of memory";
    case TUTTI_ENOTSUP: return "this machine or this algorithm does not support the call";
    case TUTTI_EBROKEN: return "this rank timed out on this barrier or reduction before";
    case TUTTI_ETHREAD: return "the system cannot create another thread";
    case TUTTI_EBUSY: return "a late region of this team has not ended";
    case TUTTI_ECANCELED: return "another rank of this region has failed";
    case TUTTI_ETHROW: return "a rank's function left by a C++ exception";
    case TUTTI_EAGAIN: return "there is no room now";
    default: return "not an error of tutti";
  }
}

int tutti_version(void) { return TUTTI_VERSION; }

const char* tutti_built_with(void) {
  // Each name begins with a separator, which the last line skips for the first of them.
  constexpr const char* names =
      ""
#if TUTTI_HAVE_HWLOC
      ", hwloc"
#endif
#if TUTTI_HAVE_HIGHWAY
      ", Highway"
#endif
#if TUTTI_HAVE_BOOST_CONTEXT
      ", Boost.Context"
#endif
      ;
  return *names == '\0' ? names : names + 2;
}

int tutti_barrier_create(tutti_barrier** out, std::uint32_t participants, const char* algorithm,
                         const char* wait) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (participants == 0 || participants > tutti_barrier_max()) return TUTTI_EINVAL;
  const std::string_view name =
      algorithm == nullptr ? tutti::default_algorithm : std::string_view(algorithm);
  const std::string_view policy = tutti::c_abi::wait_or_adaptive(wait);
  if (const int error = tutti::c_abi::check_names(name, policy)) return error;
  try {
    *out = new tutti_barrier(name, participants, policy);
    return TUTTI_OK;
  } catch (const std::bad_alloc&) {
    return TUTTI_ENOMEM;
  } catch (...) {
    // The names are known and the count is in range, so the two names do not fit together, or a
    // provider has no barrier to give.
    return TUTTI_ENOTSUP;
  }
}

void tutti_barrier_destroy(tutti_barrier* barrier) { delete barrier; }

int tutti_barrier_wait(tutti_barrier* barrier, std::uint32_t rank) {
  if (const int error = check(barrier, rank)) return error;
  barrier->ranks[rank].note_arrival();
  barrier->barrier->arrive_and_wait(rank);
  return TUTTI_OK;
}

int tutti_barrier_wait_for(tutti_barrier* barrier, std::uint32_t rank, std::uint64_t timeout_ns) {
  if (const int error = check(barrier, rank)) return error;
  barrier->ranks[rank].note_arrival();
  try {
    if (barrier->barrier->arrive_and_wait(rank, tutti::c_abi::deadline_in(timeout_ns)))
      return TUTTI_OK;
  } catch (const std::bad_alloc&) {
    // Only the list of missing ranks needs memory, and it is made after the deadline has passed.
  }
  barrier->ranks[rank].broken = true;
  return TUTTI_ETIMEDOUT;
}

int tutti_barrier_arrive_and_wait(tutti_barrier* barrier) {
  if (const int error = check_without_rank(barrier)) return error;
  barrier->barrier->arrive_and_wait_without_rank();
  return TUTTI_OK;
}

int tutti_barrier_arrive_and_wait_for(tutti_barrier* barrier, std::uint64_t timeout_ns,
                                      std::uint32_t* missing) {
  if (const int error = check_without_rank(barrier)) return error;
  tutti::rank_t lacking = 0;
  bool in_time = false;
  try {
    in_time = barrier->barrier->arrive_and_wait_without_rank(tutti::c_abi::deadline_in(timeout_ns),
                                                             lacking);
  } catch (const std::bad_alloc&) {
    // The deadline has passed (see tutti_barrier_wait_for), and the missing ones cannot be counted.
  }
  if (missing != nullptr) *missing = lacking;
  return in_time ? TUTTI_OK : TUTTI_ETIMEDOUT;
}

int tutti_barrier_missing(const tutti_barrier* barrier, std::uint32_t rank, std::uint32_t* ranks,
                          size_t capacity, size_t* count) {
  return barrier == nullptr ? TUTTI_EINVAL : barrier->ranks.missing(rank, ranks, capacity, count);
}

std::uint32_t tutti_barrier_participants(const tutti_barrier* barrier) {
  return barrier == nullptr ? 0 : barrier->ranks.participants();
}

std::uint32_t tutti_barrier_max(void) {
  return static_cast<std::uint32_t>(tutti::striped_barrier<>::counter_max);
}

int tutti_barrier_set_patience(tutti_barrier* barrier, const char* patience) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return tutti::c_abi::set_patience(
      patience, [&](tutti::patience p) { return barrier->barrier->set_patience(p); });
}

const char* tutti_barrier_algorithm(size_t i) {
  if (i == 0) return tutti::default_algorithm.data();
  return i <= tutti::algorithms.size() ? tutti::algorithms[i - 1].name.data() : nullptr;
}

const char* tutti_wait_policy(size_t i) {
  return i < tutti::wait_policies.size() ? tutti::wait_policies[i].name.data() : nullptr;
}

}  // extern "C"
