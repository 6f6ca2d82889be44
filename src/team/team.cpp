// SPDX-License-Identifier: Apache-2.0
// Makes and ends teams: sizes, threads and the CPUs to which they are bound, and virtual ranks. It
// also handles ranks that fail or are late.

#include "tutti/team/team.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/registry.hpp"

namespace tutti {

const char* region_cancelled::what() const noexcept {
  return "tutti: another rank of this parallel region has failed";
}

// Binds the caller's thread to one CPU as long as the team exists.
struct team::binding {
  binding(unsigned cpu) {
    if (sched_getaffinity(0, sizeof before, &before) != 0) return;
    CPU_ZERO(&bound);
    CPU_SET(cpu, &bound);
    is_bound = sched_setaffinity(0, sizeof bound, &bound) == 0;
  }
  // Restores the previous mask, unless the program has bound the thread elsewhere since.
  ~binding() {
    cpu_set_t now;
    if (is_bound && sched_getaffinity(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &bound))
      sched_setaffinity(thread, sizeof before, &before);
  }
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

  const pid_t thread = gettid();
  cpu_set_t before{}, bound{};
  bool is_bound = false;
};

namespace {

bool is_tuttis_choice(std::string_view barrier) {
  return barrier.empty() || barrier == default_algorithm || barrier == default_rankless_algorithm;
}

std::string count(rank_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// Binds a thread. If the CPU is offline or forbidden by now, that is no error: the thread then runs
// wherever it may.
void bind(pthread_t thread, unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread, sizeof set, &set);
}

// A worker inherits the mask of the thread that makes it. If that mask has fewer CPUs than the team
// has threads, the program has bound that thread and has not chosen CPUs for the team. The workers
// then get all CPUs of the process.
bool leaves_a_cpu_for_each(rank_t threads) {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return true;
  const auto cpus = static_cast<std::size_t>(CPU_COUNT(&mine));
  return cpus >= threads || cpus >= platform::process_cpus().size();
}

cpu_set_t mask_of_workers(rank_t threads) {
  cpu_set_t mask;
  if (leaves_a_cpu_for_each(threads) && sched_getaffinity(0, sizeof mask, &mask) == 0) return mask;
  CPU_ZERO(&mask);
  for (const unsigned cpu : platform::process_cpus())
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &mask);
  return mask;
}

// Places the workers that no option binds. If there is a CPU for each thread, the workers may run
// on all CPUs. They begin on different CPUs, those that follow the CPU of the thread that makes
// them, and they leave a core that they come to share. With more threads than CPUs each worker is
// bound to one of the CPUs in turn, so that no core gets more workers than necessary: the kernel
// would leave 8 threads on 2 cores as 5 and 3.
class unbound_workers {
 public:
  explicit unbound_workers(rank_t threads) : mask_(mask_of_workers(threads)) {
    const auto mine = static_cast<unsigned>(std::max(0, sched_getcpu()));
    for (const unsigned cpu : platform::cpus_for(platform::placement::compact))
      if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mask_)) order_.push_back(cpu);
    const auto at = std::find(order_.begin(), order_.end(), mine);
    if (at != order_.end()) std::rotate(order_.begin(), at, order_.end());
    leaves_ = order_.size() >= threads;
  }
  // Places the calling worker. `leaver` then moves the worker when it comes to share a core.
  void place(rank_t thread, std::optional<platform::core_leaver>& leaver) const {
    if (order_.empty()) return;
    bind(pthread_self(), order_[thread % order_.size()]);
    if (!leaves_) return;
    pthread_setaffinity_np(pthread_self(), sizeof mask_, &mask_);
    platform::core_leaver_here = &leaver.emplace(mask_);
  }

 private:
  cpu_set_t mask_;
  std::vector<unsigned> order_;
  bool leaves_ = false;
};

}  // namespace

team::team(team_options options)
    : options_(options),
      barrier_name_(is_tuttis_choice(options.barrier) ? std::string_view() : options.barrier),
      wait_name_(options.wait) {
  options_.barrier = options_.wait = {};
  choose_sizes();
  make_sync();
  make_regions();
  make_virtual_ranks();
  start_workers();
}

bool team::set_patience(patience p) noexcept {
  // make_sync() uses it after a failed region.
  options_.patience = p;
  sync_->set_patience(p);
  // They are made again with the new patience.
  narrow_syncs_.clear();
  desk_->set_patience(p);
  return named_region_ != nullptr ? named_region_->set_patience(p) : regions_->set_patience(p);
}

