// SPDX-License-Identifier: Apache-2.0
// The class template tutti::basic_team, of which tutti::team is the one for the native platform.
// Include team.hpp instead: it explains the class and includes the templates.
// Hosted only: it needs threads and the compiled library.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/export.h"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/threads.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/team/compact_values.hpp"
#include "tutti/team/fibers.hpp"
#include "tutti/team/fork_join.hpp"
#include "tutti/team/forward.hpp"
#include "tutti/team/group_sync.hpp"
#include "tutti/team/leakable.hpp"
#include "tutti/team/loop.hpp"
#include "tutti/team/loop_desk.hpp"
#include "tutti/team/member.hpp"
#include "tutti/team/region.hpp"
#include "tutti/team/team_regions.hpp"
#include "tutti/team/virtual_ranks.hpp"

namespace tutti {

struct team_options {
  // The number of threads, including the caller's. 0: one for each physical core that this process
  // may use, but no more than its CPU quota and no more than `ranks`.
  rank_t threads = 0;
  // The number of ranks. 0: one for each thread. More than threads: virtual ranks, which are
  // several fibers on a thread (team/fibers.hpp tells what they must not do).
  rank_t ranks = 0;
  // The name of a barrier of the registry that ends regions and implements member::barrier, or of a
  // provider (barrier/provider.hpp), which implements only member::barrier. Empty: tutti chooses.
  std::string_view barrier = {};
  // The wait policy of a named barrier.
  std::string_view wait = "adaptive";
  // Without a named barrier: the number of threads for which one thread opens the region and from
  // which it collects, itself included. It must be a power of two. 2 gives the recursive barrier of
  // Berger and Stamatakis with the reduction inside.
  rank_t fan = choose::fan_of_regions;
  // With a named barrier the caller combines the threads' contributions. If true, it adds doubles
  // by vector instructions (the SSE3 forms of Berger and Stamatakis), otherwise one after the
  // other. The bits are the same.
  bool vector_sums = true;
  // Where the threads are bound. `none` leaves the thread that makes the team, and the threads that
  // it starts, as they are, and the workers move away from cores that they come to share
  // (docs/teams.md). Any other value also binds the thread that makes the team, as long as the team
  // exists.
  platform::placement place = platform::placement::none;
  fiber_options fibers = {};
  // How long a thread that waits, for the next region or for other ranks, keeps its processor
  // before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
};

// A team on any platform (platform/native.hpp). team/on_platform.hpp has what the compiled library
// has for the native one.
template <class Memory>
class TUTTI_CONTAINERS TUTTI_API basic_team {
  using member = basic_member<Memory>;
  template <class T>
  using atomic = typename Memory::template atomic<T>;

 public:
  // Throws std::invalid_argument for options that cannot be right, and std::system_error if threads
  // cannot be created.
  explicit basic_team(team_options options = {}, call_site made = call_site::here());
  explicit basic_team(rank_t threads, call_site made = call_site::here())
      : basic_team(team_options{.threads = threads}, made) {}
  ~basic_team();
  basic_team(const basic_team&) = delete;
  basic_team& operator=(const basic_team&) = delete;

  rank_t size() const noexcept { return ranks_; }
  rank_t threads() const noexcept { return threads_; }

  // Sets the patience of all waits that begin later. Only the thread that opens the team's regions
  // may call it, between two regions. Returns false if there is a named barrier with a wait policy
  // that has no patience.
  bool set_patience(patience p) noexcept;

  // Calls f(member&) once as each rank and returns when all calls have returned. Throws what f
  // threw on the lowest rank that failed by itself. Inside a region or loop of this team, and while
  // another thread has one open, it calls f on the calling thread alone, in a region of one rank.
  // Throws std::logic_error while a late region (run_for) of this thread has not ended.
  template <class F>
  void run(F&& f);

  // Does the same on the first k ranks. The other threads take no part and receive no message.
  // Throws std::invalid_argument unless 1 <= k <= size().
  template <class F>
  void run(rank_t k, F&& f);

  // Does the same on all ranks and returns the combined results of the calls, in the order of
  // member::reduce. The messages that end the region carry the values. The result of f must be
  // trivially copyable.
  template <class Op, class F>
  auto run_reduce(Op op, F&& f);

