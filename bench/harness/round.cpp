// SPDX-License-Identifier: Apache-2.0
// The threads of a round share nothing while they are timed but the barrier: each reads its own
// clock and writes to memory of its own.
#include "bench/harness/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

#include "bench/harness/phases.hpp"
#include "bench/harness/ping_pong.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/start_gate.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

constexpr rank_t nobody = UINT32_MAX;

struct alignas(cache_line) rank_record {
  std::vector<std::uint64_t> marks;       // loop: before, and after each batch
  std::vector<std::uint64_t> delays;      // delayed: ticks to be late by, for each episode
  std::vector<double> work;               // delayed: ns to work for, for each episode
  std::vector<std::uint64_t> arrivals;    // delayed
  std::vector<std::uint64_t> departures;  // delayed
  double cpu_ns = 0;                      // in the timed episodes, without what follows
  double own_cpu_ns = 0;                  // of these: for work, and for being late
  std::string error;
};

// The first rank on another CPU than rank 0's: its partner in the ping-pong.
rank_t find_partner(const round_request& request) {
  if (!request.with_floor) return nobody;
  for (rank_t rank = 1; rank < request.cpus.size(); ++rank) {
    if (request.cpus[rank] != request.cpus[0]) return rank;
  }
  return nobody;
}

void place(const round_request& request, rank_t rank, std::string& error) {
  try {
    pin_this_thread(request.cpus.empty() ? any_cpu : request.cpus[rank]);
  } catch (const std::exception& e) {
    error = e.what();
  }
}

class round {
 public:
  round(const round_request& request, timed_barrier& barrier, neighbours& busy)
      : request_(request),
        barrier_(barrier),
        busy_(busy),
        gate_(request.threads),
        line_(request.threads),
        partner_(find_partner(request)),
        records_(request.threads),
        phases_(request, barrier, busy) {
    outcome_.episodes = request.episodes;
    for (rank_t rank = 0; rank < request.threads; ++rank) prepare(rank);
  }

  void run(rank_t rank) {
    rank_record& record = records_[rank];
    place(request_, rank, record.error);
    gate_.arrive_and_wait();
    ping(rank, outcome_.floor_before);
    gate_.arrive_and_wait();
    if (rank == 0 && request_.kind != pattern::phases) busy_.start();
    if (request_.own_cores) line_.arrive_and_wait();
    barrier_.episodes(rank, request_.warm_up);
    switch (request_.kind) {
      case pattern::loop: run_loop(rank, record); break;
      case pattern::delayed: run_delayed(rank, record); break;
      case pattern::phases: phases_.run(rank); break;
      case pattern::after_gap: break;  // not of barriers
    }
    gate_.arrive_and_wait();
    if (rank == 0) busy_.stop();
    ping(rank, outcome_.floor_after);
  }

  round_outcome finish() {
    for (const auto& record : records_) {
      if (!record.error.empty()) throw std::runtime_error(record.error);
    }
    outcome_.neighbours_ran = busy_.ran();
    correct_clocks();
    switch (request_.kind) {
      case pattern::loop: finish_loop(); break;
      case pattern::delayed: finish_delayed(); break;
      case pattern::phases: phases_.finish(outcome_); break;
      case pattern::after_gap: break;
    }
    return std::move(outcome_);
  }

 private:
  // Memory is touched and random numbers are drawn before anything is timed.
  void prepare(rank_t rank) {
    rank_record& record = records_[rank];
    if (request_.kind == pattern::loop) {
      record.marks.resize(request_.batches + 1);
      return;
    }
    if (request_.kind == pattern::phases) return;
    const std::uint64_t episodes = request_.settling + request_.episodes;
    record.arrivals.resize(episodes);
    record.departures.resize(episodes);
    record.delays.resize(episodes);
    const std::vector<std::uint32_t> words = seed_words(request_.seed, rank);
    std::seed_seq seeds(words.begin(), words.end());
    std::mt19937_64 random(seeds);
    std::uniform_real_distribution<double> skew(0.0, std::max(request_.skew_ns, 1.0));
    for (std::uint64_t episode = 0; episode < episodes; ++episode) {
      const double late = late_rank(episode) == rank ? at(request_.late, episode, random) : 0.0;
      record.delays[episode] = from_ns(late + (request_.skew_ns > 0 ? skew(random) : 0.0));
    }
    if (request_.most_work_ns <= 0) return;
    std::uniform_real_distribution<double> work(request_.least_work_ns, request_.most_work_ns);
    record.work.resize(episodes);
    for (auto& each : record.work) each = work(random);
    work_for_ns(0);  // measures what a step takes
  }

  rank_t late_rank(std::uint64_t episode) const {
    if (!request_.rotating) return request_.threads - 1;
    return static_cast<rank_t>(episode % request_.threads);
  }

  void ping(rank_t rank, double& result) {
    if (partner_ == nobody) return;
    if (rank == 0) result = ping_pong_.lead_transfers();
    if (rank == partner_) ping_pong_.follow_transfers();
  }