team::~team() {
  // The ranks of a late region use objects of the caller, so they must end first.
  // relaxed: this thread stored it, or was synchronised with the thread that did.
  if (late_opener_.load(relaxed) != nullptr) close();
  end_workers();
}

void team::choose_sizes() {
  constexpr rank_t most = 0xffff;
  const rank_t threads = options_.threads, ranks = options_.ranks;
  if (threads > most || ranks > most)
    refuse("a team has at most " + count(most, "rank") + ", not " +
           std::to_string(std::max(threads, ranks)));
  if (ranks != 0 && threads > ranks)
    refuse("a team of " + count(ranks, "rank") + " cannot use " + count(threads, "thread"));
  if (barrier_name_.empty() && wait_name_ != registry::adaptive::name)
    refuse("wait policy '" + wait_name_ +
           "' needs a named barrier: tutti's choice always waits adaptively");
  if (!std::has_single_bit(options_.fan) || options_.fan < 2)
    refuse("a team's fan must be a power of two, not " + std::to_string(options_.fan));
  threads_ = threads != 0 ? threads : platform::usable_cores();
  if (ranks != 0) threads_ = std::min(threads_, ranks);
  ranks_ = ranks != 0 ? ranks : threads_;
  crowded_ = threads_ > platform::usable_cpus();
  failures_.resize(ranks_);
}

void team::make_sync() {
  sync_ = std::make_unique<detail::group_sync>(threads_, crowded_, is_virtual(), barrier_name_,
                                               wait_name_, options_.patience, cancelled_);
  narrow_syncs_.clear();
  if (members_)
    for (member& m : *members_) m.sync_ = sync_.get();
}

