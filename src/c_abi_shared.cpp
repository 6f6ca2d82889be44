// SPDX-License-Identifier: Apache-2.0
// The C interface of barriers between processes.

#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <stdexcept>

#include "src/c_abi.hpp"
#include "tutti/barrier/shared.hpp"

struct tutti_shared_barrier {
  tutti::shared_barrier sync;
  std::optional<tutti::shared_result> death;
};

namespace {

using tutti::rank_t;
using tutti::shared_barrier;
using tutti::c_abi::on;
using reason = tutti::shared_barrier_error::reason;

int error_of(reason why) noexcept {
  switch (why) {
    case reason::exists: return TUTTI_EEXIST;
    case reason::missing: return TUTTI_ENOENT;
    case reason::other_kind: return TUTTI_EKIND;
    case reason::other_count: return TUTTI_ECOUNT;
    case reason::died: return TUTTI_EDIED;
    case reason::stale: return TUTTI_ESTALE;
    case reason::taken: return TUTTI_ETAKEN;
    case reason::system: break;
  }
  return TUTTI_ESYSTEM;
}

// Returns call(), or the error for the exception that it throws.
template <class Call>
int guarded(Call call) noexcept {
  using tutti::shared_barrier_error;
  return tutti::c_abi::guarded(
      call, on<shared_barrier_error>([](const auto& e) { return error_of(e.why()); }),
      on<std::invalid_argument>(TUTTI_EINVAL));
}

int result_of(tutti_shared_barrier& barrier, const tutti::shared_result& met) noexcept {
  switch (met.how) {
    case tutti::shared_result::kind::ended: return TUTTI_OK;
    case tutti::shared_result::kind::late: return TUTTI_ETIMEDOUT;
    case tutti::shared_result::kind::died: break;
  }
  barrier.death = met;
  return TUTTI_EDIED;
}

tutti::shared_result wait(tutti_shared_barrier& barrier, std::uint32_t phase,
                          std::uint64_t timeout_ns) {
  if (timeout_ns == UINT64_MAX) return barrier.sync.wait(phase);
  constexpr std::uint64_t longest = INT64_MAX / 4;
  return barrier.sync.wait_for(
      phase, std::chrono::nanoseconds(timeout_ns < longest ? timeout_ns : longest));
}

}  // namespace

extern "C" {

int tutti_shared_barrier_open(tutti_shared_barrier** out, const char* name,
                              std::uint32_t participants, int how) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (name == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    switch (how) {
      case TUTTI_CREATE:
        *out = new tutti_shared_barrier{shared_barrier::create(name, participants), {}};
        return TUTTI_OK;
      case TUTTI_ATTACH:
        *out = new tutti_shared_barrier{shared_barrier::attach(name, participants), {}};
        return TUTTI_OK;
      case TUTTI_CREATE_OR_ATTACH:
        *out = new tutti_shared_barrier{shared_barrier::create_or_attach(name, participants), {}};
        return TUTTI_OK;
      default: return TUTTI_EINVAL;
    }
  });
}

int tutti_shared_barrier_unlink(const char* name) {
  if (name == nullptr) return TUTTI_EINVAL;
  return guarded([&] { return shared_barrier::unlink(name) ? TUTTI_OK : TUTTI_ENOENT; });
}

size_t tutti_shared_barrier_bytes(std::uint32_t participants) {
  if (participants == 0 || participants > shared_barrier::most_participants) return 0;
  return shared_barrier::bytes_for(participants);
}

int tutti_shared_barrier_build(void* memory, size_t bytes, std::uint32_t participants) {
  return guarded([&] {
    shared_barrier::build(memory, bytes, participants);
    return TUTTI_OK;
  });
}

int tutti_shared_barrier_at(tutti_shared_barrier** out, void* memory, size_t bytes,
                            std::uint32_t participants) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  return guarded([&] {
    *out = new tutti_shared_barrier{shared_barrier::at(memory, bytes, participants), {}};
    return TUTTI_OK;
  });
}

void tutti_shared_barrier_close(tutti_shared_barrier* barrier) { delete barrier; }

int tutti_shared_barrier_join(tutti_shared_barrier* barrier, std::uint32_t rank) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  if (rank != TUTTI_NO_RANK && rank >= barrier->sync.participants()) return TUTTI_ERANK;
  return guarded([&] {
    barrier->sync.join(rank);
    return TUTTI_OK;
  });
}

std::uint32_t tutti_shared_barrier_rank(const tutti_shared_barrier* barrier) {
  return barrier == nullptr ? TUTTI_NO_RANK : barrier->sync.rank();
}

std::uint32_t tutti_shared_barrier_participants(const tutti_shared_barrier* barrier) {
  return barrier == nullptr ? 0 : barrier->sync.participants();
}

int tutti_shared_barrier_leave(tutti_shared_barrier* barrier) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    barrier->sync.leave();
    return TUTTI_OK;
  });
}

int tutti_shared_barrier_arrive(tutti_shared_barrier* barrier, std::uint64_t* phase) {
  if (barrier == nullptr || phase == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    *phase = barrier->sync.arrive();
    return TUTTI_OK;
  });
}

int tutti_shared_barrier_wait_for(tutti_shared_barrier* barrier, std::uint64_t phase,
                                  std::uint64_t timeout_ns) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    return result_of(*barrier, wait(*barrier, static_cast<std::uint32_t>(phase), timeout_ns));
  });
}

int tutti_shared_barrier_arrive_and_wait(tutti_shared_barrier* barrier) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return guarded([&] { return result_of(*barrier, barrier->sync.arrive_and_wait()); });
}

int tutti_shared_barrier_arrive_and_wait_for(tutti_shared_barrier* barrier,
                                             std::uint64_t timeout_ns) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return guarded(
      [&] { return result_of(*barrier, wait(*barrier, barrier->sync.arrive(), timeout_ns)); });
}

int tutti_shared_barrier_died(const tutti_shared_barrier* barrier, std::uint32_t* rank,
                              std::int32_t* process) {
  if (barrier == nullptr || rank == nullptr || process == nullptr || !barrier->death)
    return TUTTI_EINVAL;
  *rank = barrier->death->rank;
  *process = barrier->death->process;
  return TUTTI_OK;
}

int tutti_shared_barrier_missing(const tutti_shared_barrier* barrier, std::uint64_t phase,
                                 std::uint32_t* ranks, size_t capacity, size_t* count) {
  if (barrier == nullptr || count == nullptr || (ranks == nullptr && capacity > 0))
    return TUTTI_EINVAL;
  return guarded([&] {
    const auto missing = barrier->sync.missing_ranks(static_cast<std::uint32_t>(phase));
    for (size_t i = 0; i < missing.size() && i < capacity; ++i) ranks[i] = missing[i];
    *count = missing.size();
    return TUTTI_OK;
  });
}

int tutti_shared_barrier_set_patience(tutti_shared_barrier* barrier, const char* patience) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return tutti::c_abi::set_patience(patience, [&](tutti::patience p) {
    barrier->sync.set_patience(p);
    return true;
  });
}

}  // extern "C"
