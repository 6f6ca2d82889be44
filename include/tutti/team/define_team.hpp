// SPDX-License-Identifier: Apache-2.0
// Defines how teams are made and end: sizes, threads and virtual ranks. It also handles ranks that
// fail or are late. team/on_platform.hpp says who includes it.
// Hosted only: it needs exceptions.
#pragma once

#include <algorithm>
#include <bit>
#include <exception>
#include <stdexcept>
#include <string>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/team/team.hpp"

namespace tutti {

namespace detail {
// For a catch (...) that has no exception: pthread_exit() or a cancellation unwinds the thread.
[[noreturn]] inline void refuse_end_of_thread(const std::string& who) {
  on_misuse(who +
                " ends its thread inside a region of a team, by pthread_exit or a cancellation: "
                "the region could never end",
            {"tutti::team", 0});
  std::terminate();
}

inline std::string counted_as(rank_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}
}  // namespace detail

template <class Memory>
basic_team<Memory>::basic_team(team_options options, call_site made)
    : options_(options),
      barrier_name_(detail::named_barriers<Memory>::is_tuttis_choice(options.barrier)
                        ? std::string_view()
                        : options.barrier),
      wait_name_(options.wait) {
  options_.barrier = options_.wait = {};
  options_.fibers.checks = options_.fibers.checks.value_or(made.checks());
  choose_sizes();
  make_sync();
  make_regions();
  make_virtual_ranks();
  start_workers();
}

template <class Memory>
bool basic_team<Memory>::set_patience(patience p) noexcept {
  // make_sync() uses it after a failed region.
  options_.patience = p;
  // There is none after a failed region without memory for it.
  if (sync_) sync_->set_patience(p);
  // They are made again with the new patience.
  narrow_syncs_->clear();
  desk_->set_patience(p);
  return regions_.set_patience(p);
}

template <class Memory>
basic_team<Memory>::~basic_team() {
  // acquire: as in begin_anew.
  if (has_lost_workers_.load(acquire)) {
    forget_workers();
    return;
  }
  // relaxed: this thread stored them, or was synchronised with the thread that did.
  const bool is_open =
      is_open_.load(relaxed) && late_opener_.load(relaxed) == nullptr && has_sync_.load(relaxed);
  if (is_open || detail::team_here<Memory>() == this) {
    leave_to_workers();
    return;
  }
  // The ranks of a late region use objects of the caller, so they must end first.
  // relaxed: this thread stored it, or was synchronised with the thread that did.
  if (late_opener_.load(relaxed) != nullptr) regions_.close();
  end_workers();
}

template <class Memory>
void basic_team<Memory>::choose_sizes() {
  constexpr rank_t most = 0xffff;
  const rank_t threads = options_.threads, ranks = options_.ranks;
  if (threads > most || ranks > most)
    refuse("a team has at most " + detail::counted_as(most, "rank") + ", not " +
           std::to_string((std::max)(threads, ranks)));
  if (ranks != 0 && threads > ranks)
    refuse("a team of " + detail::counted_as(ranks, "rank") + " cannot use " +
           detail::counted_as(threads, "thread"));
  if (barrier_name_.empty() && wait_name_ != team_options{}.wait)
    refuse("wait policy '" + wait_name_ +
           "' needs a named barrier: tutti's choice always waits adaptively");
  if (!std::has_single_bit(options_.fan) || options_.fan < 2)
    refuse("a team's fan must be a power of two, not " + std::to_string(options_.fan));
  threads_ = threads != 0 ? threads : Memory::cores();
  if (ranks != 0) threads_ = (std::min)(threads_, ranks);
  ranks_ = ranks != 0 ? ranks : threads_;
  crowded_ = threads_ > Memory::cpus();
  failures_.emplace(ranks_);
}

template <class Memory>
void basic_team<Memory>::make_sync() {
  // A provider may have only one barrier at a time.
  narrow_syncs_.emplace();
  sync_.emplace(threads_, crowded_, is_virtual(), barrier_name_, wait_name_, options_.patience,
                cancelled_);
  if (members_)
    for (member& m : *members_) m.sync_ = &*sync_;
}

template <class Memory>
void basic_team<Memory>::make_regions() {
  if (!detail::named_barriers<Memory>::ends_regions(barrier_name_)) {
    regions_.use_messages(threads_, crowded_, options_.fan);
    regions_.set_patience(options_.patience);
  } else {
    regions_.use_name(detail::named_barriers<Memory>::make_region(barrier_name_, threads_,
                                                                  wait_name_, options_.patience),
                      threads_, options_.vector_sums);
  }
  members_.emplace(ranks_);
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    member& m = (*members_)[rank];
    m.team_ = this;
    m.sync_ = &*sync_;
    m.rank_ = m.thread_ = rank;
    m.size_ = ranks_;
  }
  desk_.emplace(threads_);
  desk_->set_patience(options_.patience);
  // relaxed: there are no workers yet.
  next_to_wake_.store(threads_, relaxed);
  helpers_.emplace(threads_);
  for (rank_t thread = 0; thread < threads_; ++thread) {
    member& m = (*helpers_)[thread];
    m.rank_ = m.thread_ = thread;
    m.size_ = threads_;
  }
}

