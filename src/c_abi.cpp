// SPDX-License-Identifier: Apache-2.0
// The C interface of errors and barriers. It checks names, ranks and results and then calls the C++
// class.
#define TUTTI_CHECKS 0

#include "src/c_abi.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/mutex.hpp"

// Tutti's own choice is a tutti::barrier, which can do more than the barriers with a name.
struct alignas(tutti::cache_line) tutti_barrier {
  using chosen_barrier = tutti::barrier<>;

  tutti_barrier(std::string_view algorithm, std::uint32_t participants, std::string_view wait) {
    if (algorithm == tutti::default_algorithm && wait == tutti::default_wait)
      chosen.emplace(static_cast<std::ptrdiff_t>(participants)).make_records();
    else
      named = tutti::make_barrier(algorithm, participants, wait);
    ranks.emplace(participants);
  }
  // A barrier that never allocates: one counter, and no ranks.
  explicit tutti_barrier(std::uint32_t participants) : is_in_place(true) {
    tutti::barrier_options one_counter;
    one_counter.few = static_cast<tutti::rank_t>(chosen_barrier::max());
    chosen.emplace(static_cast<std::ptrdiff_t>(participants), one_counter);
    in_place_participants = participants;
  }

  bool is_anonymous() const noexcept { return chosen || named->is_anonymous(); }
  bool set_patience(tutti::patience p) noexcept {
    return chosen ? chosen->set_patience(p) : named->set_patience(p);
  }

  // Arrives without waiting. The first thread of each phase that arrives by this call is the serial
  // one.
  chosen_barrier::arrival_token arrive_serial(bool& is_serial) {
    // The arrivals are under the lock, so each is in the phase of the one before or in a later one,
    // however late a thread goes on after it has arrived.
    const std::lock_guard ordered(serial_arrivals);
    auto token = chosen->arrive();
    is_serial = after_last_serial != token.phase() + 1;
    after_last_serial = token.phase() + 1;
    return token;
  }

  std::optional<chosen_barrier> chosen;
  std::unique_ptr<tutti::any_barrier> named;
  std::optional<tutti::c_abi::attendance> ranks;
  const bool is_in_place = false;
  tutti::rank_t in_place_participants = 0;
  tutti::platform::system_mutex serial_arrivals;
  // The phase after the last one that has a serial participant, or 0.
  std::uint64_t after_last_serial = 0;
};

static_assert(sizeof(tutti_barrier) <= TUTTI_BARRIER_BYTES);
static_assert(alignof(tutti_barrier) <= TUTTI_BARRIER_ALIGNMENT);

namespace {

using clock = std::chrono::steady_clock;

int check(const tutti_barrier* barrier, std::uint32_t rank) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return barrier->ranks ? barrier->ranks->check(rank) : TUTTI_ENOTSUP;
}

int check_without_rank(const tutti_barrier* barrier) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return barrier->is_anonymous() ? TUTTI_OK : TUTTI_ENOTSUP;
}

int check_phases(const tutti_barrier* barrier) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return barrier->chosen ? TUTTI_OK : TUTTI_ENOTSUP;
}

clock::time_point time_after(std::uint64_t timeout_ns) noexcept {
  const std::uint64_t now = tutti::native::now_ns();
  // Half of the clock's range is practically endless.
  const std::uint64_t until =
      timeout_ns > INT64_MAX / 2 - now ? std::uint64_t{INT64_MAX / 2} : now + timeout_ns;
  return clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(until)));
}

int result_of(const tutti::timed_result& told, std::uint32_t* missing) noexcept {
  if (missing != nullptr) *missing = told.missing;
  return told.in_time ? TUTTI_OK : TUTTI_ETIMEDOUT;
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
    case TUTTI_EEXIST: return "a barrier of this name exists already";
    case TUTTI_ENOENT: return "there is no barrier of this name";
    case TUTTI_EKIND: return "the memory holds something else or the barrier of another version";
    case TUTTI_ECOUNT: return "the barrier is for another number of participants";
    case TUTTI_ESTALE: return "all participants of the barrier have died or left";
    case TUTTI_EDIED: return "a participant has died";
    case TUTTI_ETAKEN: return "another participant has the rank, or had it until it left";
    case TUTTI_ESYSTEM: return "the system refuses; errno tells why";
    case TUTTI_EFILE: return "the file cannot be read, or is no graph; tutti_graph_error tells why";
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

int tutti_barrier_init(tutti_barrier** out, void* memory, size_t bytes,
                       std::uint32_t participants) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (participants == 0 || participants > tutti_barrier_max() || memory == nullptr ||
      bytes < sizeof(tutti_barrier) ||
      reinterpret_cast<std::uintptr_t>(memory) % alignof(tutti_barrier) != 0)
    return TUTTI_EINVAL;
  *out = ::new (memory) tutti_barrier(participants);
  return TUTTI_OK;
}

void tutti_barrier_destroy(tutti_barrier* barrier) {
  if (barrier != nullptr && barrier->is_in_place)
    barrier->~tutti_barrier();
  else
    delete barrier;
}

int tutti_barrier_wait(tutti_barrier* barrier, std::uint32_t rank) {
  if (const int error = check(barrier, rank)) return error;
  (*barrier->ranks)[rank].note_arrival();
  if (barrier->chosen)
    barrier->chosen->arrive_and_wait(rank);
  else
    barrier->named->arrive_and_wait(rank);
  return TUTTI_OK;
}

