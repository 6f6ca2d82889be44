// SPDX-License-Identifier: Apache-2.0
// The loops that are timed, and how their clock readings become samples.
#include "bench/crew/round.hpp"

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
  void rethrow() const {
    if (!text_.empty()) throw std::runtime_error(text_);
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

void pin(const std::vector<int>& cpus, rank_t rank) {
  pin_this_thread(cpus.empty() ? any_cpu : cpus[rank % cpus.size()]);
}

crew_outcome outcome_of(const std::vector<std::uint64_t>& marks, std::uint64_t episodes) {
  crew_outcome outcome;
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

// The vectors of a loop. Neither begins where the other does in its page, which would slow down some processors.
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
  region_round(const crew_request& request, region_crew& crew)
      : request_(request),
        crew_(crew),
        shares_(request.size.ranks, request.kind.width),
        vectors_(request.kind.elements, request.size.ranks) {}

  crew_outcome run() {
    crew_.place(request_.size.cpus);
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
    crew_outcome outcome = outcome_of(marks, done_ - warm);
    outcome.fault = fault();
    return outcome;
  }

  crew_outcome run_with_gaps() {
    gap_clock gaps(request_);
    const std::uint64_t all = gap_clock::settling + request_.episodes;
    crew_.inside([&] {
      while (gaps.episodes() < all) {
        gaps.episode([&] { episodes(1); });
        if (request_.least_ns > 0 && gaps.time_is_up()) break;
      }
      gaps.stop();
    });
    crew_outcome outcome = gaps.outcome();
    outcome.fault = fault();
    return outcome;
  }

  void episodes(std::uint64_t count) {
    if (request_.kind.elements > 0) {
      crew_.loops(count, vectors_.loop());
    } else if (request_.kind.width > 0) {
      crew_.reducing_regions(count, shares_);
    } else {
      crew_.regions(count, shares_);
    }
    done_ += count;
  }

  std::string fault() {
    if (request_.kind.elements > 0) return vectors_.fault(done_);
    for (rank_t rank = 0; rank < shares_.ranks(); ++rank) {
      const std::string text = shares_.fault(rank, done_, rank == 0);
      if (!text.empty()) return text;
    }
    return {};
  }

 private:
  const crew_request& request_;
  region_crew& crew_;
  ledger shares_;
  axpy_vectors vectors_;
  std::uint64_t done_ = 0;
};

struct alignas(cache_line) published {
  std::uint64_t step = 0;
  std::string fault;
};

constexpr std::uint64_t check_steps = 12;
constexpr double late_ns = 20e3;

// What rank 0 wrote before a region is read in it, and what a late rank writes in it is read after it.
std::string check_fork_and_join(region_crew& crew, rank_t ranks) {
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
  crew.keep(body);
  for (shared->step = 1; shared->step <= check_steps; ++shared->step) {
    crew.open(*body);
    for (rank_t rank = 0; rank < ranks; ++rank) {
      if (shared->cells[rank].step == shared->step) continue;
      return fmt::format("region {} ended while rank {} was not through it", shared->step, rank);
    }
  }
  return {};
}

// Two barriers a step: what was written before the first is read between them, written again after the second.
void check_rank(crew_member& me, std::vector<published>& cells) {
  const auto ranks = static_cast<rank_t>(cells.size());
  const rank_t rank = me.rank();
  for (std::uint64_t step = 1; step <= check_steps; ++step) {
    if (rank == step % ranks) spin_for_ns(late_ns);
    cells[rank].step = step;
    me.barriers(1);
    for (rank_t other = 0; other < ranks; ++other) {
      if (cells[other].step == step || !cells[rank].fault.empty()) continue;
      cells[rank].fault = fmt::format("rank {} left episode {} while rank {} was not in it", rank,
                                      2 * step - 1, other);
    }
    me.barriers(1);
  }
}

}  // namespace

std::string name_of(const episode_kind& kind) {
  if (kind.elements > 0) return fmt::format("axpy{}", kind.elements);
  if (kind.width > 0) return fmt::format("reduce{}", kind.width);
  return kind.inside ? "barrier" : "empty";
}

void region_crew::place(const std::vector<int>& cpus) {
  const auto error = std::make_shared<first_error>();
  const auto body = std::make_shared<std::function<void(rank_t)>>(
      [error, cpus](rank_t rank) { error->guard([&] { pin(cpus, rank); }); });
  keep(body);
  open(*body);
  error->rethrow();
}

void region_crew::loops(std::uint64_t count, const axpy_loop& loop) {
  for (std::uint64_t i = 0; i < count; ++i) {
    open([&loop](rank_t rank) {
      loop.part(loop.elements * rank / loop.ranks, loop.elements * (rank + 1) / loop.ranks);
    });
  }
}

