// SPDX-License-Identifier: Apache-2.0
// Rounds of barriers or reductions inside one open region, and the check that no rank leaves one
// early.
#include "bench/harness/round_parts.hpp"
#include "bench/harness/runtime_round.hpp"

namespace tutti::bench {
namespace {

// Two barriers a step: what was written before the first is read between them, written again after
// the second.
void check_rank(runtime_rank& me, std::vector<published>& cells) {
  const auto ranks = static_cast<rank_t>(cells.size());
  const rank_t rank = me.rank();
  for (std::uint64_t step = 1; step <= check_steps; ++step) {
    if (rank == step % ranks) spin_for_ns(late_ns);
    cells[rank].step = step;
    me.barriers(1);
    for (rank_t other = 0; other < ranks; ++other) {
      if (cells[other].step == step || !cells[rank].fault.empty()) continue;
      cells[rank].fault = early_leave(cells[other].step, step, rank, other);
    }
    me.barriers(1);
  }
}

}  // namespace

collective_round::collective_round(const round_request& request, checksums& sums)
    : request_(request), sums_(sums), gaps_(request) {
  marks_.reserve(request.batches + 1);
}

std::uint64_t collective_round::run(runtime_rank& me) {
  if (request_.gap.ns > 0) return run_with_gaps(me);
  episodes(me, request_.warm_up);
  mark(me);
  return request_.least_ns > 0 ? run_timed(me) : run_batches(me);
}

void collective_round::episodes(runtime_rank& me, std::uint64_t count) {
  if (request_.what.width > 0) {
    me.reductions(count, sums_[me.rank()]);
  } else {
    me.barriers(count);
  }
}

std::uint64_t collective_round::run_batches(runtime_rank& me) {
  const std::uint64_t each = request_.episodes / request_.batches;
  for (std::uint64_t batch = 0; batch < request_.batches; ++batch) {
    episodes(me, each);
    mark(me);
  }
  return each * request_.batches;
}

// Rank 0 comes late; all know beforehand how many episodes there are.
std::uint64_t collective_round::run_with_gaps(runtime_rank& me) {
  for (std::uint64_t done = 0; done < request_.settling + request_.episodes; ++done) {
    if (me.rank() == 0) {
      gaps_.episode([&] { episodes(me, 1); });
    } else {
      episodes(me, 1);
    }
  }
  if (me.rank() == 0) {
    gaps_.stop();
    of_gaps_ = gaps_.outcome();
  }
  return request_.episodes;
}

// Rank 0 looks at the clock; the episodes themselves tell the others that a chunk is the last.
std::uint64_t collective_round::run_timed(runtime_rank& me) {
  std::uint64_t done = 0;
  std::uint64_t until = 0;
  if (me.rank() == 0) until = marks_[0] + from_ns(request_.least_ns);
  for (std::size_t turn = 0;; turn = 1 - turn) {
    done += request_.chunk;
    if (me.rank() == 0) last_chunk_[turn] = done >= request_.episodes || ticks() >= until;
    episodes(me, request_.chunk);
    if (me.agreed(last_chunk_[turn])) break;
  }
  mark(me);
  return done;
}

void collective_round::mark(const runtime_rank& me) {
  if (me.rank() == 0) marks_.push_back(ordered_ticks());
}

std::string collective_round::fault(rank_t rank, std::uint64_t timed) const {
  if (request_.what.width == 0) return {};  // barriers are checked by themselves
  const std::uint64_t before = request_.gap.ns > 0 ? request_.settling : request_.warm_up;
  const std::uint64_t done = before + timed;
  const std::string text = sums_.fault(rank, done, true);
  return text.empty() ? sums_.fault_of_vector(rank, done) : text;
}

round_outcome collective_round::outcome(std::uint64_t timed) const {
  return request_.gap.ns > 0 ? of_gaps_ : outcome_of(marks_, timed);
}

void collective_runtime::place(const std::vector<int>& cpus) {
  first_error error;
  enter([&](runtime_rank& me) { error.guard([&] { pin(cpus, me.rank()); }); });
  error.throw_if_any();
}

round_outcome run_round(const round_request& request, collective_runtime& runtime) {
  runtime.place(request.cpus);
  checksums sums(request.ranks, request.what.width);
  collective_round round(request, sums);
  std::uint64_t timed = 0;
  runtime.enter([&](runtime_rank& me) {
    const std::uint64_t done = round.run(me);
    if (me.rank() == 0) timed = done;
  });
  round_outcome outcome = round.outcome(timed);
  for (rank_t rank = 0; rank < sums.ranks() && outcome.fault.empty(); ++rank) {
    outcome.fault = round.fault(rank, timed);
  }
  return outcome;
}

std::string check(const round_request& request, collective_runtime& runtime) {
  runtime.place(request.cpus);
  std::vector<published> cells(request.ranks);
  runtime.enter([&](runtime_rank& me) { check_rank(me, cells); });
  for (const auto& cell : cells) {
    if (!cell.fault.empty()) return cell.fault;
  }
  round_request few = request;
  few.warm_up = 3;
  few.episodes = check_steps;
  few.batches = 1;
  few.least_ns = 0;
  few.gap = {};
  return run_round(few, runtime).fault;
}

}  // namespace tutti::bench
