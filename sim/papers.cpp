// SPDX-License-Identifier: Apache-2.0
// Barriers as papers have them, to compare simulations with printed figures. tutti's own algorithms
// of the same names differ in what matters here: how wide a flag is, who resets it, and through how
// many words the release goes.
#include <array>
#include <bit>

#include "sim/contenders.hpp"
#include "sim/simulated.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::sim {
namespace {

template <class T>
using word = simulated_atomic<T>;

// Volatile variables of x86: a load is an acquire, a store a release.
template <class T>
T get(const word<T>& w) noexcept {
  // acquire: what x86 gives every load.
  return w.load(acquire);
}
template <class T>
void set(word<T>& w, T value) noexcept {
  // release: what x86 gives every store.
  w.store(value, release);
}

// ---- Berger and Stamatakis 2010, section III: parallel regions of a master and workers, compiled
// without optimisation.

// An iteration of the loop that adds flags: the sum and the index go through the store buffer.
// Assumed: 6 cycles, of which a store and the load that it forwards to take 5.
constexpr double cycles_of_sum = 6;

void spend_cycles(double cycles) noexcept {
  if (world* const w = world::current()) w->spend(picoseconds(cycles / w->hardware().clock_ghz));
}

template <class Sync>
class region final : public repeated_object {
 public:
  explicit region(rank_t n) : n_(n), sync_(n, globals_.counter), cycles_(n) {}

  void episode(rank_t rank) override {
    if (rank == 0) {
      set(globals_.job_cycle, get(globals_.job_cycle) == 0 ? 1 : 0);
      do_work(rank);
      sync_.master(n_);
      return;
    }
    int& mine = cycles_[rank].value;
    while (mine == get(globals_.job_cycle)) simulated::relax();
    mine = get(globals_.job_cycle);
    do_work(rank);
    sync_.worker(rank);
  }

 private:
  // Two global variables of a program, which its linker puts side by side.
  struct alignas(cache_line) globals {
    word<int> job_cycle{0}, counter{0};
  };
  rank_t n_;
  globals globals_;
  Sync sync_;
  array<padded<int>> cycles_;
};

// One byte for each thread, from a multiple of 64 on: side by side, or 64 bytes apart.
template <bool Padded>
class byte_flags {
 public:
  explicit byte_flags(rank_t n) : lines_(Padded ? n : (n + 63) / 64) {}
  word<std::uint8_t>& operator[](rank_t i) noexcept {
    return Padded ? lines_[i].bytes[0] : lines_[i / 64].bytes[i % 64];
  }

 private:
  struct alignas(64) line {
    std::array<word<std::uint8_t>, 64> bytes{};
  };
  array<line> lines_;
};

template <bool Padded>
class lock_free {
 public:
  lock_free(rank_t n, word<int>&) : flags_(n) {}
  void worker(rank_t rank) noexcept { set(flags_[rank], std::uint8_t{1}); }
  void master(rank_t n) noexcept {
    rank_t sum = 0;
    do {
      sum = 1;
      for (rank_t i = 1; i < n; ++i) {
        sum += get(flags_[i]);
        spend_cycles(cycles_of_sum);
      }
    } while (sum < n);
    for (rank_t i = 1; i < n; ++i) set(flags_[i], std::uint8_t{0});
  }

 private:
  byte_flags<Padded> flags_;
};

// The paper does not print this one's source: a thread waits for its partners' flags in turn,
// resets them, and sets its own.
template <bool Padded>
class recursive {
 public:
  recursive(rank_t n, word<int>&) : n_(n), flags_(n) {}
  void worker(rank_t rank) noexcept {
    collect(rank);
    set(flags_[rank], std::uint8_t{1});
  }
  void master(rank_t) noexcept { collect(0); }

 private:
  void collect(rank_t rank) noexcept {
    for (rank_t step = 1; step < n_ && (rank & step) == 0; step *= 2) {
      if (rank + step >= n_) continue;
      while (get(flags_[rank + step]) == 0) simulated::relax();
      set(flags_[rank + step], std::uint8_t{0});
    }
  }
  rank_t n_;
  byte_flags<Padded> flags_;
};

// The counter has a line of its own, or is a global variable beside jobCycle, which all workers
// poll that have arrived.
template <bool Beside>
class atomic_inc_add {
 public:
  atomic_inc_add(rank_t, word<int>& beside) : counter_(Beside ? beside : own_.value) {}
  // seq_cst: __sync_fetch_and_add is a full barrier.
  void worker(rank_t) noexcept { counter_.fetch_add(1, seq_cst); }
  void master(rank_t n) noexcept {
    while (get(counter_) != static_cast<int>(n) - 1) simulated::relax();
    set(counter_, 0);
  }

 private:
  padded<word<int>> own_;
  word<int>& counter_;
};

class mutex_inc_add {
 public:
  mutex_inc_add(rank_t, word<int>&) {}
  void worker(rank_t) noexcept {
    mutex_.value.lock();
    set(counter_.value, get(counter_.value) + 1);
    mutex_.value.unlock();
  }
  void master(rank_t n) noexcept {
    while (get(counter_.value) != static_cast<int>(n) - 1) simulated::relax();
    set(counter_.value, 0);
  }