template <class Memory>
void basic_team<Memory>::make_virtual_ranks() {
  if (!is_virtual()) return;
  virtual_.emplace(ranks_, threads_, options_.fibers, cancelled_);
  for (rank_t thread = 0; thread < threads_; ++thread) {
    const auto& group = virtual_->group(thread);
    for (rank_t i = 0; i < group.size; ++i) (*members_)[group.first_rank + i].thread_ = thread;
  }
}

template <class Memory>
void basic_team<Memory>::start_workers() {
  if constexpr (requires { workers_.when_lost(nullptr, nullptr); })
    workers_.when_lost([](void* me) { static_cast<basic_team*>(me)->note_fork(); }, this);
  try {
    workers_.start(
        threads_, options_.place,
        [](void* me, rank_t thread) { static_cast<basic_team*>(me)->work(thread); }, this);
  } catch (...) {
    end_workers();
    throw;
  }
}

template <class Memory>
void basic_team<Memory>::end_workers() noexcept {
  if (!workers_.has_started()) return;
  regions_.open(job{});
  workers_.join();
}

// A rank has called exit(), which destroys a static team while its region is open. The other
// threads run until the process has ended, so everything that they use remains.
template <class Memory>
void basic_team<Memory>::leave_to_workers() noexcept {
  forget_workers();
  regions_.leave();
  sync_.leave();
  narrow_syncs_.leave();
  members_.leave();
  virtual_.leave();
  failures_.leave();
  desk_.leave();
  helpers_.leave();
}

template <class Memory>
void basic_team<Memory>::forget_workers() noexcept {
  if constexpr (requires { workers_.forget(); }) workers_.forget();
}

// ---- fork()

// In the child, before fork() returns there. The next region starts workers of the child's own.
template <class Memory>
void basic_team<Memory>::note_fork() noexcept {
  // relaxed: there is no other thread.
  has_lost_workers_.store(true, relaxed);
  // begin_region() then calls begin_otherwise().
  is_open_.store(true, relaxed);
  if (detail::team_here<Memory>() != this) return;
  // The thread is in a region, which must not wait for the other ranks.
  cancelled_.request();
  regions_.forget_others();
}

template <class Memory>
void basic_team<Memory>::start_again() {
  forget_workers();
  late_opener_.store(nullptr, relaxed);  // relaxed: there is no other thread.
  has_sync_.store(true, relaxed);        // relaxed: there is no other thread.
  late_callable_.reset();
  cancelled_.reset();
  for (std::exception_ptr& why : *failures_) why = nullptr;
  make_sync();
  make_regions();
  make_virtual_ranks();
  start_workers();
}

template <class Memory>
bool basic_team<Memory>::begin_otherwise() {
  // acquire: as in begin_anew.
  if (has_lost_workers_.exchange(false, acquire)) {
    try {
      start_again();
    } catch (...) {
      // relaxed: the next region of this thread tries again.
      has_lost_workers_.store(true, relaxed);
      throw;
    }
    return true;
  }
  // acquire: makes the state of the region that failed visible; pairs with the end of that.
  if (has_sync_.exchange(true, acquire)) {
    refuse_while_late();
    return false;
  }
  try {
    make_sync();
  } catch (...) {
    // release: lets the next opener try again; pairs with the exchange above.
    has_sync_.store(false, release);
    throw;
  }
  return true;
}

template <class Memory>
void basic_team<Memory>::work(rank_t thread) {
  detail::team_here<Memory>() = this;
  job told;
  for (;;) {
    if (!regions_.await(thread, told)) {
      help(told, *this, thread);
      continue;
    }
    if (told.run == nullptr) return;
    told.run(told, *this, thread);
    // relaxed: only a fork() of this thread, in this region, can have changed it.
    if (has_lost_workers_.load(relaxed)) [[unlikely]] {
      on_misuse("a process that was made by fork() on thread " + std::to_string(thread) +
                    " of a team has returned from the region: only the thread that opened the "
                    "region can go on after it",
                {"tutti::team", 0});
      std::terminate();
    }
  }
}

template <class Memory>
void basic_team<Memory>::refuse_while_late() const {
  // relaxed: only a value that this thread has stored matters.
  if (late_opener_.load(relaxed) != &detail::team_here<Memory>()) return;
  std::string late;
  each_unfinished([&](rank_t rank) { late += (late.empty() ? "" : ", ") + std::to_string(rank); });
  throw std::logic_error("tutti: a region of this team has not ended yet (missing: rank " + late +
                         "); wait for it with wait_for()");
}

