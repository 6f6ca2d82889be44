// SPDX-License-Identifier: Apache-2.0
// The C interface of teams. The error of a C function becomes a C++ exception inside the region and
// an error again outside of it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "src/c_abi.hpp"
#include "src/c_abi_operations.hpp"
#include "src/team/member_here.hpp"
#include "tutti/team/team.hpp"

namespace {

using namespace tutti::c_abi;
using tutti::rank_t;

// The exception for an error that a rank's function returned.
struct rank_failed {
  rank_t rank;
  int error;
};
// The exception for TUTTI_ECANCELED: the rank passes on that another rank has failed. If no other
// rank has failed, it counts as the rank's own failure.
struct rank_was_cancelled : tutti::region_cancelled {
  explicit rank_was_cancelled(rank_t r) : rank(r) {}
  rank_t rank;
};

std::chrono::nanoseconds duration_of(std::uint64_t timeout_ns) {
  return std::chrono::nanoseconds(std::min<std::uint64_t>(timeout_ns, INT64_MAX));
}

tutti_member* handle_of(tutti::member& me) { return reinterpret_cast<tutti_member*>(&me); }
tutti::member& member_of(tutti_member* me) { return *reinterpret_cast<tutti::member*>(me); }
const tutti::member& member_of(const tutti_member* me) {
  return *reinterpret_cast<const tutti::member*>(me);
}

using tutti::detail::member_here;

// It is set when a C function begins as a rank. The thread that opens a region restores its
// previous value after the region.
struct rank_here {
  explicit rank_here(tutti::member& me) noexcept { member_here = &me; }
  ~rank_here() { member_here = nullptr; }
  rank_here(const rank_here&) = delete;
  rank_here& operator=(const rank_here&) = delete;
};

// Calls a C function as a rank. Throws if the function fails.
template <class Function, class... Arguments>
void call(tutti::member& me, Function* function, Arguments... arguments) {
  const rank_here here(me);
  int error = TUTTI_OK;
  try {
    error = function(handle_of(me), arguments...);
  } catch (...) {
    error = TUTTI_ETHROW;
  }
  if (error == TUTTI_OK) return;
  if (error == TUTTI_ECANCELED) throw rank_was_cancelled(me.rank());
  throw rank_failed{me.rank(), error};
}

}  // namespace

struct tutti_team {
  explicit tutti_team(const tutti::team_options& options) : team(options) {}

  // Runs `open`, which opens a region and may wait for it, and returns how the region ended.
  template <class Open>
  int run(Open open) noexcept {
    // Regions inside of regions run alone, perhaps several at a time. Their failures are reported
    // only to the rank that opened them.
    const bool is_outermost = tutti::detail::team_here<tutti::native>() != &team;
    const struct opener {
      ~opener() { member_here = me; }
      tutti::member* me = member_here;
    } opener;
    const auto note = [&](rank_t rank) {
      // relaxed: only the thread that opened the region reads it.
      if (is_outermost) failed_rank.store(rank, tutti::relaxed);
    };
    return guarded(
        [&] { return open(), note(TUTTI_NO_RANK), TUTTI_OK; },
        on<rank_failed>([&](const rank_failed& failed) { return note(failed.rank), failed.error; }),
        on<rank_was_cancelled>([&](const rank_was_cancelled& cancelled) {
          return note(cancelled.rank), TUTTI_ECANCELED;
        }),
        // A team with a named barrier was given a deadline.
        on<std::invalid_argument>(TUTTI_ENOTSUP), on<std::logic_error>(TUTTI_EBUSY),
        // A child of fork() could not have the workers that it lost.
        on<std::system_error>(TUTTI_ETHREAD));
  }

  enum class late_region { begins, goes_on };

  template <class Wait>
  int run_until(late_region region, Wait wait) noexcept {
    tutti::timed_result ended;
    const int error = run([&] { ended = wait(); });
    // The call was refused, so the list of late ranks does not change.
    if (error == TUTTI_EBUSY || error == TUTTI_ENOTSUP) return error;
    // While another thread's region is late, a region that begins runs alone, and the list is not
    // its own. If none is late the list is empty, so a region that ends in time leaves it so.
    if (!ended || region == late_region::goes_on) missing = std::move(ended.missing_ranks);
    return error == TUTTI_OK && !ended ? TUTTI_ETIMEDOUT : error;
  }

