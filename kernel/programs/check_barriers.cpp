// SPDX-License-Identifier: Apache-2.0
// `check-barriers`: the conformance suite of tests/conformance on the kernel's platform, with the
// same algorithms and wait policies, without a hosted library. `episodes=N` is the number of each
// run; `participants=N` leaves out the runs of other numbers of participants.
//
// All participants publish plain data before they arrive and read the data of all when they leave.
// A counter of arrivals shows who leaves before the last has arrived, and who comes too often.
#include "kernel/core/hardware_barrier.hpp"
#include "kernel/core/memory.hpp"
#include "kernel/platform/policy.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "tutti/barrier/atomic.hpp"
#include "tutti/barrier/central.hpp"
#include "tutti/barrier/combining.hpp"
#include "tutti/barrier/counting.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/barrier/flags.hpp"
#include "tutti/barrier/hierarchical.hpp"
#include "tutti/barrier/mcs.hpp"
#include "tutti/barrier/mutex.hpp"
#include "tutti/barrier/pool.hpp"
#include "tutti/barrier/recursive.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"
#include "tutti/wait/yield.hpp"

namespace tutti::kernel {

namespace {

constexpr rank_t most_participants = 64;

enum class manner { at_once, random_delays, late_start };

// One run of one barrier.
template <class Barrier>
class attendance {
 public:
  attendance(Barrier& barrier, rank_t n, u64 episodes, manner how) noexcept
      : barrier_(barrier), n_(n), episodes_(episodes), how_(how) {}

  // Returns the first complaint, or null.
  const char* run() noexcept {
    thread* threads[most_participants];
    for (rank_t r = 0; r < n_; ++r) {
      places_[r] = {this, r};
      threads[r] = create(r % cores(), start, &places_[r], "participant");
    }
    for (rank_t r = 0; r < n_; ++r) join(threads[r]);
    // relaxed: all threads have been joined.
    if (complaint_.load(relaxed) == nullptr && arrivals_.load(relaxed) != n_ * episodes_)
      return "arrivals are missing";
    // relaxed: the same.
    return complaint_.load(relaxed);
  }

 private:
  struct place {
    attendance* all;
    rank_t rank;
  };
  struct alignas(16) sheet {
    u64 text = 0;
  };

  static void start(void* argument) {
    const place& mine = *static_cast<place*>(argument);
    mine.all->attend(mine.rank);
  }

  static u64 text_of(rank_t rank, u64 episode) noexcept { return episode << 16 | rank; }

  void attend(rank_t rank) noexcept {
    u64 random = rank + 1;
    if (how_ == manner::late_start && rank % 2 == 1)
      sleep_until(machine::ticks() + (500 + 100 * rank) * machine::ticks_per_us());
    for (u64 e = 0; e < episodes_; ++e) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (how_ == manner::random_delays) delay(random >> 33);
      sheet* board = boards_[e % 2];
      board[rank].text = text_of(rank, e);
      // relaxed: the counter must not provide what the barrier has to.
      arrivals_.fetch_add(1, relaxed);
      barrier_.arrive_and_wait(rank);
      // relaxed: the same.
      const u64 arrived = arrivals_.load(relaxed);
      if (arrived < (e + 1) * n_) complain("a participant left before the last arrived");
      if (arrived > (e + 2) * n_) complain("a participant arrived twice");
      for (rank_t other = 0; other < n_; ++other)
        if (board[other].text != text_of(other, e)) complain("a participant read outdated data");
    }
  }

  static void delay(u64 random) noexcept {
    if (random % 8 < 4) return;
    if (random % 8 == 7)
      return sleep_until(machine::ticks() + random % 100 * machine::ticks_per_us());
    if (random % 8 == 6) return yield();
    for (u64 i = 0; i < random % 200; ++i) machine::pause();
  }

  void complain(const char* what) noexcept {
    const char* none = nullptr;
    // relaxed: join() orders it.
    complaint_.compare_exchange_strong(none, what, relaxed, relaxed);
  }

  Barrier& barrier_;
  rank_t n_;
  u64 episodes_;
  manner how_;
  sheet boards_[2][most_participants];
  place places_[most_participants];
  alignas(cache_line) std::atomic<u64> arrivals_{0};
  std::atomic<const char*> complaint_{nullptr};
};

// All but the last participant come, and give up.
template <class Barrier>
bool gives_up(Barrier& barrier, rank_t n) noexcept {
  std::atomic<u32> in_time{0};
  run_on_cores(n - 1, [&](u32 rank) {
    const bool is_complete =
        barrier.arrive_and_wait(rank, basic_deadline<memory>(now_ns() + 1'000'000));
    // relaxed: join() orders it.
    if (is_complete) in_time.fetch_add(1, relaxed);
  });
  return in_time.load(relaxed) == 0;
}

struct course {
  checks& all;
  u64 episodes;
  // 0: all numbers of participants.
  u64 participants;
  u64 runs = 0;
};

template <class Barrier, class... Options>
void check(course& c, const char* algorithm, const char* wait, bool burns_the_core,
           Options... options) {
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 16u, 17u}) {
    // More threads than cores that spin make an episode of many time slices.
    if (n > (burns_the_core ? cores() : 4 * cores()) || n > most_participants) continue;
    if (c.participants != 0 && n != c.participants) continue;
    for (const manner how : {manner::at_once, manner::random_delays, manner::late_start}) {
      void* room = allocate_aligned(alignof(Barrier), sizeof(Barrier));
      Barrier* barrier = new (room) Barrier(n, options...);
      using run = attendance<Barrier>;
      run* attending = new (allocate_aligned(alignof(run), sizeof(run)))
          run(*barrier, n, how == manner::at_once ? c.episodes : c.episodes / 6 + 2, how);
      const char* complaint = attending->run();
      c.all.expect(complaint == nullptr, algorithm, ", ", wait, ", n = ", n, ": ", complaint);
      ++c.runs;
      give_back(attending);
      barrier->~Barrier();
      give_back(barrier);
    }
  }
  if (cores() < 3) return;
  Barrier incomplete(3, options...);
  c.all.expect(gives_up(incomplete, 3), algorithm, ", ", wait,
               ": a barrier was complete without its last participant");
}

