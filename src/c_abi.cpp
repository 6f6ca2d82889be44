// SPDX-License-Identifier: Apache-2.0
// The C interface: names, ranks and results checked on the way to the C++ barriers.

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include "tutti.h"
#include "tutti/registry.hpp"

namespace {

// What a rank has done, on a line of its own: read by others only to tell who is missing.
struct alignas(tutti::cache_line) history {
  std::atomic<std::uint64_t> arrivals{0};
  bool broken = false;
};

}  // namespace

struct tutti_barrier {
  tutti_barrier(std::string_view algorithm, std::uint32_t participants, std::string_view wait)
      : barrier(tutti::make_barrier(algorithm, participants, wait)), ranks(participants) {}

  std::unique_ptr<tutti::any_barrier> barrier;
  tutti::array<history> ranks;
};

namespace {

int check(const tutti_barrier* barrier, std::uint32_t rank) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  if (rank >= barrier->ranks.size()) return TUTTI_ERANK;
  return barrier->ranks[rank].broken ? TUTTI_EBROKEN : TUTTI_OK;
}

void note_arrival(history& mine) {
  // relaxed: mine alone to write; others read it for a message.
  mine.arrivals.store(mine.arrivals.load(tutti::relaxed) + 1, tutti::relaxed);
}

bool knows_algorithm(std::string_view name) {
  if (name == tutti::default_algorithm || name == tutti::default_rankless_algorithm) return true;
  for (const auto& info : tutti::algorithms)
    if (info.name == name) return true;
  return false;
}

const tutti::wait_info* find_wait(std::string_view name) {
  for (const auto& policy : tutti::wait_policies)
    if (policy.name == name) return &policy;
  return nullptr;
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
    case TUTTI_ENOTSUP: return "not supported by this machine or by this algorithm";
    case TUTTI_EBROKEN: return "this rank timed out on this barrier before";
    default: return "not an error of tutti";
  }
}

int tutti_version(void) { return TUTTI_VERSION; }

int tutti_barrier_create(tutti_barrier** out, std::uint32_t participants, const char* algorithm,
                         const char* wait) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (participants == 0 || participants > tutti_barrier_max()) return TUTTI_EINVAL;
  const std::string_view name =
      algorithm == nullptr ? tutti::default_algorithm : std::string_view(algorithm);
  const std::string_view policy =
      wait == nullptr ? tutti::registry::adaptive::name : std::string_view(wait);
  const tutti::wait_info* known = find_wait(policy);
  if (known == nullptr || !knows_algorithm(name)) return TUTTI_ENAME;
  if (!known->available()) return TUTTI_ENOTSUP;
  try {
    *out = new tutti_barrier(name, participants, policy);
    return TUTTI_OK;
  } catch (const std::bad_alloc&) {
    return TUTTI_ENOMEM;
  } catch (const std::invalid_argument&) {
    return TUTTI_ENOTSUP;  // names are known and counts in range: a pair that does not go together
  }
}

void tutti_barrier_destroy(tutti_barrier* barrier) { delete barrier; }

int tutti_barrier_wait(tutti_barrier* barrier, std::uint32_t rank) {
  if (const int error = check(barrier, rank)) return error;
  note_arrival(barrier->ranks[rank]);
  barrier->barrier->arrive_and_wait(rank);
  return TUTTI_OK;
}

int tutti_barrier_wait_for(tutti_barrier* barrier, std::uint32_t rank, std::uint64_t timeout_ns) {
  if (const int error = check(barrier, rank)) return error;
  note_arrival(barrier->ranks[rank]);
  const std::uint64_t now = tutti::native::now_ns();
  // Half the clock's range: "for ever", and still a time that the kernel takes.
  const std::uint64_t until = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  try {
    if (barrier->barrier->arrive_and_wait(rank, tutti::deadline(until))) return TUTTI_OK;
  } catch (const std::bad_alloc&) {
    // Only the list of who is missing takes memory, and it is made when the deadline has passed.
  }
  barrier->ranks[rank].broken = true;
  return TUTTI_ETIMEDOUT;
}

int tutti_barrier_missing(const tutti_barrier* barrier, std::uint32_t rank, std::uint32_t* ranks,
                          size_t capacity, size_t* count) {
  if (barrier == nullptr || count == nullptr || (ranks == nullptr && capacity > 0))
    return TUTTI_EINVAL;
  if (rank >= barrier->ranks.size()) return TUTTI_ERANK;
  // relaxed: a snapshot for a message.
  const std::uint64_t mine = barrier->ranks[rank].arrivals.load(tutti::relaxed);
  *count = 0;
  for (std::uint32_t other = 0; other < barrier->ranks.size(); ++other) {
    // relaxed: as above.
    if (barrier->ranks[other].arrivals.load(tutti::relaxed) >= mine) continue;
    if (*count < capacity) ranks[*count] = other;
    ++*count;
  }
  return TUTTI_OK;
}

std::uint32_t tutti_barrier_participants(const tutti_barrier* barrier) {
  return barrier == nullptr ? 0 : static_cast<std::uint32_t>(barrier->ranks.size());
}

std::uint32_t tutti_barrier_max(void) {
  return static_cast<std::uint32_t>(tutti::striped_barrier<>::counter_max);
}

const char* tutti_barrier_algorithm(size_t i) {
  if (i == 0) return tutti::default_algorithm.data();
  return i <= tutti::algorithms.size() ? tutti::algorithms[i - 1].name.data() : nullptr;
}

const char* tutti_wait_policy(size_t i) {
  return i < tutti::wait_policies.size() ? tutti::wait_policies[i].name.data() : nullptr;
}

}  // extern "C"
