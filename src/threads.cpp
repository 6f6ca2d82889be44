// SPDX-License-Identifier: Apache-2.0
// Starts the threads of teams and binds them to CPUs.

#include "tutti/platform/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/team/own_blocking.hpp"
#include "src/uncancelled.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::platform {

namespace {

// Binds the caller's thread to one CPU as long as the group of threads exists.
struct binding {
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
  return cpus >= threads || cpus >= process_cpus().size();
}

cpu_set_t mask_of_workers(rank_t threads) {
  cpu_set_t mask;
  if (leaves_a_cpu_for_each(threads) && sched_getaffinity(0, sizeof mask, &mask) == 0) return mask;
  CPU_ZERO(&mask);
  for (const unsigned cpu : process_cpus())
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
    for (const unsigned cpu : cpus_for(placement::compact))
      if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mask_)) order_.push_back(cpu);
    const auto at = std::find(order_.begin(), order_.end(), mine);
    if (at != order_.end()) std::rotate(order_.begin(), at, order_.end());
    leaves_ = order_.size() >= threads;
  }
  // Places the calling worker. `leaver` then moves the worker when it comes to share a core.
  void place(rank_t thread, std::optional<core_leaver>& leaver) const {
    if (order_.empty()) return;
    bind(pthread_self(), order_[thread % order_.size()]);
    if (!leaves_) return;
    pthread_setaffinity_np(pthread_self(), sizeof mask_, &mask_);
    core_leaver_here = &leaver.emplace(mask_);
  }

 private:
  cpu_set_t mask_;
  std::vector<unsigned> order_;
  bool leaves_ = false;
};

}  // namespace

struct system_threads::state {
  std::vector<std::thread> workers;
  std::optional<binding> caller;
  // The neighbours in the list of all groups that have started.
  state *next = nullptr, *previous = nullptr;
  void (*lost)(void*) = nullptr;
  void* context = nullptr;
};

// All groups of threads that have started, for the child of a fork().
class system_threads::all_groups {
 public:
  static all_groups& here() {
    // It is never destroyed, because a static team may end after it.
    static all_groups* const made = new all_groups;
    return *made;
  }
  void add(state* group) noexcept {
    const lock held(*this);
    group->next = first_;
    if (first_ != nullptr) first_->previous = group;
    first_ = group;
  }
  void remove(state* group) noexcept {
    const lock held(*this);
    if (group->next != nullptr) group->next->previous = group->previous;
    (group->previous != nullptr ? group->previous->next : first_) = group->next;
    group->next = group->previous = nullptr;
  }
  // Removes a group whose threads nobody will join. Checkers for leaks find it here.
  void leave(state* group) noexcept {
    remove(group);
    const lock held(*this);
    group->next = left_;
    left_ = group;
  }

 private:
  // The list must not change while a thread forks: the child inherits it, and the lock.
  all_groups() {
    pthread_atfork([] { here().mutex_.lock(); }, [] { here().mutex_.unlock(); },
                   [] {
                     for (state* each = here().first_; each != nullptr; each = each->next)
                       if (each->lost != nullptr) each->lost(each->context);
                     here().mutex_.unlock();
                   });
  }
  struct lock {
    explicit lock(all_groups& all) noexcept : all_(all) { all_.mutex_.lock(); }
    ~lock() { all_.mutex_.unlock(); }
    all_groups& all_;
  };

  system_mutex mutex_;
  state *first_ = nullptr, *left_ = nullptr;
};

system_threads::~system_threads() {
  if (state_ != nullptr) all_groups::here().remove(state_);
  delete state_;
}

void system_threads::when_lost(void (*lost)(void* context), void* context) noexcept {
  lost_ = lost;
  context_ = context;
}

void system_threads::forget() noexcept {
  if (state_ == nullptr) return;
  // The threads, or what fork() has copied of their handles, cannot be joined or detached.
  all_groups::here().leave(state_);
  state_ = nullptr;
}

void system_threads::start(rank_t count, placement where,
                           void (*body)(void* context, rank_t thread), void* context) {
  const tutti::detail::own_blocking ours;
  state_ = new state;
  state_->lost = lost_;
  state_->context = context_;
  all_groups::here().add(state_);
  const std::vector<unsigned> cpus = cpus_for(where);
  std::shared_ptr<const unbound_workers> unbound;
  if (cpus.empty() && count > 1) unbound = std::make_shared<unbound_workers>(count);
  for (rank_t thread = 1; thread < count; ++thread) {
    std::thread& made = state_->workers.emplace_back([body, context, thread, unbound] {
      // A cancelled worker would leave its region open for ever.
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
      std::optional<core_leaver> leaver;
      if (unbound) unbound->place(thread, leaver);
      body(context, thread);
    });
    pthread_setname_np(made.native_handle(), ("tutti-" + std::to_string(thread)).c_str());
    if (!cpus.empty()) bind(made.native_handle(), cpus[thread % cpus.size()]);
  }
  if (!cpus.empty() && count > 1) state_->caller.emplace(cpus[0]);
}

bool system_threads::has_started() const noexcept {
  return state_ != nullptr && !state_->workers.empty();
}

void system_threads::join() noexcept {
  if (state_ == nullptr) return;
  const tutti::detail::own_blocking ours;
  // A cancellation point that the end of a team is not: it could not end the workers any more.
  const uncancelled held;
  for (std::thread& worker : state_->workers) worker.join();
  state_->workers.clear();
}

}  // namespace tutti::platform
