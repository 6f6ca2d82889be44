// SPDX-License-Identifier: Apache-2.0
// The class of team.hpp, which is what to include: it explains it and brings the templates too.
// Hosted only: threads. Needs the compiled library.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/export.h"
#include "tutti/platform/topology.hpp"
#include "tutti/team/compact_values.hpp"
#include "tutti/team/fibers.hpp"
#include "tutti/team/fork_join.hpp"
#include "tutti/team/loop.hpp"
#include "tutti/team/loop_desk.hpp"
#include "tutti/team/meeting.hpp"
#include "tutti/team/member.hpp"
#include "tutti/team/region.hpp"

namespace tutti {

struct team_options {
  // Threads, the caller's included. 0: one for each physical core that this process may use, no more than its CPU
  // quota, and no more than `ranks`.
  rank_t threads = 0;
  // 0: one for each thread. More: virtual ranks, several fibers on a thread (team/fibers.hpp says what they must not
  // do).
  rank_t ranks = 0;
  // A barrier of the registry: it ends regions, and is member::barrier. Empty: tutti's choice.
  std::string_view barrier = {};
  // How a named barrier waits.
  std::string_view wait = "adaptive";
  // Without a named barrier: how many threads one thread opens the region for and collects from; a power of two. 2 is
  // the recursive barrier of paper 002 with the reduction inside.
  rank_t fan = 16;
  // With a named barrier the caller adds what the threads left: doubles by vector instructions (the SSE3 forms of paper
  // 002), or one after the other. The bits are the same.
  bool vector_sums = true;
  // Where the threads are bound. `none` leaves the thread that makes the team, and all that it starts, as they are; the
  // workers keep off the cores that they come to share (docs/teams.md). Anything else binds the maker's thread too, as long
  // as the team lives.
  platform::placement place = platform::placement::none;
  fiber_options fibers = {};
  // For how long a thread that waits, for the next region or for others, keeps its processor before it sleeps
  // (wait/patience.hpp).
  tutti::patience patience = {};
};

class TUTTI_API team {
 public:
  // Throws std::invalid_argument for options that cannot be right, std::system_error if threads cannot be made.
  explicit team(team_options options = {});
  explicit team(rank_t threads) : team(team_options{.threads = threads}) {}
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  rank_t size() const noexcept { return ranks_; }
  rank_t threads() const noexcept { return threads_; }

  // From the next wait on. Called by whoever opens the team's regions, between two of them. False: a named barrier waits by
  // a policy that has no patience.
  bool set_patience(patience p) noexcept;

  // Calls f(member&) once as each rank; returns when all calls have returned. Throws what f threw as the lowest rank that
  // failed by itself. Runs f on the calling thread alone, in a region of one rank, inside a region or loop of this team, and
  // while another thread has one open. Throws std::logic_error while a late region (run_for) of this thread has not ended.
  template <class F>
  void run(F&& f);

  // The same on the first k ranks; the other threads hear nothing of it. Throws std::invalid_argument unless
  // 1 <= k <= size().
  template <class F>
  void run(rank_t k, F&& f);

  // The same, and combines what the calls return, as member::reduce does, in the messages that end the region.
  template <class Op, class F>
  auto run_reduce(Op op, F&& f);

  // Calls f(i) for each i from first up to, not including, last, in any order, several at a time. The caller begins at
  // once; the others help as far as they come in time, so that a loop never waits for a thread that sleeps or has no core.
  // f must not wait for another i. Throws what f threw for the lowest i that failed, of those that were begun.
  template <class F>
  void parallel_for(std::size_t first, std::size_t last, F&& f, loop_options how = {});

  // The same by f(member&, from, to) for parts that cover first .. last-1. The member says which thread it is; it has nobody
  // to meet.
  template <class F>
  void parallel_parts(std::size_t first, std::size_t last, F&& f, loop_options how = {});

  // The f(i) combined by `op`: first within a block for each rank in a fixed order (loop.hpp), then as member::reduce does.
  // The same bits for the same size() and bounds, whoever runs the blocks. The identity of `op` if the loop is empty, or T{} if it has none. `op`
  // is commutative, too: lanes take turns.
  template <class Op, class F>
  auto parallel_reduce(std::size_t first, std::size_t last, Op op, F&& f);

  // The same with the same bits for any number of ranks: parts are fixed by the bounds alone (loop.hpp).
  template <class Op, class F>
  auto parallel_reduce_any(std::size_t first, std::size_t last, Op op, F&& f);

  // As run(), but waits for the other ranks no longer than `timeout`. After a late region: wait_for() again; until it
  // has ended, nothing else may be run, and what f refers to must live. With tutti's own barrier only.
  template <class Rep, class Period, class F>
  [[nodiscard]] timed_result run_for(std::chrono::duration<Rep, Period> timeout, F&& f);
  template <class Rep, class Period>
  [[nodiscard]] timed_result wait_for(std::chrono::duration<Rep, Period> timeout);

 private:
  friend class member;

  // What a worker is told: a function, and the callable that it works on (team_calls.hpp).
  struct job {
    void (*run)(const job&, team&, rank_t thread) = nullptr;  // null: end
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

  // The virtual ranks of one thread.
  struct alignas(cache_line) thread_group {
    std::optional<fiber_group> fibers;
    rank_t first_rank = 0;
    rank_t size = 0;  // that take part in the region
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<std::uint32_t> episode{0};
    slot result;
  };
  class open_region;
  struct binding;

  bool is_virtual() const noexcept { return ranks_ > threads_; }