 private:
  padded<word<int>> counter_;
  padded<simulated_mutex> mutex_;
};

// ---- Hetland et al. 2019

// GCC's libgomp (config/linux/bar.c): a counter, a word that all poll, and a wake-up call at each
// release. Waiters of a machine that is not crowded poll for seconds.
class libgomp final : public repeated_object {
 public:
  // relaxed: the threads begin afterwards.
  explicit libgomp(rank_t n) : n_(n) { awaited_.value.store(n, relaxed); }
  void episode(rank_t rank) override {
    do_work(rank);
    const std::uint32_t generation = get(generation_.value);
    // acq_rel: as libgomp has it.
    if (awaited_.value.fetch_sub(1, acq_rel) == 1) {
      // relaxed: the new generation publishes it.
      awaited_.value.store(n_, relaxed);
      set(generation_.value, generation + 4);
      simulated::unpark(generation_.value);
      return;
    }
    while (get(generation_.value) == generation) simulated::relax();
  }

 private:
  rank_t n_;
  padded<word<std::uint32_t>> awaited_, generation_;
};

// glibc's pthread_barrier_wait since 2.25 (nptl/pthread_barrier_wait.c): arrivals count themselves
// in, the last of a round publishes how many may leave, and the others sleep until then. All words
// are on one line. Without the reset after 2^31 arrivals.
class pthread_barrier final : public repeated_object {
 public:
  explicit pthread_barrier(rank_t n) : n_(n) {}
  void episode(rank_t rank) override {
    do_work(rank);
    words& w = words_;
    // acq_rel: as glibc has it.
    const std::uint32_t mine = w.in.fetch_add(1, acq_rel) + 1;
    // relaxed: as glibc has it. Its acquire fence at the end is no instruction of x86.
    std::uint32_t left = w.round.load(relaxed);
    while (left + n_ <= mine) {
      const std::uint32_t all = mine - mine % n_;
      // release: as glibc has it.
      if (!w.round.compare_exchange_weak(left, all, release, relaxed)) continue;
      left = all;
      simulated::unpark(w.round);
      break;
    }
    while (mine > left) {
      simulated::park(w.round, left, UINT64_MAX);
      // relaxed: as above.
      left = w.round.load(relaxed);
    }
    // release: as glibc has it.
    w.out.fetch_add(1, release);
  }

 private:
  struct alignas(cache_line) words {
    word<std::uint32_t> in{0}, round{0}, out{0};
  };
  rank_t n_;
  words words_;
};

// Mellor-Crummey and Scott 1991, algorithm 10: a tournament whose champion releases all by one
// word.
class tournament_one_word final : public repeated_object {
 public:
  explicit tournament_one_word(rank_t n) : game_(n), players_(n) {}
  void episode(rank_t rank) override {
    do_work(rank);
    player& me = players_[rank];
    const std::uint32_t episode = ++me.episode;
    const rank_t won = game_.rounds_won(rank);
    for (rank_t round = 0; round < won && game_.has_opponent(round, rank); ++round)
      while (get(players_[game_.opponent(round, rank)].lost) != episode) simulated::relax();
    if (rank == 0) {
      set(go_.value, episode);
      return;
    }
    set(me.lost, episode);
    while (get(go_.value) != episode) simulated::relax();
  }

 private:
  struct alignas(cache_line) player {
    word<std::uint32_t> lost{0};
    std::uint32_t episode = 0;
  };
  schedule::tournament game_;
  array<player> players_;
  padded<word<std::uint32_t>> go_;
};

template <class Repeated>
contender paper(const char* family, const char* name, const char* summary, polling polls) {
  return {.family = family,
          .name = name,
          .wait = "",
          .summary = summary,
          .polls = polls,
          .polls_without_end = true,
          .make = [](rank_t n) -> std::unique_ptr<repeated_object> {
            return std::make_unique<Repeated>(n);
          }};
}

template <class Sync>
contender of_berger(const char* name, const char* summary) {
  contender made = paper<region<Sync>>("berger_stamatakis", name, summary, polling::nothing);
  made.is_barrier = false;
  return made;
}

contender of_glibc() {
  contender made = paper<pthread_barrier>("pthread", "pthread_barrier",
                                          "glibc's barrier, whose waiters sleep", polling::nothing);
  made.polls_without_end = false;
  return made;
}

}  // namespace

std::vector<contender> paper_barriers() {
  return {
      of_berger<lock_free<false>>("bs_lock_free", "a region, byte flags, read in turn"),
      of_berger<lock_free<true>>("bs_lock_free_padded", "a region, flags on lines of their own"),
      of_berger<recursive<false>>("bs_recursive", "a region, byte flags along a tree"),
      of_berger<recursive<true>>("bs_recursive_padded", "a region, flags on lines along a tree"),
      of_berger<atomic_inc_add<false>>("bs_atomic_inc_add",
                                       "a region, a counter incremented atomically"),
      of_berger<atomic_inc_add<true>>("bs_atomic_inc_add_beside",
                                      "the same, beside the variable that starts the region"),
      of_berger<mutex_inc_add>("bs_mutex_inc_add", "a region, a counter under a mutex"),
      paper<libgomp>("libgomp", "libgomp", "GCC's OpenMP barrier", polling::one_pause),
      of_glibc(),
      paper<tournament_one_word>("mellor_crummey_scott", "tournament_one_word",
                                 "a tournament that releases by one word", polling::one_pause),
  };
}

}  // namespace tutti::sim
