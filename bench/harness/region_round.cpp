// SPDX-License-Identifier: Apache-2.0
// Rounds of regions back to back, and the check that a region has a beginning and an end.
#include <fmt/format.h>

#include <functional>
#include <memory>

#include "bench/harness/round_parts.hpp"
#include "bench/harness/runtime_round.hpp"

namespace tutti::bench {
namespace {

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
    const std::uint64_t all = request_.settling + request_.episodes;
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

}  // namespace

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

round_outcome run_round(const round_request& request, region_runtime& runtime) {
  return region_round(request, runtime).run();
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

}  // namespace tutti::bench