  // Rank 0 looks at the clock; the barrier itself tells the others that a chunk is the last.
  void run_timed(rank_t rank, rank_record& record) {
    record.marks[0] = ordered_ticks();
    const std::uint64_t until = record.marks[0] + from_ns(request_.least_ns);
    std::uint64_t done = 0;
    for (std::size_t turn = 0;; turn = 1 - turn) {
      done += request_.chunk;
      if (rank == 0) last_chunk_[turn] = done >= request_.episodes || ticks() >= until;
      barrier_.episodes(rank, request_.chunk);
      if (last_chunk_[turn]) break;
    }
    record.marks[1] = ordered_ticks();
    if (rank == 0) outcome_.episodes = done;
  }

  void run_loop(rank_t rank, rank_record& record) {
    if (request_.least_ns > 0) {
      run_timed(rank, record);
      return;
    }
    const std::uint64_t each = request_.episodes / request_.batches;
    record.marks[0] = ordered_ticks();
    for (std::uint64_t batch = 1; batch <= request_.batches; ++batch) {
      barrier_.episodes(rank, each);
      record.marks[batch] = ordered_ticks();
    }
  }

  // What others must wait for. Returns the processor time that it took; the clock is read within
  // the delay.
  double be_late(const rank_record& record, std::uint64_t episode, std::uint64_t departure) const {
    const std::uint64_t delay = record.delays[episode];
    const bool works = !record.work.empty();
    const bool counts = works || (delay > 0 && request_.late.ns > 0);
    const double begin = counts ? thread_cpu_ns() : 0;
    if (works) work_for_ns(record.work[episode]);
    const std::uint64_t until = departure + delay;
    while (ticks() < until) {
    }
    return counts ? thread_cpu_ns() - begin : 0;
  }

  void run_delayed(rank_t rank, rank_record& record) {
    double begin = 0;
    std::uint64_t until = 0;
    const std::uint64_t all = request_.settling + request_.episodes;
    std::uint64_t departure = ordered_ticks();
    for (std::uint64_t episode = 0; episode < all; ++episode) {
      if (episode == request_.settling) {
        begin = thread_cpu_ns();
        record.own_cpu_ns = 0;
        until = ticks() + from_ns(request_.least_ns);
      }
      record.own_cpu_ns += be_late(record, episode, departure);
      const bool by_time = request_.least_ns > 0 && episode >= request_.settling;
      bool& is_last = last_chunk_[episode % 2];
      if (by_time && rank == 0) is_last = ticks() >= until;
      const std::uint64_t arrival = ordered_ticks();
      barrier_.arrive_and_wait(rank);
      departure = ordered_ticks();
      record.arrivals[episode] = arrival;
      record.departures[episode] = departure;
      if (!by_time || !is_last) continue;
      if (rank == 0) outcome_.episodes = episode + 1 - request_.settling;
      break;
    }
    record.cpu_ns = thread_cpu_ns() - begin;
  }

  // All times become times of rank 0's clock.
  void correct_clocks() {
    for (std::size_t rank = 0; rank < request_.offsets.size(); ++rank) {
      const auto offset = static_cast<std::uint64_t>(request_.offsets[rank]);  // modulo 2^64
      for (auto* times :
           {&records_[rank].marks, &records_[rank].arrivals, &records_[rank].departures}) {
        for (auto& time : *times) time -= offset;
      }
    }
  }

  std::uint64_t latest(std::vector<std::uint64_t> rank_record::*times, std::size_t index) const {
    std::uint64_t last = 0;
    for (const auto& record : records_) last = std::max(last, (record.*times)[index]);
    return last;
  }

  std::uint64_t earliest(std::vector<std::uint64_t> rank_record::*times, std::size_t index) const {
    std::uint64_t first = UINT64_MAX;
    for (const auto& record : records_) first = std::min(first, (record.*times)[index]);
    return first;
  }

  // From the last to leave the episode before the batch to the last to leave the batch.
  void finish_loop() {
    const auto each = static_cast<double>(outcome_.episodes / request_.batches);
    for (std::size_t batch = 0; batch < request_.batches; ++batch) {
      const std::uint64_t length =
          latest(&rank_record::marks, batch + 1) - latest(&rank_record::marks, batch);
      outcome_.samples.push_back(to_ns(length) / each);
    }
    const std::uint64_t begin = latest(&rank_record::marks, 0);
    outcome_.duration_ns = to_ns(latest(&rank_record::marks, request_.batches) - begin);
    outcome_.start_spread_ns = to_ns(begin - earliest(&rank_record::marks, 0));
    outcome_.mean = outcome_.duration_ns / static_cast<double>(outcome_.episodes);
  }