  tutti::team team;
  std::atomic<rank_t> failed_rank{TUTTI_NO_RANK};
  // The ranks that a late region waits for.
  std::vector<rank_t> missing;
};

namespace {

// Copies the members that this version knows. Those that the caller does not know stay 0.
int read_options(const tutti_team_options& given, tutti_team_options& known) {
  constexpr std::size_t first_version = offsetof(tutti_team_options, patience);
  if (given.size < first_version) return TUTTI_EINVAL;
  std::memcpy(&known, &given, std::min(given.size, sizeof known));
  return tutti::c_abi::check_later_members(given);
}

// Translates the options to C++ and checks those that have an error of their own.
int translate(const tutti_team_options& given, tutti::team_options& options) {
  constexpr std::size_t least_stack = 16 * 1024, most_stack = std::size_t{1} << 40;
  using tutti::platform::placement;
  constexpr placement places[] = {placement::none, placement::compact, placement::spread};
  if (given.place < 0 || given.place > TUTTI_SPREAD || given.reserved != 0) return TUTTI_EINVAL;
  if (std::max(given.threads, given.ranks) > 0xffff) return TUTTI_EINVAL;
  if (given.ranks != 0 && given.threads > given.ranks) return TUTTI_EINVAL;
  if (given.stack_bytes != 0 && (given.stack_bytes < least_stack || given.stack_bytes > most_stack))
    return TUTTI_EINVAL;
  options.threads = given.threads;
  options.ranks = given.ranks;
  if (given.barrier != nullptr) options.barrier = given.barrier;
  options.wait = wait_or_adaptive(given.wait);
  options.place = places[given.place];
  if (given.stack_bytes != 0) options.fibers.stack_bytes = given.stack_bytes;
  if (given.patience != nullptr &&
      !tutti::patience::parse(given.patience, std::string_view(given.patience).size(),
                              options.patience))
    return TUTTI_EINVAL;
  return check_names(given.barrier == nullptr ? tutti::default_algorithm : options.barrier,
                     options.wait);
}

template <std::size_t Bytes>
int run_reduce(tutti_team& team, tutti_reduce_function function, void* arg, combine_packets how,
               double* results) {
  return team.run([&] {
    // The captures are by value, which is small enough for the message that opens the region.
    auto sum = team.team.run_reduce(how, [function, arg, how](tutti::member& me) {
      double values[Bytes / sizeof(double)];
      how.op->fill_identity(reinterpret_cast<std::byte*>(values), how.count);
      call(me, function, arg, values);
      return packet<Bytes>::of(values, how.count * sizeof(double));
    });
    how.op->make_canonical(sum.bytes, how.count);
    std::memcpy(results, sum.bytes, how.count * sizeof(double));
  });
}

// Calls part(from, to) for the parts of 0 .. count-1 that belong to a rank. A rank always has the
// same parts.
template <class Part>
void call_own_parts(const tutti::member& me, int how, std::size_t count, std::size_t chunk,
                    const Part& part) {
  if (how == TUTTI_STATIC_BLOCKS) {
    const auto mine = me.block(count);
    if (mine.first < mine.last) part(mine.first, mine.last);
    return;
  }
  const std::size_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
  for (std::size_t c = me.rank(); c < chunks; c += me.size())
    part(c * chunk, c * chunk + std::min(chunk, count - c * chunk));
}

// Runs a collective operation and returns an error instead of an exception.
template <class Meet>
int meet(Meet meet_all) noexcept {
  return guarded([&] { return meet_all(), TUTTI_OK; },
                 on<tutti::region_cancelled>(TUTTI_ECANCELED));
}

// Combines arrays that are longer than a packet. Each rank reads the arrays of the others in place.
void reduce_long(tutti::member& me, const operation& op, std::byte* values, std::size_t count) {
  tutti::array<std::byte*> rows(me.size());
  me.gather(values, [&](auto get) {
    for (rank_t r = 0; r < me.size(); ++r) rows[r] = get(r);
  });
  // Until the barrier below only this rank accesses its block of each array.
  const auto mine = me.block(count);
  combine_rows(
      op, me.size(), [&](rank_t r) { return rows[r]; }, mine.first, mine.last, rows[me.rank()]);
  const std::size_t at = mine.first * op.size, bytes = (mine.last - mine.first) * op.size;
  for (std::byte* const row : rows)
    if (row != values) std::memcpy(row + at, values + at, bytes);
  me.barrier();
}

template <std::size_t Bytes>
void reduce_packet(tutti::member& me, const operation& op, std::byte* values, std::size_t count) {
  const std::size_t bytes = count * op.size;
  auto sum = me.reduce(combine_packets{&op, count}, packet<Bytes>::of(values, bytes));
  op.make_canonical(sum.bytes, count);
  std::memcpy(values, sum.bytes, bytes);
}

// Calls scan_packet(op, packet, offset) for one packet of values after the other.
template <class Scan>
int scan(tutti_member* me, void* values, std::size_t count, int type, int operation,
         const Scan& scan_packet) {
  const auto* op = find_operation(type, operation);
  if (me == nullptr || (values == nullptr && count > 0) || op == nullptr) return TUTTI_EINVAL;
  return meet([&] {
    const std::size_t most = packet_bytes / op->size;
    for (std::size_t i = 0; i < count; i += most) {
      const std::size_t n = std::min(most, count - i);
      std::byte* const at = static_cast<std::byte*>(values) + i * op->size;
      auto result = scan_packet(combine_packets{op, n}, packet<packet_bytes>::of(at, n * op->size),
                                i * op->size);
      op->make_canonical(result.bytes, n);
      std::memcpy(at, result.bytes, n * op->size);
    }
  });
}

}  // namespace

