// SPDX-License-Identifier: Apache-2.0
// The C interface of reductions outside of teams. Few values travel with the arrivals
// (tutti::reduction). For many values each rank writes a row, and each rank combines a part of all
// rows.
#define TUTTI_CHECKS 0

#include <chrono>
#include <memory>
#include <new>
#include <optional>

#include "src/c_abi.hpp"
#include "src/c_abi_operations.hpp"
#include "tutti/reduce/reduction.hpp"

namespace {

using namespace tutti::c_abi;
using tutti::rank_t;

constexpr std::size_t most_bytes = PTRDIFF_MAX / 2;

// A reduction of many values. It has two barriers: between them all ranks read all rows and write
// the result, which all ranks read after the second.
class long_reduction {
 public:
  long_reduction(rank_t participants, std::size_t count, const operation& op)
      : op_(op),
        count_(count),
        row_bytes_((count * op.size + tutti::cache_line - 1) / tutti::cache_line *
                   tutti::cache_line),
        barrier_(tutti::make_barrier(tutti::default_algorithm, participants)),
        rows_(rows_for(participants, row_bytes_)) {}

  bool set_patience(tutti::patience p) noexcept { return barrier_->set_patience(p); }

  bool all(rank_t rank, const void* values, void* results, const tutti::deadline* until) {
    const rank_t n = barrier_->participants();
    std::memcpy(row(rank), values, count_ * op_.size);
    if (!meet(rank, until)) return false;
    const auto part = [&](std::size_t r) { return count_ / n * r + std::min(r, count_ % n); };
    combine_rows(
        op_, n, [this](rank_t r) { return row(r); }, part(rank), part(rank + std::size_t{1}),
        row(n));
    if (!meet(rank, until)) return false;
    std::memcpy(results, row(n), count_ * op_.size);
    return true;
  }

 private:
  static std::size_t rows_for(rank_t participants, std::size_t row_bytes) {
    const std::size_t rows = std::size_t{participants} + 1;
    if (row_bytes > most_bytes / rows) throw std::bad_alloc();
    return rows * row_bytes / tutti::cache_line;
  }
  std::byte* row(rank_t rank) noexcept { return rows_.begin()->bytes + rank * row_bytes_; }

  bool meet(rank_t rank, const tutti::deadline* until) {
    if (until == nullptr) {
      barrier_->arrive_and_wait(rank);
      return true;
    }
    try {
      return barrier_->arrive_and_wait(rank, *until);
    } catch (const std::bad_alloc&) {
      // Only the list of missing ranks needs memory, so the deadline has passed.
      return false;
    }
  }

  struct alignas(tutti::cache_line) line {
    std::byte bytes[tutti::cache_line];
  };
  const operation& op_;
  const std::size_t count_;
  const std::size_t row_bytes_;
  std::unique_ptr<tutti::any_barrier> barrier_;
  // A row for each rank, and one for the result.
  tutti::array<line> rows_;
};

}  // namespace

struct tutti_reduction {
  tutti_reduction(rank_t participants, std::size_t count, const operation& operation)
      : op(operation), bytes(count * operation.size), how{&op, count}, ranks(participants) {
    if (bytes <= small_packet_bytes)
      small.emplace(participants, how);
    else if (bytes <= packet_bytes)
      large.emplace(participants, how);
    else
      many.emplace(participants, count, op);
  }

  bool all(rank_t rank, const void* values, void* results, const tutti::deadline* until) {
    if (small) return all(*small, rank, values, results, until);
    if (large) return all(*large, rank, values, results, until);
    return many->all(rank, values, results, until);
  }

  bool set_patience(tutti::patience p) noexcept {
    if (small) return small->set_patience(p);
    if (large) return large->set_patience(p);
    return many->set_patience(p);
  }

  template <std::size_t Bytes>
  using packets = tutti::reduction<packet<Bytes>, combine_packets>;

  template <std::size_t Bytes>
  bool all(packets<Bytes>& few, rank_t rank, const void* values, void* results,
           const tutti::deadline* until) {
    const auto mine = packet<Bytes>::of(values, bytes);
    std::optional<packet<Bytes>> sum;
    if (until == nullptr)
      sum = few.all(rank, mine);
    else
      sum = few.all_for(rank, mine, time_left(*until));
    if (!sum) return false;
    op.make_canonical(sum->bytes, how.count);
    std::memcpy(results, sum->bytes, bytes);
    return true;
  }

  static std::chrono::nanoseconds time_left(const tutti::deadline& until) noexcept {
    const std::uint64_t now = tutti::native::now_ns();
    return std::chrono::nanoseconds(until.ns() > now ? until.ns() - now : 0);
  }

  const operation& op;
  // The size of a rank's values in bytes.
  const std::size_t bytes;
  const combine_packets how;
  tutti::c_abi::attendance ranks;
  std::optional<packets<small_packet_bytes>> small;
  std::optional<packets<packet_bytes>> large;
  std::optional<long_reduction> many;
};

namespace {

int all(tutti_reduction* reduction, rank_t rank, const void* values, void* results,
        const tutti::deadline* until) {
  if (reduction == nullptr || values == nullptr || results == nullptr) return TUTTI_EINVAL;
  if (const int error = reduction->ranks.check(rank)) return error;
  reduction->ranks[rank].note_arrival();
  if (reduction->all(rank, values, results, until)) return TUTTI_OK;
  reduction->ranks[rank].broken = true;
  return TUTTI_ETIMEDOUT;
}

}  // namespace

extern "C" {

int tutti_reduction_create(tutti_reduction** out, std::uint32_t participants, size_t count,
                           int type, int operation) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (participants == 0 || participants > tutti_barrier_max() || count == 0) return TUTTI_EINVAL;
  const auto* found = find_operation(type, operation);
  if (found == nullptr || count > most_bytes / found->size) return TUTTI_EINVAL;
  return tutti::c_abi::guarded(
      [&] { return *out = new tutti_reduction(participants, count, *found), TUTTI_OK; });
}

void tutti_reduction_destroy(tutti_reduction* reduction) { delete reduction; }

int tutti_reduction_all(tutti_reduction* reduction, std::uint32_t rank, const void* values,
                        void* results) {
  return all(reduction, rank, values, results, nullptr);
}

int tutti_reduction_all_for(tutti_reduction* reduction, std::uint32_t rank, const void* values,
                            void* results, std::uint64_t timeout_ns) {
  const tutti::deadline until = deadline_in(timeout_ns);
  return all(reduction, rank, values, results, &until);
}

int tutti_reduction_set_patience(tutti_reduction* reduction, const char* patience) {
  if (reduction == nullptr) return TUTTI_EINVAL;
  return set_patience(patience, [&](tutti::patience p) { return reduction->set_patience(p); });
}

int tutti_reduction_missing(const tutti_reduction* reduction, std::uint32_t rank,
                            std::uint32_t* ranks, size_t capacity, size_t* count) {
  return reduction == nullptr ? TUTTI_EINVAL
                              : reduction->ranks.missing(rank, ranks, capacity, count);
}

std::uint32_t tutti_reduction_participants(const tutti_reduction* reduction) {
  return reduction == nullptr ? 0 : reduction->ranks.participants();
}

}  // extern "C"
