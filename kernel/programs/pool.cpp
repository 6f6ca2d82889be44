// SPDX-License-Identifier: Apache-2.0
// `pool`: a pool of logical processors, one on each core but the first, which submits tasks.
// `tasks=N`. It measures from just before the submission to the task's first instruction, and
// checks that each task runs once. The processors are told in these ways:
//   condition        a condition variable's broadcast, without kick
//   condition_kick   the same with kick
//   event            an event to all cores, whose action wakes the core's processor
//   action           an event to all cores, whose action itself races for the task: no thread wakes
#include "kernel/event/condition.hpp"
#include "kernel/event/events.hpp"
#include "kernel/pool/logical_processors.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "kernel/programs/samples.hpp"

namespace tutti::kernel {

namespace {

class condition_notice {
 public:
  explicit condition_notice(wake_up how) noexcept : told_(how) {}
  u64 look() noexcept {
    const holding hold(mutex_);
    return count_;
  }
  void wait(u32, u64 seen) noexcept {
    const holding hold(mutex_);
    while (count_ == seen) told_.wait(mutex_);
  }
  void tell() noexcept {
    const holding hold(mutex_);
    ++count_;
    told_.broadcast();
  }

 private:
  mutex mutex_;
  condition told_;
  u64 count_ = 0;
};

// The event's action runs on each core and wakes that core's processor.
class event_notice {
 public:
  event_notice() noexcept : action_(add_action(act, this)) {}
  ~event_notice() { remove_action(action_); }
  event_notice(const event_notice&) = delete;
  event_notice& operator=(const event_notice&) = delete;

  u64 look() const noexcept {
    return times_.load(acquire);  // acquire: pairs with tell().
  }
  void wait(u32 i, u64 seen) noexcept {
    // seq_cst: this look comes after the announcement of the sleeper in the one order.
    park(&places_[i], [&] { return times_.load(seq_cst) == seen; });
  }
  void tell() noexcept {
    // seq_cst: before the look for sleepers, which the actions do.
    times_.fetch_add(1, seq_cst);
    broadcast_event(action_, 0, counting::level);
  }

 private:
  static void act(void* argument, rank_t, std::uintptr_t) {
    unpark(&static_cast<event_notice*>(argument)->places_[index_here()], 1);
  }
  std::atomic<u64> times_{0};
  u32 places_[machine::most_cores] = {};
  action_id action_;
};

// There are no threads: the event's action calls try_one().
class action_notice {
 public:
  using pool = logical_processors<action_notice>;
  action_notice() noexcept : action_(add_action(act, this)) {}
  ~action_notice() { remove_action(action_); }
  action_notice(const action_notice&) = delete;
  action_notice& operator=(const action_notice&) = delete;
  void serve(pool& all) noexcept { all_ = &all; }
  void tell() noexcept { broadcast_event(action_, 0, counting::level); }

 private:
  static void act(void* argument, rank_t, std::uintptr_t) {
    pool& all = *static_cast<action_notice*>(argument)->all_;
    if (!all.try_one()) all.count_lost_race();
  }
  pool* all_ = nullptr;
  action_id action_;
};

// One task: notes when it began, and that it ran.
struct job {
  std::atomic<u64> began{0};
  std::atomic<u64> runs{0};
  static void run(void* argument) noexcept {
    job& mine = *static_cast<job*>(argument);
    const u64 now = machine::ticks();
    mine.began.store(now, relaxed);   // relaxed: published by the count.
    mine.runs.fetch_add(1, release);  // release: pairs with submit_all().
  }
};

struct course {
  checks& all;
  const char* unit;
  u64 tasks;
};

void let_idle() noexcept {
  const u64 until = machine::ticks() + 20 * machine::ticks_per_us();
  while (machine::ticks() < until) machine::pause();
}

template <class Notice>
void submit_all(course& c, const char* name, logical_processors<Notice>& pool, samples& found) {
  job one;
  for (u64 k = 1; k <= c.tasks; ++k) {
    // Time for the processors to become idle, whose cores then halt.
    let_idle();
    const u64 begin = machine::ticks();
    pool.submit(job::run, &one);
    while (one.runs.load(acquire) < k) machine::pause();  // acquire: pairs with job::run().
    found.add(one.began.load(relaxed) - begin);           // relaxed: read after the count.
  }
  let_idle();
  c.all.expect(one.runs.load(relaxed) == c.tasks, name, ": a task ran twice");
}

void print_result(const course& c, const char* name, u64 lost_races, samples& found) {
  found.sort();
  print("{\"type\":\"pool\",\"name\":\"", name, "\",\"processors\":", cores() - 1,
        ",\"tasks\":", c.tasks, ",\"unit\":\"", c.unit, "\",\"median\":", found.percentile(50),
        ",\"p95\":", found.percentile(95), ",\"lost_races\":", lost_races, "}");
}

template <class Notice>
void measure(course& c, const char* name, Notice& notice) {
  using pool_type = logical_processors<Notice>;
  pool_type pool(notice);
  struct place {
    pool_type* pool;
    u32 processor;
  } places[machine::most_cores];
  thread* threads[machine::most_cores];
  for (u32 i = 1; i < cores(); ++i) {
    places[i] = {&pool, i};
    const auto serve = [](void* argument) {
      const place& mine = *static_cast<place*>(argument);
      mine.pool->serve(mine.processor);
    };
    threads[i] = create(i, serve, &places[i], "processor");
  }
  samples found(c.tasks);
  submit_all(c, name, pool, found);
  pool.end();
  for (u32 i = 1; i < cores(); ++i) join(threads[i]);
  print_result(c, name, pool.lost_races(), found);
}

}  // namespace

bool run_pool(const char* line) {
  checks all;
  all.expect(cores() > 1, "the pool needs two cores");
  if (cores() < 2) return all.report("pool");
  course c{all, unit_of(line), text::number_of(line, "tasks", 200)};
  start_events();
  {
    // Without a kick a processor waits until another thread of its core yields.
    const background_threads background(200);
    condition_notice notice(wake_up::queued);
    measure(c, "condition", notice);
  }
  condition_notice kicked(wake_up::kicked);
  measure(c, "condition_kick", kicked);
  event_notice events;
  measure(c, "event", events);
  action_notice actions;
  logical_processors<action_notice> pool(actions);
  actions.serve(pool);
  samples found(c.tasks);
  submit_all(c, "action", pool, found);
  print_result(c, "action", pool.lost_races(), found);
  return all.report("pool");
}

}  // namespace tutti::kernel