extern "C" {

int tutti_team_create(tutti_team** out, const tutti_team_options* options) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  tutti_team_options known{};
  tutti::team_options checked;
  if (options != nullptr)
    if (const int error = read_options(*options, known)) return error;
  if (const int error = translate(known, checked)) return error;
  // The names are known and the counts are in range, so an invalid argument means that two options
  // do not fit together.
  return guarded([&] { return *out = new tutti_team(checked), TUTTI_OK; },
                 on<std::invalid_argument>(TUTTI_ENOTSUP), on<std::system_error>(TUTTI_ETHREAD));
}

void tutti_team_destroy(tutti_team* team) { delete team; }

int tutti_team_set_patience(tutti_team* team, const char* patience) {
  if (team == nullptr) return TUTTI_EINVAL;
  return set_patience(patience, [&](tutti::patience p) { return team->team.set_patience(p); });
}

std::uint32_t tutti_team_size(const tutti_team* team) {
  return team == nullptr ? 0 : team->team.size();
}

std::uint32_t tutti_team_threads(const tutti_team* team) {
  return team == nullptr ? 0 : team->team.threads();
}

int tutti_team_run(tutti_team* team, tutti_region_function function, void* arg) {
  if (team == nullptr || function == nullptr) return TUTTI_EINVAL;
  return team->run(
      [&] { team->team.run([function, arg](tutti::member& me) { call(me, function, arg); }); });
}

int tutti_team_run_first(tutti_team* team, std::uint32_t ranks, tutti_region_function function,
                         void* arg) {
  if (team == nullptr || function == nullptr) return TUTTI_EINVAL;
  if (ranks < 1 || ranks > team->team.size()) return TUTTI_EINVAL;
  return team->run([&] {
    team->team.run(ranks, [function, arg](tutti::member& me) { call(me, function, arg); });
  });
}

int tutti_team_run_for(tutti_team* team, tutti_region_function function, void* arg,
                       std::uint64_t timeout_ns) {
  if (team == nullptr || function == nullptr) return TUTTI_EINVAL;
  return team->run_until(tutti_team::late_region::begins, [&] {
    return team->team.run_for(duration_of(timeout_ns),
                              [function, arg](tutti::member& me) { call(me, function, arg); });
  });
}

int tutti_team_wait_for(tutti_team* team, std::uint64_t timeout_ns) {
  if (team == nullptr) return TUTTI_EINVAL;
  return team->run_until(tutti_team::late_region::goes_on,
                         [&] { return team->team.wait_for(duration_of(timeout_ns)); });
}

int tutti_team_missing(const tutti_team* team, std::uint32_t* ranks, size_t capacity,
                       size_t* count) {
  if (team == nullptr || count == nullptr || (ranks == nullptr && capacity > 0))
    return TUTTI_EINVAL;
  *count = team->missing.size();
  std::copy_n(team->missing.begin(), std::min(capacity, *count), ranks);
  return TUTTI_OK;
}