template <class Memory>
void basic_team<Memory>::refuse_width(rank_t k) const {
  refuse("a region of this team is for 1 to " + detail::counted_as(ranks_, "rank") + ", not " +
         std::to_string(k));
}

// ---- regions of the first k ranks

template <class Memory>
void basic_team<Memory>::open_first(const job& j, rank_t k) {
  const rank_t threads = threads_of(k);
  if (threads < threads_) {
    narrow_syncs_->resize(threads_);
    auto& sync = (*narrow_syncs_)[threads];
    // The barrier of a provider is for all threads.
    const std::string_view barrier = detail::named_barriers<Memory>::ends_regions(barrier_name_)
                                         ? std::string_view(barrier_name_)
                                         : std::string_view();
    if (sync == nullptr)
      sync = std::make_unique<detail::group_sync<Memory>>(
          threads, crowded_, is_virtual(), barrier, wait_name_, options_.patience, cancelled_);
  }
  regions_.open(j, threads);
}

template <class Memory>
basic_team<Memory>::narrowed::narrowed(basic_team& t, rank_t thread, rank_t k)
    : team_(t),
      thread_(thread),
      first_(t.is_virtual() ? t.virtual_->group(thread).first_rank : thread) {
  ranks_ = t.is_virtual() ? t.virtual_->group(thread).size : 1;
  turn_ = (*t.members_)[first_].turn_;
  const rank_t threads = t.threads_of(k);
  set((std::min)(ranks_, k - first_), k,
      threads < t.threads_ ? (*t.narrow_syncs_)[threads].get() : &*t.sync_);
}
template <class Memory>
basic_team<Memory>::narrowed::~narrowed() {
  set(ranks_, team_.ranks_, &*team_.sync_);
}

template <class Memory>
void basic_team<Memory>::narrowed::set(rank_t ranks, rank_t size,
                                       detail::group_sync<Memory>* sync) const {
  if (team_.is_virtual()) team_.virtual_->group(thread_).size = ranks;
  for (rank_t i = 0; i < ranks; ++i) {
    member& m = (*team_.members_)[first_ + i];
    m.size_ = size;
    m.sync_ = sync;
    m.turn_ = turn_;
  }
}

template <class Memory>
timed_result basic_team<Memory>::close_by(basic_deadline<Memory> until) {
  if (!regions_->close(until))
    return detail::late_result(0, [&](auto report) { each_unfinished(report); });
  // relaxed: only this thread needs it; is_open_ tells other threads.
  late_opener_.store(nullptr, relaxed);
  late_callable_.reset();
  const bool has_failed = cancelled_.requested(), has_sync = !has_failed || begin_anew();
  const std::exception_ptr failure = has_failed ? take_failure() : nullptr;
  // release: publishes this opener's state to the next one; pairs with begin_region, or with
  // begin_otherwise.
  (has_sync ? is_open_ : has_sync_).store(false, release);
  if (failure != nullptr) std::rethrow_exception(failure);
  return {true, 0, 0, {}};
}

template <class Memory>
template <class Report>
void basic_team<Memory>::each_unfinished(Report report) const {
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    const rank_t thread = (*members_)[rank].thread();
    if (thread == 0 || regions_->has_finished(thread)) continue;
    if (is_virtual() && virtual_->has_ended(rank)) continue;
    report(rank);
  }
}

template <class Memory>
void basic_team<Memory>::fail(rank_t rank, std::exception_ptr why) noexcept {
  if (why == nullptr) detail::refuse_end_of_thread("rank " + std::to_string(rank));
  (*failures_)[rank] = std::move(why);
  cancelled_.request();
}

template <class Memory>
void basic_team<Memory>::rethrow_failure() {
  std::rethrow_exception(take_failure());
}

template <class Memory>
std::exception_ptr basic_team<Memory>::take_failure() noexcept {
  std::exception_ptr first;
  for (std::exception_ptr& why : *failures_) {
    if (first == nullptr) first = why;
    why = nullptr;
  }
  return first;
}

template <class Memory>
bool basic_team<Memory>::begin_anew() noexcept {
  // acquire: as the fork itself, which has copied this thread only.
  const bool is_forked = has_lost_workers_.exchange(false, acquire);
  try {
    if (is_forked) {
      const std::exception_ptr why = std::make_exception_ptr(std::logic_error(
          "tutti: this process was made by fork() inside a region of a team, whose other ranks run "
          "in the parent only"));
      start_again();
      (*failures_)[0] = why;
      return true;
    }
    // Some ranks have arrived at operations that others will never reach, so those objects must not
    // be used again.
    cancelled_.reset();
    if (is_virtual()) virtual_->forget_arrivals();
    for (member& m : *members_) m.turn_ = 0;
    make_sync();
    return true;
  } catch (...) {
    if (is_forked) {
      (*failures_)[0] = std::current_exception();
      // relaxed: the next region of this thread tries again.
      has_lost_workers_.store(true, relaxed);
    }
    return false;
  }
}

}  // namespace tutti