  // ---- set up and taken down (src/team/team.cpp)
  void choose_sizes();
  void make_regions();
  void make_meeting();
  void make_virtual_ranks();
  void start_workers();
  void work(rank_t thread);
  void end_workers() noexcept;

  // ---- a region
  template <class Part>
  static job job_for(const Part& part) noexcept;
  template <class Part>
  static const Part& callable_of(const job& j) noexcept;
  template <class F>
  static decltype(auto) run_alone(F& f);

  // False if this thread must run it alone: inside a region of this team, without anybody else, or while another thread has
  // a region open. Throws std::logic_error while a late one of this thread has not ended. True: is_open_ is mine to clear.
  bool begin_region() {
    if (detail::team_here == this || ranks_ == 1) return false;
    // acquire: whoever finds the team free goes on where the opener before has left it; pairs with the clearing.
    if (is_open_.exchange(true, acquire)) [[unlikely]] {
      refuse_while_late();
      return false;
    }
    return true;
  }
  void refuse_while_late() const;
  void refuse_width(rank_t k) const;

  void open(const job& j) {
    if (named_region_ == nullptr) [[likely]]
      return regions_->open(j);
    named_job_ = j;
    named_region_->open();
  }
  void end_part(rank_t thread) {
    if (named_region_ == nullptr) [[likely]]
      return regions_->arrive(thread);
    named_region_->close(thread);
  }
  void close() {
    if (named_region_ == nullptr) [[likely]]
      static_cast<void>(regions_->close());
    else
      named_region_->close(0);
  }
  // The same on the threads of the first k ranks.
  void open_first(const job& j, rank_t k);
  void close_first(rank_t k);
  // Threads that have ranks below k.
  rank_t threads_of(rank_t k) const noexcept { return (*members_)[k - 1].thread() + 1; }
  // While it lives, the thread's ranks are ranks of a region of k.
  class narrowed;
  template <class T, class Op>
  void end_part(rank_t thread, const T& value, const Op& op);
  template <class T, class Op>
  T close(const T& mine, const Op& op);
  template <class T, class Op>
  T fold_contributions(const Op& op) const;
  timed_result close_by(deadline until);
  std::vector<rank_t> unfinished_ranks() const;

  template <class F>
  void call_ranks(rank_t thread, const F& f);
  template <class F>
  void call_rank(member& me, const F& f) noexcept;
  void fail(rank_t rank, std::exception_ptr why) noexcept;
  [[noreturn]] void rethrow_failure();
  // Of the lowest rank that failed by itself; the team can be used again.
  std::exception_ptr take_failure();

  template <class T, class Op>
  T fold_of_thread(const detail::compact_values& values, rank_t thread, const Op& op) const;

  // ---- loops (src/team/loop.cpp)
  struct shared_loop;
  class loop_run;
  void run_loop(detail::loop_work& work, const detail::loop_request& request);
  static void help(const job&, team& t, rank_t thread);
  void begin_waking() noexcept;
  bool wake_another() noexcept;

  // ---- where virtual ranks meet
  // The last rank of each thread calls meet_threads() for all of them. False if the region is cancelled.
  template <class MeetThreads>
  bool meet_virtually(member& me, MeetThreads meet_threads);
  bool meet_virtually(member& me);
  template <class T>
  const detail::compact_values& post_virtually(member& me, const T& value);
  template <class Op, class T>
  T reduce_virtually(member& me, const Op& op, const T& value);
  // The same of values that stay where they are: the last rank of each thread puts combine(get), *get(rank) is the
  // rank's value, into its `of_all`, for all of them. Nobody's `value` or `of_all` may go before all have met again.
  template <class V, class Combine, class T>
  const T& combine_virtually(member& me, const V& value, const Combine& combine, T& of_all);

  team_options options_;  // its names are views: see barrier_name_, wait_name_
  std::string barrier_name_, wait_name_;
  rank_t ranks_ = 1;
  rank_t threads_ = 1;
  bool crowded_ = false;  // more threads than CPUs

  std::optional<fork_join<job, slot>> regions_;
  std::unique_ptr<any_region> named_region_;  // instead
  job named_job_;                             // published by named_region_
  detail::compact_values contributions_;      // of threads, to a named region

  std::unique_ptr<detail::meeting> meeting_;  // of the threads
  std::vector<std::unique_ptr<detail::meeting>>
      narrow_meetings_;  // of the first so many, made when they are wanted
  std::optional<array<member>> members_;
  std::optional<array<thread_group>> groups_;  // of virtual ranks
  detail::compact_values rank_values_[2];      // of virtual ranks inside a region, in turn
  detail::compact_values rank_results_;        // of virtual ranks, of a region
  bool threads_are_subtrees_ =
      false;  // each thread's virtual ranks are a subtree of the tournament
  std::optional<array<std::atomic<bool>>> has_ended_;  // virtual ranks, for messages

  cancellation cancelled_;
  std::vector<std::exception_ptr> failures_;  // by rank
  alignas(cache_line) std::atomic<bool> is_open_{false};
  // While a region is late: who opened it, by the address of its team_here.
  std::atomic<const void*> late_opener_{nullptr};
  std::shared_ptr<void> late_callable_;

  std::optional<loop_desk<shared_loop*>> desk_;
  std::optional<array<member>> helpers_;  // what parts of loops see of the threads
  // Time of loops that nobody was awake for, in ticks, and when the last of them began.
  std::atomic<float> missed_{0};
  std::atomic<std::uint64_t> last_missed_{0};
  std::atomic<rank_t> next_to_wake_{0};  // in a loop that is worth it; otherwise threads_

  std::vector<std::thread> workers_;
  std::unique_ptr<binding> caller_binding_;
};

}  // namespace tutti