  // Calls f(i) for each i from first up to, not including, last, in any order, several at a time.
  // The caller begins at once, and threads that come in time help, so a loop never waits for a
  // thread that sleeps or has no core. f must not wait for another i. Throws what f threw for the
  // lowest i that failed, of those that were begun.
  template <class F>
  void parallel_for(std::size_t first, std::size_t last, F&& f, loop_options how = {});

  // Does the same by calls f(member&, from, to) for parts that cover first .. last-1. The member
  // tells the thread; its collective operations include no other rank.
  template <class F>
  void parallel_parts(std::size_t first, std::size_t last, F&& f, loop_options how = {});

  // Returns the values f(i), combined by `op`: first within a block for each rank in a fixed order
  // (loop.hpp), then in the order of member::reduce. The same size() and bounds give the same bits,
  // whichever threads run the blocks. For an empty loop it returns the identity of `op`, or T{} if
  // `op` has none. `op` must also be commutative, because lanes take turns.
  template <class Op, class F>
  auto parallel_reduce(std::size_t first, std::size_t last, Op op, F&& f);

  // Does the same for an `op` that need not be commutative, such as a product of matrices: the
  // values are combined in the order of i. It is slower for numbers, because it has no lanes.
  template <class Op, class F>
  auto parallel_reduce_in_order(std::size_t first, std::size_t last, Op op, F&& f);

  // Does the same with the same bits for any number of ranks, because the bounds alone determine
  // the parts (loop.hpp).
  template <class Op, class F>
  auto parallel_reduce_any(std::size_t first, std::size_t last, Op op, F&& f);

  // run_for() does what run() does, but waits for the other ranks no longer than `timeout`. If the
  // region is late, call wait_for() until it has ended. Until then this thread can run nothing else
  // on the team, regions of other threads run alone, and everything that f refers to must stay
  // valid. Throws std::invalid_argument if the team has a named barrier.
  template <class Rep, class Period, class F>
  [[nodiscard]] timed_result run_for(std::chrono::duration<Rep, Period> timeout, F&& f);
  template <class Rep, class Period>
  [[nodiscard]] timed_result wait_for(std::chrono::duration<Rep, Period> timeout);

 private:
  friend class basic_member<Memory>;

  // Runs a loop over first .. last-1 whose work calls an F.
  template <class F>
  void run_calls(detail::loop_work& work, std::size_t first, std::size_t last, loop_options how);
  template <class T, std::size_t Lanes, class Op, class F>
  T reduce_blocks(std::size_t first, std::size_t last, Op op, F& f);

  // A job for a worker: a function, and the callable that the function uses (team_calls.hpp).
  struct job {
    // Null tells the worker to end.
    void (*run)(const job&, basic_team&, rank_t thread) = nullptr;
    alignas(8) std::byte callable[48];
  };
  static_assert(sizeof(job) == 56, "with the region's number it shares a line of 64 bytes");
  template <class F>
  struct part;
  template <class F, class Op, class T>
  struct reducing_part;
  template <class F>
  struct first_part;
  using slot = detail::line_value;

  class open_region;

  bool is_virtual() const noexcept { return ranks_ > threads_; }

  // ---- set-up and end (define_team.hpp)
  void choose_sizes();
  void make_regions();
  void make_sync();
  void make_virtual_ranks();
  void start_workers();
  void work(rank_t thread);
  void end_workers() noexcept;
  void leave_to_workers() noexcept;
  void forget_workers() noexcept;

  // ---- fork() (define_team.hpp)
  void note_fork() noexcept;
  void start_again();

  // ---- a region
  template <class Part>
  static job job_for(const Part& part) noexcept;
  template <class Part>
  static const Part& callable_of(const job& j) noexcept;
  template <class F>
  static decltype(auto) run_alone(F& f);