// Groups of three participants, of which the last may be smaller: those that share a cache, as far
// as a hierarchical barrier knows.
class groups_of_three {
 public:
  explicit groups_of_three(rank_t n) noexcept : count_((n + 2) / 3) {
    for (rank_t g = 0; g < count_; ++g) sizes_[g] = n - 3 * g < 3 ? n - 3 * g : 3;
  }
  std::size_t size() const noexcept { return count_; }
  rank_t operator[](std::size_t g) const noexcept { return sizes_[g]; }
  const rank_t* begin() const noexcept { return sizes_; }
  const rank_t* end() const noexcept { return sizes_ + count_; }

 private:
  rank_t count_;
  rank_t sizes_[most_participants] = {};
};
template <class Wait>
class barrier_of_groups : public hierarchical_barrier<memory, Wait> {
 public:
  explicit barrier_of_groups(rank_t n) : hierarchical_barrier<memory, Wait>(groups_of_three(n)) {}
};

// The instructions of Hetland et al. as a barrier.
class instruction_barrier {
 public:
  explicit instruction_barrier(rank_t n) noexcept
      : number_(static_cast<u64>(create_barrier((u64{2} << (n - 1)) - 1))) {}
  ~instruction_barrier() { destroy_barrier(number_); }
  instruction_barrier(const instruction_barrier&) = delete;
  instruction_barrier& operator=(const instruction_barrier&) = delete;

  void arrive_and_wait(rank_t rank) noexcept {
    if (!is_initialised_[rank]) execute_barinit(number_);
    is_initialised_[rank] = true;
    execute_barwait(number_);
  }

 private:
  u64 number_;
  bool is_initialised_[most_participants] = {};
};

void check_instructions(course& c) {
  for (rank_t n = 1; n <= cores() && n <= 16; ++n) {
    if (c.participants != 0 && n != c.participants) continue;
    instruction_barrier barrier(n);
    attendance<instruction_barrier> attending(barrier, n, c.episodes, manner::random_delays);
    const char* complaint = attending.run();
    c.all.expect(complaint == nullptr, "barwait, n = ", n, ": ", complaint);
    ++c.runs;
  }
  c.all.expect(create_barrier(0) == -1, "a barrier without the caller was made");
  c.all.expect(create_barrier(~u64{0}) == -1 || cores() == 64,
               "a barrier of absent cores was made");
}

template <class Wait>
void check_all(course& c, const char* wait, bool burns) {
  check<counting_barrier<memory, Wait>>(c, "counting", wait, burns);
  check<central_barrier<memory, Wait>>(c, "central", wait, burns);
  check<ticket_barrier<memory, Wait>>(c, "ticket", wait, burns);
  check<pool_barrier<memory, Wait>>(c, "pool", wait, burns);
  check<striped_barrier<memory, Wait>>(c, "striped", wait, burns);
  check<flags_barrier<memory, Wait, false>>(c, "flags", wait, burns);
  check<flags_barrier<memory, Wait, true>>(c, "flags_padded", wait, burns);
  check<recursive_barrier<memory, Wait, false>>(c, "recursive", wait, burns);
  check<recursive_barrier<memory, Wait, true>>(c, "recursive_padded", wait, burns);
  check<atomic_barrier<memory, Wait>>(c, "atomic", wait, burns);
  check<mutex_barrier<memory, Wait>>(c, "mutex", wait, burns);
  check<combining_barrier<memory, Wait>>(c, "combining", wait, burns);
  check<mcs_barrier<memory, Wait, 4, 2>>(c, "mcs", wait, burns);
  check<dissemination_barrier<memory, Wait>>(c, "dissemination", wait, burns);
  check<dissemination_barrier<memory, Wait>>(c, "dissemination_4", wait, burns, 4u);
  check<tournament_barrier<memory, Wait>>(c, "tournament", wait, burns);
  check<barrier_of_groups<Wait>>(c, "hierarchical", wait, burns);
}

}  // namespace

bool check_barriers(const char* line) {
  checks all;
  course c{all, text::number_of(line, "episodes", 200), text::number_of(line, "participants", 0)};
  check_all<spin_wait<memory>>(c, "spin", true);
  check_all<yield_wait<memory>>(c, "yield", false);
  check_all<park_wait<memory>>(c, "park", false);
  check_all<adaptive_wait<memory>>(c, "adaptive", false);
  check_instructions(c);
  print("{\"type\":\"conformance\",\"runs\":", c.runs, "}");
  return all.report("check-barriers");
}

}  // namespace tutti::kernel