void meeting_crew::place(const std::vector<int>& cpus) {
  first_error error;
  enter([&](crew_member& me) { error.guard([&] { pin(cpus, me.rank()); }); });
  error.rethrow();
}

crew_outcome run_round(const crew_request& request, region_crew& crew) {
  return region_round(request, crew).run();
}

crew_outcome run_round(const crew_request& request, meeting_crew& crew) {
  crew.place(request.size.cpus);
  ledger shares(request.size.ranks, request.kind.width);
  meeting_round round(request, shares);
  std::uint64_t timed = 0;
  crew.enter([&](crew_member& me) {
    const std::uint64_t done = round.run(me);
    if (me.rank() == 0) timed = done;
  });
  crew_outcome outcome = round.outcome(timed);
  for (rank_t rank = 0; rank < shares.ranks() && outcome.fault.empty(); ++rank) {
    outcome.fault = round.fault(rank, timed);
  }
  return outcome;
}

std::string check(const crew_request& request, region_crew& crew) {
  crew.place(request.size.cpus);
  std::string fault = check_fork_and_join(crew, request.size.ranks);
  if (!fault.empty()) return fault;
  region_round round(request, crew);
  for (std::uint64_t step = 0; step < check_steps && fault.empty(); ++step) {
    round.episodes(1 + step % 2);
    fault = round.fault();
  }
  return fault;
}

std::string check(const crew_request& request, meeting_crew& crew) {
  crew.place(request.size.cpus);
  std::vector<published> cells(request.size.ranks);
  crew.enter([&](crew_member& me) { check_rank(me, cells); });
  for (const auto& cell : cells) {
    if (!cell.fault.empty()) return cell.fault;
  }
  crew_request few = request;
  few.warm_up = 3;
  few.episodes = check_steps;
  few.batches = 1;
  few.least_ns = 0;
  few.gap = {};
  return run_round(few, crew).fault;
}

meeting_round::meeting_round(const crew_request& request, ledger& shares)
    : request_(request), shares_(shares), gaps_(request) {
  marks_.reserve(request.batches + 1);
}

gap_clock::gap_clock(const crew_request& request) : request_(request), random_(request.seed) {
  if (request.gap.ns > 0) latencies_.reserve(request.episodes);
}

void gap_clock::start() {
  others_begin_ = others_cpu_ns();
  begin_ = ordered_ticks();
}

void gap_clock::stop() { others_end_ = others_cpu_ns(); }

crew_outcome gap_clock::outcome() const {
  crew_outcome outcome;
  outcome.episodes = latencies_.size();
  outcome.duration_ns = to_ns(end_ - begin_);
  outcome.samples = latencies_;
  // Beside neighbours the episodes that lose a slice count as much as they last.
  if (request_.least_ns > 0) outcome.samples = {summarize(latencies_).mean};
  const auto others = static_cast<double>(std::max<rank_t>(request_.size.threads - 1, 1));
  outcome.worker_cpu_ns = (others_end_ - others_begin_) /
                          static_cast<double>(std::max<std::uint64_t>(outcome.episodes, 1)) /
                          others;
  return outcome;
}

std::uint64_t meeting_round::run(crew_member& me) {
  if (request_.gap.ns > 0) return run_with_gaps(me);
  episodes(me, request_.warm_up);
  mark(me);
  return request_.least_ns > 0 ? run_timed(me) : run_batches(me);
}

void meeting_round::episodes(crew_member& me, std::uint64_t count) {
  if (request_.kind.width > 0) {
    me.reductions(count, shares_[me.rank()]);
  } else {
    me.barriers(count);
  }
}

std::uint64_t meeting_round::run_batches(crew_member& me) {
  const std::uint64_t each = request_.episodes / request_.batches;
  for (std::uint64_t batch = 0; batch < request_.batches; ++batch) {
    episodes(me, each);
    mark(me);
  }
  return each * request_.batches;
}

// Rank 0 comes late; all know beforehand how many episodes there are.
std::uint64_t meeting_round::run_with_gaps(crew_member& me) {
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
std::uint64_t meeting_round::run_timed(crew_member& me) {
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

void meeting_round::mark(const crew_member& me) {
  if (me.rank() == 0) marks_.push_back(ordered_ticks());
}

std::string meeting_round::fault(rank_t rank, std::uint64_t timed) const {
  if (request_.kind.width == 0) return {};  // barriers are checked by themselves
  const std::uint64_t before = request_.gap.ns > 0 ? gap_clock::settling : request_.warm_up;
  const std::uint64_t done = before + timed;
  const std::string text = shares_.fault(rank, done, true);
  return text.empty() ? shares_.fault_of_vector(rank, done) : text;
}

crew_outcome meeting_round::outcome(std::uint64_t timed) const {
  return request_.gap.ns > 0 ? of_gaps_ : outcome_of(marks_, timed);
}

}  // namespace tutti::bench
