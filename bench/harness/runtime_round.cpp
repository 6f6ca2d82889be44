// SPDX-License-Identifier: Apache-2.0
// The loops that are timed, and how their clock readings become samples.
#include "bench/harness/runtime_round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "bench/harness/placement.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

// Keeps the first error of any rank.
class first_error {
 public:
  template <class Call>
  void guard(Call call) {
    try {
      call();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      if (text_.empty()) text_ = e.what();
    }
  }
  void throw_if_any() const {
    if (!text_.empty()) throw std::runtime_error(text_);
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

void pin(const std::vector<int>& cpus, rank_t rank) {
  pin_this_thread(cpus.empty() ? any_cpu : cpus[rank % cpus.size()]);
}

round_outcome outcome_of(const std::vector<std::uint64_t>& marks, std::uint64_t episodes) {
  round_outcome outcome;
  outcome.episodes = episodes;
  outcome.duration_ns = to_ns(marks.back() - marks.front());
  const auto each = static_cast<double>(episodes) / static_cast<double>(marks.size() - 1);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    outcome.samples.push_back(to_ns(marks[i] - marks[i - 1]) / each);
  }
  return outcome;
}

// The processor time of the other threads of this process.
double others_cpu_ns() { return process_cpu_ns() - thread_cpu_ns(); }

// The vectors of a loop. They begin at different offsets in a page: the same offset would slow down
// some processors.
class axpy_vectors {
 public:
  axpy_vectors(std::uint64_t elements, rank_t ranks)
      : elements_(elements), ranks_(ranks), lines_(elements == 0 ? 0 : 2 * lines_each()) {
    for (std::uint64_t i = 0; i < elements_; ++i) x()[i] = 1;
  }
  axpy_loop loop() { return {1, x(), y(), elements_, ranks_}; }
  // Each pass has added 1 to each element.
  std::string fault(std::uint64_t passes) {
    for (std::uint64_t i = 0; i < elements_; ++i) {
      if (y()[i] == static_cast<double>(passes)) continue;
      return fmt::format("element {} was added to {:.0f} times in {} loops", i, y()[i], passes);
    }
    return {};
  }

 private:
  static constexpr std::uint64_t page = 4096, of_line = cache_line / sizeof(double);
  struct alignas(cache_line) line {
    double values[of_line] = {};
  };
  std::uint64_t lines_each() const {
    constexpr std::uint64_t lines_of_page = page / cache_line;
    const std::uint64_t pages = elements_ * sizeof(double) / page + 1;
    return pages * lines_of_page + lines_of_page / 2 + 2;
  }
  double* x() { return lines_[0].values; }
  double* y() { return lines_[lines_each()].values; }

  const std::uint64_t elements_;
  const rank_t ranks_;
  std::vector<line> lines_;
};

class region_round {
 public:
  region_round(const round_request& request, region_runtime& runtime)
      : request_(request),
        runtime_(runtime),
        sums_(request.ranks, request.what.width),
        vectors_(request.what.elements, request.ranks) {}

  round_outcome run() {
    runtime_.place(request_.cpus);
    if (request_.gap.ns > 0) return run_with_gaps();
    episodes(request_.warm_up);
    const std::uint64_t warm = done_;
    std::vector<std::uint64_t> marks{ordered_ticks()};
    if (request_.least_ns > 0) {
      const std::uint64_t until = marks[0] + from_ns(request_.least_ns);
      while (done_ - warm < request_.episodes && ticks() < until) episodes(request_.chunk);
      marks.push_back(ordered_ticks());
    } else {
      for (std::uint64_t batch = 0; batch < request_.batches; ++batch) {
        episodes(request_.episodes / request_.batches);
        marks.push_back(ordered_ticks());
      }
    }
    round_outcome outcome = outcome_of(marks, done_ - warm);
    outcome.fault = fault();
    return outcome;
  }

  round_outcome run_with_gaps() {
    gap_clock gaps(request_);
    const std::uint64_t all = gap_clock::settling + request_.episodes;
    runtime_.inside([&] {
      while (gaps.episodes() < all) {
        gaps.episode([&] { episodes(1); });
        if (request_.least_ns > 0 && gaps.time_is_up()) break;
      }
      gaps.stop();
    });
    round_outcome outcome = gaps.outcome();
    outcome.fault = fault();
    return outcome;
  }

  void episodes(std::uint64_t count) {
    if (request_.what.elements > 0) {
      runtime_.loops(count, vectors_.loop());
    } else if (request_.what.width > 0) {
      runtime_.reducing_regions(count, sums_);
    } else {
      runtime_.regions(count, sums_);
    }
    done_ += count;
  }

  std::string fault() {
    if (request_.what.elements > 0) return vectors_.fault(done_);
    for (rank_t rank = 0; rank < sums_.ranks(); ++rank) {
      const std::string text = sums_.fault(rank, done_, rank == 0);
      if (!text.empty()) return text;
    }
    return {};
  }