  // From the last arrival to the last departure, without what the timer itself takes. Beside
  // neighbours the episodes that lose a slice count as much as they last: the mean of the round is
  // its sample.
  void finish_delayed() {
    const std::uint64_t end = request_.settling + outcome_.episodes;
    for (std::uint64_t episode = request_.settling; episode < end; ++episode) {
      const std::uint64_t in = latest(&rank_record::arrivals, episode);
      const std::uint64_t out = latest(&rank_record::departures, episode);
      outcome_.samples.push_back(to_ns(static_cast<std::int64_t>(out - in)) - timer_cost_ns());
    }
    outcome_.mean = summarize(outcome_.samples).mean;
    if (request_.least_ns > 0) outcome_.samples = {outcome_.mean};
    const auto episodes = static_cast<double>(outcome_.episodes);
    outcome_.duration_ns = to_ns(latest(&rank_record::departures, end - 1) -
                                 latest(&rank_record::departures, request_.settling - 1));
    outcome_.episode_ns = outcome_.duration_ns / episodes;
    for (const auto& record : records_) outcome_.cpus_used += record.cpu_ns / outcome_.duration_ns;
    // The rank that is always late never waits.
    const bool all_wait = request_.rotating || request_.late.ns <= 0;
    const rank_t counted = all_wait ? request_.threads : request_.threads - 1;
    const auto waiters = static_cast<double>(std::max<rank_t>(request_.threads - 1, 1));
    outcome_.waiter_cpu_ns = 0;
    for (rank_t rank = 0; rank < counted; ++rank) {
      const double waiting = records_[rank].cpu_ns - records_[rank].own_cpu_ns;
      outcome_.waiter_cpu_ns += waiting / episodes / waiters;
    }
  }

  const round_request& request_;
  timed_barrier& barrier_;
  neighbours& busy_;
  blocking_gate gate_;
  starting_line line_;
  ping_pong ping_pong_;
  const rank_t partner_;
  std::vector<rank_record> records_;
  // The chunks take turns: a slot is written again only when all have read it.
  bool last_chunk_[2] = {};
  round_phases phases_;
  round_outcome outcome_;
};

struct alignas(cache_line) published {
  std::uint64_t episode = 0;
  std::string fault;
};

// Two episodes a step: what was written before the first is read between them and written again
// after the second.
void check_rank(const round_request& request, timed_barrier& barrier, std::vector<published>& cells,
                rank_t rank) {
  constexpr double late_ns = 5000;
  const std::uint64_t steps = request.own_cores ? 64 : 12;
  place(request, rank, cells[rank].fault);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    if (rank == step % request.threads) spin_for_ns(late_ns);
    cells[rank].episode = step;
    barrier.arrive_and_wait(rank);
    for (rank_t other = 0; other < request.threads; ++other) {
      if (cells[other].episode == step || !cells[rank].fault.empty()) continue;
      cells[rank].fault = early_leave(cells[other].episode, step, rank, other);
    }
    barrier.arrive_and_wait(rank);
  }
}

}  // namespace

std::vector<std::uint32_t> seed_words(std::uint64_t seed, rank_t rank) {
  std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed), rank};
  if (seed >> 32 != 0) words.push_back(static_cast<std::uint32_t>(seed >> 32));
  return words;
}

std::string name_of(const episode_kind& kind) {
  if (kind.elements > 0) return fmt::format("axpy{}", kind.elements);
  if (kind.width > 0) return fmt::format("reduce{}", kind.width);
  return kind.what == operation::region ? "empty" : "barrier";
}

std::string early_leave(std::uint64_t read, std::uint64_t step, rank_t reader, rank_t writer) {
  const bool reader_left = read < step;
  return "rank " + std::to_string(reader_left ? reader : writer) + " left episode " +
         std::to_string(reader_left ? 2 * step - 1 : 2 * step) + " while rank " +
         std::to_string(reader_left ? writer : reader) + " was not in it";
}

std::optional<double> floor_between(double before, double after) {
  if (before <= 0 || after <= 0) return std::nullopt;
  const auto [low, high] = std::minmax(before, after);
  if (high > low * regime_factor) return std::nullopt;
  return low;
}

std::optional<double> round_outcome::floor() const {
  return floor_between(floor_before, floor_after);
}

round_outcome run_round(const round_request& request, team& threads, timed_barrier& barrier,
                        neighbours& busy) {
  // What no round exceeds: a chunk may go on beyond the last episode, and delays settle first.
  barrier.prepare(request.warm_up + request.settling + request.episodes + request.chunk);
  busy.select(request.neighbours);
  round r(request, barrier, busy);
  threads.run([&](rank_t rank) { r.run(rank); });
  return r.finish();
}

std::string check_barrier(const round_request& request, team& threads, timed_barrier& barrier) {
  barrier.prepare(128);
  std::vector<published> cells(request.threads);
  threads.run([&](rank_t rank) { check_rank(request, barrier, cells, rank); });
  for (const auto& cell : cells) {
    if (!cell.fault.empty()) return cell.fault;
  }
  return {};
}

}  // namespace tutti::bench