void team::make_regions() {
  if (barrier_name_.empty()) {
    regions_.emplace(threads_, crowded_, options_.fan);
    regions_->set_patience(options_.patience);
  } else {
    named_region_ = make_region(barrier_name_, threads_, wait_name_, options_.patience);
    contributions_ = detail::compact_values(threads_);
  }
  members_.emplace(ranks_);
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    member& m = (*members_)[rank];
    m.team_ = this;
    m.sync_ = sync_.get();
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

void team::make_virtual_ranks() {
  if (!is_virtual()) return;
  groups_.emplace(threads_);
  has_ended_.emplace(ranks_);
  rank_results_ = detail::compact_values(ranks_);
  for (auto& values : rank_values_) values = detail::compact_values(ranks_);
  threads_are_subtrees_ = ranks_ % threads_ == 0 && std::has_single_bit(ranks_ / threads_);
  rank_t first = 0;
  for (rank_t thread = 0; thread < threads_; ++thread) {
    const rank_t size = ranks_ / threads_ + (thread < ranks_ % threads_ ? 1 : 0);
    thread_group& group = (*groups_)[thread];
    group.fibers.emplace(size, first, options_.fibers);
    group.first_rank = first;
    group.size = size;
    for (rank_t i = 0; i < size; ++i) (*members_)[first + i].thread_ = thread;
    first += size;
  }
}

void team::start_workers() {
  const std::vector<unsigned> cpus = platform::cpus_for(options_.place);
  std::shared_ptr<const unbound_workers> unbound;
  if (cpus.empty() && threads_ > 1) unbound = std::make_shared<unbound_workers>(threads_);
  try {
    for (rank_t thread = 1; thread < threads_; ++thread) {
      std::thread& made = workers_.emplace_back([this, thread, unbound] {
        std::optional<platform::core_leaver> leaver;
        if (unbound) unbound->place(thread, leaver);
        work(thread);
      });
      pthread_setname_np(made.native_handle(), ("tutti-" + std::to_string(thread)).c_str());
      if (!cpus.empty()) bind(made.native_handle(), cpus[thread % cpus.size()]);
    }
  } catch (...) {
    end_workers();
    throw;
  }
  if (!cpus.empty() && threads_ > 1) caller_binding_ = std::make_unique<binding>(cpus[0]);
}

void team::end_workers() noexcept {
  if (workers_.empty()) return;
  open(job{});
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void team::work(rank_t thread) {
  detail::team_here = this;
  job told;
  for (;;) {
    if (named_region_ != nullptr) {
      named_region_->await(thread);
      told = named_job_;
    } else if (!regions_->await(thread, told)) {
      help(told, *this, thread);
      continue;
    }
    if (told.run == nullptr) return;
    told.run(told, *this, thread);
  }
}

void team::refuse_while_late() const {
  // relaxed: only a value that this thread has stored matters.
  if (late_opener_.load(relaxed) != &detail::team_here) return;
  std::string late;
  for (const rank_t rank : unfinished_ranks())
    late += (late.empty() ? "" : ", ") + std::to_string(rank);
  throw std::logic_error("tutti: a region of this team has not ended yet (missing: rank " + late +
                         "); wait for it with wait_for()");
}

void team::refuse_width(rank_t k) const {
  refuse("a region of this team is for 1 to " + count(ranks_, "rank") + ", not " +
         std::to_string(k));
}

// ---- regions of the first k ranks

void team::open_first(const job& j, rank_t k) {
  const rank_t threads = threads_of(k);
  if (threads < threads_) {
    narrow_syncs_.resize(threads_);
    auto& sync = narrow_syncs_[threads];
    if (sync == nullptr)
      sync = std::make_unique<detail::group_sync>(threads, crowded_, is_virtual(), barrier_name_,
                                                  wait_name_, options_.patience, cancelled_);
  }
  if (named_region_ == nullptr) return regions_->open(j, threads);
  named_job_ = j;
  named_region_->open();
}

void team::close_first(rank_t k) {
  if (named_region_ == nullptr)
    static_cast<void>(regions_->close_first(threads_of(k)));
  else
    named_region_->close(0);
}

team::narrowed::narrowed(team& t, rank_t thread, rank_t k)
    : team_(t), thread_(thread), first_(t.is_virtual() ? (*t.groups_)[thread].first_rank : thread) {
  ranks_ = t.is_virtual() ? (*t.groups_)[thread].size : 1;
  turn_ = (*t.members_)[first_].turn_;
  const rank_t threads = t.threads_of(k);
  set(std::min(ranks_, k - first_), k,
      threads < t.threads_ ? t.narrow_syncs_[threads].get() : t.sync_.get());
}
team::narrowed::~narrowed() { set(ranks_, team_.ranks_, team_.sync_.get()); }

void team::narrowed::set(rank_t ranks, rank_t size, detail::group_sync* sync) const {
  if (team_.is_virtual()) (*team_.groups_)[thread_].size = ranks;
  for (rank_t i = 0; i < ranks; ++i) {
    member& m = (*team_.members_)[first_ + i];
    m.size_ = size;
    m.sync_ = sync;
    m.turn_ = turn_;
  }
}

timed_result team::close_by(deadline until) {
  if (!regions_->close(until)) {
    std::vector<rank_t> missing = unfinished_ranks();
    const auto how_many = static_cast<rank_t>(missing.size());
    return {false, 0, how_many, std::move(missing)};
  }
  // relaxed: only this thread needs it; is_open_ tells other threads.
  late_opener_.store(nullptr, relaxed);
  late_callable_.reset();
  const std::exception_ptr failure = cancelled_.requested() ? take_failure() : nullptr;
  // release: publishes this opener's state to the next one; pairs with begin_region.
  is_open_.store(false, release);
  if (failure != nullptr) std::rethrow_exception(failure);
  return {true, 0, 0, {}};
}

std::vector<rank_t> team::unfinished_ranks() const {
  std::vector<rank_t> missing;
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    const rank_t thread = (*members_)[rank].thread();
    if (thread == 0 || regions_->has_finished(thread)) continue;
    // relaxed: a snapshot for messages.
    if (is_virtual() && (*has_ended_)[rank].load(relaxed)) continue;
    missing.push_back(rank);
  }
  return missing;
}

void team::fail(rank_t rank, std::exception_ptr why) noexcept {
  failures_[rank] = std::move(why);
  cancelled_.request();
}

void team::rethrow_failure() { std::rethrow_exception(take_failure()); }

std::exception_ptr team::take_failure() {
  std::exception_ptr first;
  for (std::exception_ptr& why : failures_) {
    if (first == nullptr) first = why;
    why = nullptr;
  }
  // Some ranks have arrived at operations that others will never reach, so those objects must not
  // be used again.
  cancelled_.reset();
  make_sync();
  for (rank_t thread = 0; is_virtual() && thread < threads_; ++thread)
    // relaxed: the next region publishes it.
    (*groups_)[thread].arrived.store(0, relaxed);
  for (member& m : *members_) m.turn_ = 0;
  return first;
}

}  // namespace tutti