  // Returns false if this thread must run the region alone: inside a region of this team, in a team
  // of one rank, or while another thread has a region open. If it returns true, the caller must
  // clear is_open_. Throws std::logic_error while a late region of this thread has not ended.
  bool begin_region() {
    if (detail::team_here<Memory>() == this || ranks_ == 1) return false;
    // acquire: makes the state of the previous opener visible; pairs with its clearing of is_open_.
    return !is_open_.exchange(true, acquire) || begin_otherwise();
  }
  [[gnu::cold]] bool begin_otherwise();
  void refuse_while_late() const;
  void refuse_width(rank_t k) const;

  // Opens a region for the threads of the first k ranks.
  void open_first(const job& j, rank_t k);
  // Returns the number of threads that have ranks below k.
  rank_t threads_of(rank_t k) const noexcept { return (*members_)[k - 1].thread() + 1; }
  class narrowed;
  timed_result close_by(basic_deadline<Memory> until);
  // Calls report(rank) for each rank that the open region waits for, in ascending order.
  template <class Report>
  void each_unfinished(Report report) const;

  template <class F>
  void call_ranks(rank_t thread, const F& f);
  template <class F>
  void call_rank(member& me, const F& f) noexcept;
  void fail(rank_t rank, std::exception_ptr why) noexcept;
  [[noreturn]] void rethrow_failure();
  // Returns the exception of the lowest rank that failed by itself, and forgets all.
  std::exception_ptr take_failure() noexcept;
  // After a region that has failed: the team can be used again. Returns false if there is no memory
  // for that. The region then leaves is_open_ and clears has_sync_, so that the next one tries
  // again in begin_otherwise().
  bool begin_anew() noexcept;

  // ---- loops (define_loops.hpp)
  struct shared_loop;
  class measured_loop;
  class loop_run;
  void run_loop(detail::loop_work& work, const detail::loop_request<Memory>& request);
  static void help(const job&, basic_team& t, rank_t thread);
  void note_slept_through(rank_t thread) noexcept;
  void leave_core_of_waker() noexcept;
  void begin_waking() noexcept;
  bool wake_another() noexcept;

  // The names in options_ refer to barrier_name_ and wait_name_.
  team_options options_;
  std::string barrier_name_, wait_name_;
  rank_t ranks_ = 1;
  rank_t threads_ = 1;
  // Whether there are more threads than CPUs.
  bool crowded_ = false;

  detail::team_regions<Memory, job> regions_;

  // The collective operations of all threads, and of the first 1, 2, ... threads, which are made
  // when they are needed.
  detail::leakable<detail::group_sync<Memory>> sync_;
  detail::leakable<std::vector<std::unique_ptr<detail::group_sync<Memory>>>> narrow_syncs_;
  detail::leakable<array<member>> members_;
  // With virtual ranks.
  detail::leakable<detail::virtual_ranks<Memory>> virtual_;

  basic_cancellation<Memory> cancelled_;
  // The exception of each rank.
  detail::leakable<std::vector<std::exception_ptr>> failures_;
  // Whether this process is a child that fork() has made without the workers.
  atomic<bool> has_lost_workers_{false};
  // False after a region that has failed and left no collective operations, for lack of memory.
  atomic<bool> has_sync_{true};
  alignas(cache_line) atomic<bool> is_open_{false};
  // While a region is late: the thread that opened it, identified by the address of its team_here.
  atomic<const void*> late_opener_{nullptr};
  std::shared_ptr<void> late_callable_;

  detail::leakable<loop_desk<shared_loop*, Memory>> desk_;
  // The members that the parts of loops receive, one for each thread.
  detail::leakable<array<member>> helpers_;
  // Loops during which no worker was awake and which followed each other closely. Times are in
  // ticks. All members are hints.
  struct missed_loops {
    // When the first loop began and the last one ended.
    atomic<std::uint64_t> since{0}, end{0};
    // The time of all loops and the time between them.
    atomic<float> ticks{0}, gaps{0};
    // The number of loops after the first.
    atomic<std::uint32_t> followers{0};
  };
  missed_loops missed_;
  // The next thread to wake in a loop that is worth it; threads_ otherwise.
  atomic<rank_t> next_to_wake_{0};
  // The CPU of the loop's caller when it began to wake workers, or -1 if it has woken none.
  atomic<int> waker_cpu_{-1};

  typename Memory::threads workers_;
};

}  // namespace tutti