int tutti_barrier_wait_for(tutti_barrier* barrier, std::uint32_t rank, std::uint64_t timeout_ns) {
  if (const int error = check(barrier, rank)) return error;
  tutti::c_abi::history& mine = (*barrier->ranks)[rank];
  mine.note_arrival();
  if (barrier->chosen) {
    tutti::barrier<>& sync = *barrier->chosen;
    const auto told = sync.arrive_and_wait_until(rank, time_after(timeout_ns));
    mine.late_phase = told.phase;
    mine.broken = !told.in_time;
    return result_of(told, nullptr);
  }
  if (barrier->named->arrive_and_wait(rank, tutti::c_abi::deadline_in(timeout_ns))) return TUTTI_OK;
  mine.broken = true;
  return TUTTI_ETIMEDOUT;
}

int tutti_barrier_resume_for(tutti_barrier* barrier, std::uint32_t rank, std::uint64_t timeout_ns) {
  const int error = check(barrier, rank);
  if (error == TUTTI_OK) return TUTTI_OK;
  if (error != TUTTI_EBROKEN) return error;
  if (!barrier->chosen) return TUTTI_ENOTSUP;
  tutti::c_abi::history& mine = (*barrier->ranks)[rank];
  if (mine.has_dropped()) return TUTTI_EBROKEN;
  const int result = tutti_barrier_wait_phase_for(barrier, mine.late_phase, timeout_ns, nullptr);
  mine.broken = result != TUTTI_OK;
  return result;
}

int tutti_barrier_arrive_and_wait(tutti_barrier* barrier) {
  if (const int error = check_without_rank(barrier)) return error;
  if (barrier->chosen)
    barrier->chosen->arrive_and_wait();
  else
    barrier->named->arrive_and_wait_without_rank();
  return TUTTI_OK;
}

int tutti_barrier_arrive_and_wait_serial(tutti_barrier* barrier, int* is_serial) {
  if (is_serial == nullptr) return TUTTI_EINVAL;
  *is_serial = 0;
  if (const int error = check_phases(barrier)) return error;
  bool is_first = false;
  barrier->chosen->wait(barrier->arrive_serial(is_first));
  *is_serial = is_first ? 1 : 0;
  return TUTTI_OK;
}

int tutti_barrier_arrive_and_wait_for(tutti_barrier* barrier, std::uint64_t timeout_ns,
                                      std::uint32_t* missing) {
  if (const int error = check_without_rank(barrier)) return error;
  if (barrier->chosen)
    return result_of(barrier->chosen->arrive_and_wait_until(time_after(timeout_ns)), missing);
  tutti::rank_t lacking = 0;
  const bool in_time =
      barrier->named->arrive_and_wait_without_rank(tutti::c_abi::deadline_in(timeout_ns), lacking);
  if (missing != nullptr) *missing = lacking;
  return in_time ? TUTTI_OK : TUTTI_ETIMEDOUT;
}

int tutti_barrier_arrive(tutti_barrier* barrier, std::uint64_t* phase) {
  if (phase == nullptr) return TUTTI_EINVAL;
  if (const int error = check_phases(barrier)) return error;
  *phase = barrier->chosen->arrive().phase();
  return TUTTI_OK;
}

int tutti_barrier_wait_phase(tutti_barrier* barrier, std::uint64_t phase) {
  return tutti_barrier_wait_phase_for(barrier, phase, UINT64_MAX, nullptr);
}

int tutti_barrier_wait_phase_for(tutti_barrier* barrier, std::uint64_t phase,
                                 std::uint64_t timeout_ns, std::uint32_t* missing) {
  if (const int error = check_phases(barrier)) return error;
  return result_of(barrier->chosen->wait_until(phase, time_after(timeout_ns)), missing);
}

int tutti_barrier_arrive_and_drop(tutti_barrier* barrier) {
  if (const int error = check_phases(barrier)) return error;
  barrier->chosen->arrive_and_drop();
  return TUTTI_OK;
}

int tutti_barrier_drop(tutti_barrier* barrier, std::uint32_t rank) {
  if (const int error = check(barrier, rank)) return error;
  if (!barrier->chosen) return TUTTI_ENOTSUP;
  tutti::c_abi::history& mine = (*barrier->ranks)[rank];
  return tutti::c_abi::guarded([&] {
    barrier->chosen->arrive_and_drop_as(rank);
    mine.note_last_arrival();
    mine.broken = true;
    return TUTTI_OK;
  });
}

int tutti_barrier_missing(const tutti_barrier* barrier, std::uint32_t rank, std::uint32_t* ranks,
                          size_t capacity, size_t* count) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  if (!barrier->ranks) return TUTTI_ENOTSUP;
  return barrier->ranks->missing(rank, ranks, capacity, count);
}

std::uint32_t tutti_barrier_participants(const tutti_barrier* barrier) {
  if (barrier == nullptr) return 0;
  return barrier->ranks ? barrier->ranks->participants() : barrier->in_place_participants;
}

std::uint32_t tutti_barrier_max(void) {
  return static_cast<std::uint32_t>(tutti::striped_barrier<>::counter_max);
}

int tutti_barrier_set_patience(tutti_barrier* barrier, const char* patience) {
  if (barrier == nullptr) return TUTTI_EINVAL;
  return tutti::c_abi::set_patience(patience,
                                    [&](tutti::patience p) { return barrier->set_patience(p); });
}

const char* tutti_barrier_algorithm(size_t i) {
  if (i == 0) return tutti::default_algorithm.data();
  return i <= tutti::algorithms.size() ? tutti::algorithms[i - 1].name.data() : nullptr;
}

const char* tutti_wait_policy(size_t i) {
  return i < tutti::wait_policies.size() ? tutti::wait_policies[i].name.data() : nullptr;
}

}  // extern "C"