std::uint32_t tutti_team_failed_rank(const tutti_team* team) {
  // relaxed: only the thread that opened the region reads it.
  return team == nullptr ? TUTTI_NO_RANK : team->failed_rank.load(tutti::relaxed);
}

int tutti_team_run_reduce(tutti_team* team, tutti_reduce_function function, void* arg,
                          int operation, double* results, size_t count) {
  const auto* op = find_operation(TUTTI_DOUBLE, operation);
  if (team == nullptr || function == nullptr || results == nullptr || op == nullptr)
    return TUTTI_EINVAL;
  if (count == 0 || count > TUTTI_RUN_REDUCE_MAX) return TUTTI_EINVAL;
  const combine_packets how{op, count};
  if (count * sizeof(double) <= small_packet_bytes)
    return run_reduce<small_packet_bytes>(*team, function, arg, how, results);
  return run_reduce<packet_bytes>(*team, function, arg, how, results);
}

int tutti_team_parallel_for(tutti_team* team, size_t first, size_t last, int how, size_t chunk,
                            tutti_loop_function function, void* arg) {
  if (team == nullptr || function == nullptr) return TUTTI_EINVAL;
  if (how < TUTTI_STATIC_BLOCKS || how > TUTTI_ADAPTIVE) return TUTTI_EINVAL;
  if (first >= last) return TUTTI_OK;
  const auto part = [&](tutti::member& me, std::size_t from, std::size_t to) {
    call(me, function, from, to, arg);
  };
  if (how == TUTTI_STATIC_BLOCKS || how == TUTTI_STATIC_CHUNKS)
    return team->run([&] {
      team->team.run([&](tutti::member& me) {
        call_own_parts(
            me, how, last - first, std::max<std::size_t>(chunk, 1),
            [&](std::size_t from, std::size_t to) { part(me, first + from, first + to); });
      });
    });
  const auto kind = how == TUTTI_ADAPTIVE         ? tutti::loop::adaptive
                    : how == TUTTI_DYNAMIC_CHUNKS ? tutti::loop::dynamic_chunks
                                                  : tutti::loop::guided_chunks;
  return team->run(
      [&] { team->team.parallel_parts(first, last, part, {.kind = kind, .chunk = chunk}); });
}

tutti_member* tutti_member_here(void) {
  return member_here == nullptr ? nullptr : handle_of(*member_here);
}

std::uint32_t tutti_member_rank(const tutti_member* me) { return member_of(me).rank(); }
std::uint32_t tutti_member_size(const tutti_member* me) { return member_of(me).size(); }
std::uint32_t tutti_member_thread(const tutti_member* me) { return member_of(me).thread(); }

void tutti_member_block(const tutti_member* me, size_t count, size_t* first, size_t* last) {
  const auto mine = member_of(me).block(count);
  *first = mine.first;
  *last = mine.last;
}

int tutti_member_barrier(tutti_member* me) {
  if (me == nullptr) return TUTTI_EINVAL;
  return meet([&] { member_of(me).barrier(); });
}

int tutti_member_reduce(tutti_member* me, void* values, size_t count, int type, int operation) {
  const auto* op = find_operation(type, operation);
  if (me == nullptr || (values == nullptr && count > 0) || op == nullptr) return TUTTI_EINVAL;
  auto* const bytes = static_cast<std::byte*>(values);
  return meet([&] {
    if (count == 0) return member_of(me).barrier();
    if (count <= small_packet_bytes / op->size)
      return reduce_packet<small_packet_bytes>(member_of(me), *op, bytes, count);
    if (count <= packet_bytes / op->size)
      return reduce_packet<packet_bytes>(member_of(me), *op, bytes, count);
    reduce_long(member_of(me), *op, bytes, count);
  });
}

int tutti_member_inclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                int operation) {
  return scan(me, values, count, type, operation, [&](auto op, const auto& mine, std::size_t) {
    return member_of(me).inclusive_scan(op, mine);
  });
}

int tutti_member_exclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                int operation, const void* first) {
  return scan(me, values, count, type, operation,
              [&](combine_packets op, const packet<packet_bytes>& mine, std::size_t offset) {
                packet<packet_bytes> start;
                op.op->fill_identity(start.bytes, op.count);
                if (first != nullptr)
                  std::memcpy(start.bytes, static_cast<const std::byte*>(first) + offset,
                              op.count * op.op->size);
                return member_of(me).exclusive_scan(op, mine, start);
              });
}

}  // extern "C"