 private:
  const round_request& request_;
  region_runtime& runtime_;
  checksums sums_;
  axpy_vectors vectors_;
  std::uint64_t done_ = 0;
};

struct alignas(cache_line) published {
  std::uint64_t step = 0;
  std::string fault;
};

// With up to 12 ranks each is late once. It is late by more than the spread of the others'
// arrivals.
constexpr std::uint64_t check_steps = 12;
constexpr double late_ns = 20e3;

// What rank 0 wrote before a region is read in it, and what a late rank writes in it is read after
// it.
std::string check_fork_and_join(region_runtime& runtime, rank_t ranks) {
  struct state {
    std::uint64_t step = 0;
    std::vector<published> cells;
  };
  const auto shared = std::make_shared<state>();
  shared->cells.resize(ranks);
  const auto body = std::make_shared<std::function<void(rank_t)>>([shared, ranks](rank_t rank) {
    const std::uint64_t step = shared->step;
    if (rank == step % ranks) spin_for_ns(late_ns);
    shared->cells[rank].step = step;
  });
  runtime.keep(body);
  for (shared->step = 1; shared->step <= check_steps; ++shared->step) {
    runtime.open(*body);
    for (rank_t rank = 0; rank < ranks; ++rank) {
      if (shared->cells[rank].step == shared->step) continue;
      return fmt::format("region {} ended while rank {} was not through it", shared->step, rank);
    }
  }
  return {};
}

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

std::string name_of(const episode_kind& kind) {
  if (kind.elements > 0) return fmt::format("axpy{}", kind.elements);
  if (kind.width > 0) return fmt::format("reduce{}", kind.width);
  return kind.what == operation::region ? "empty" : "barrier";
}

void region_runtime::place(const std::vector<int>& cpus) {
  const auto error = std::make_shared<first_error>();
  const auto body = std::make_shared<std::function<void(rank_t)>>(
      [error, cpus](rank_t rank) { error->guard([&] { pin(cpus, rank); }); });
  keep(body);
  open(*body);
  error->throw_if_any();
}

void region_runtime::loops(std::uint64_t count, const axpy_loop& loop) {
  for (std::uint64_t i = 0; i < count; ++i) {
    open([&loop](rank_t rank) {
      loop.part(loop.elements * rank / loop.ranks, loop.elements * (rank + 1) / loop.ranks);
    });
  }
}

void collective_runtime::place(const std::vector<int>& cpus) {
  first_error error;
  enter([&](runtime_rank& me) { error.guard([&] { pin(cpus, me.rank()); }); });
  error.throw_if_any();
}

round_outcome run_round(const round_request& request, region_runtime& runtime) {
  return region_round(request, runtime).run();
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

std::string check(const round_request& request, region_runtime& runtime) {
  runtime.place(request.cpus);
  std::string fault = check_fork_and_join(runtime, request.ranks);
  if (!fault.empty()) return fault;
  region_round round(request, runtime);
  for (std::uint64_t step = 0; step < check_steps && fault.empty(); ++step) {
    round.episodes(1 + step % 2);
    fault = round.fault();
  }
  return fault;
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

collective_round::collective_round(const round_request& request, checksums& sums)
    : request_(request), sums_(sums), gaps_(request) {
  marks_.reserve(request.batches + 1);
}

gap_clock::gap_clock(const round_request& request) : request_(request), random_(request.seed) {
  if (request.gap.ns > 0) latencies_.reserve(request.episodes);
}

void gap_clock::start() {
  others_begin_ = others_cpu_ns();
  begin_ = ordered_ticks();
}

void gap_clock::stop() { others_end_ = others_cpu_ns(); }

round_outcome gap_clock::outcome() const {
  round_outcome outcome;
  outcome.episodes = latencies_.size();
  outcome.duration_ns = to_ns(end_ - begin_);
  outcome.samples = latencies_;
  // Beside neighbours the mean, not the median: an episode that loses a time slice must weigh by
  // its length.
  if (request_.least_ns > 0) outcome.samples = {summarize(latencies_).mean};
  const auto others = static_cast<double>(std::max<rank_t>(request_.threads - 1, 1));
  outcome.waiter_cpu_ns = (others_end_ - others_begin_) /
                          static_cast<double>(std::max<std::uint64_t>(outcome.episodes, 1)) /
                          others;
  return outcome;
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
  for (std::uint64_t done = 0; done < gap_clock::settling + request_.episodes; ++done) {
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
  const std::uint64_t before = request_.gap.ns > 0 ? gap_clock::settling : request_.warm_up;
  const std::uint64_t done = before + timed;
  const std::string text = sums_.fault(rank, done, true);
  return text.empty() ? sums_.fault_of_vector(rank, done) : text;
}

round_outcome collective_round::outcome(std::uint64_t timed) const {
  return request_.gap.ns > 0 ? of_gaps_ : outcome_of(marks_, timed);
}

}  // namespace tutti::bench
