// SPDX-License-Identifier: Apache-2.0
// Checks the barrier of OpenMP's teams (preload/openmp/task_barrier.hpp): a phase ends when all
// have arrived and all of its tasks have ended, and publishes what ranks and tasks have written; a
// thread that waits there runs tasks, and hears of a cancellation.
//
// The counts and the queue are those of the runtime, without names: their orders are not weakened.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "preload/openmp/task_barrier.hpp"
#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/park.hpp"

namespace tutti::model {
namespace {

struct job {
  rank_t maker = 0;
  // Whether it makes another task.
  bool makes_one = false;
};

// The ranks' tasks. One queue serves all.
class tasks_of_team {
 public:
  void push(job& j) {
    lock_.lock();
    jobs_[in_ % jobs_.size()] = &j;
    in_ = in_ + 1;
    lock_.unlock();
    // relaxed: the fence of announce_task orders it.
    count_.fetch_add(1, relaxed);
  }
  job* take() {
    // relaxed: the caller's fence orders it.
    if (count_.load(relaxed) == 0) return nullptr;
    job* taken = nullptr;
    lock_.lock();
    if (out_ != in_) {
      taken = jobs_[out_ % jobs_.size()];
      out_ = out_ + 1;
    }
    lock_.unlock();
    // relaxed: see above.
    if (taken != nullptr) count_.fetch_sub(1, relaxed);
    return taken;
  }
  // relaxed: a hint.
  bool are_queued() const { return count_.load(relaxed) != 0; }

  // relaxed: only the rank's thread writes it, and the task's end publishes it.
  void count_made(rank_t rank) { made_[rank].store(made_[rank].load(relaxed) + 1, relaxed); }
  void count_ended(rank_t rank) {
    // relaxed: only the rank's thread writes it. release: publishes what the task did.
    ended_[rank].store(ended_[rank].load(relaxed) + 1, release);
  }
  bool have_all_ended(rank_t n) const {
    unsigned ended = 0, made = 0;
    // acquire: pairs with the ends.
    for (rank_t rank = 0; rank < n; ++rank) ended += ended_[rank].load(acquire);
    // relaxed: who reads that a task has ended reads that it, and what it made, began.
    for (rank_t rank = 0; rank < n; ++rank) made += made_[rank].load(relaxed);
    return made == ended;
  }

 private:
  checked_mutex lock_;
  checked::atomic<unsigned> count_{0};
  std::array<checked_plain<job*>, 4> jobs_;
  checked_plain<unsigned> in_, out_;
  checked::atomic<unsigned> made_[most_threads], ended_[most_threads];
};

template <class Wait>
class with_tasks : public scenario {
 protected:
  using barrier = openmp::task_barrier<checked, Wait>;
  struct place {
    rank_t rank;
    typename barrier::phase phase{};
    typename Wait::wait_state wait{};
  };

  explicit with_tasks(rank_t n) : n_(n) {}

  void make_task(place& me, job& j) {
    barrier_.note_task(me.phase, n_);
    tasks_.count_made(me.rank);
    tasks_.push(j);
    barrier_.announce_task(&me.phase);
  }

  // What the barrier asks; `run` is what a task does.
  template <class Run>
  struct hooks {
    with_tasks& all;
    place& me;
    Run work;

    job* take() { return all.tasks_.take(); }
    bool are_queued() const { return all.tasks_.are_queued(); }
    void run(job& j) {
      work(j);
      all.tasks_.count_ended(me.rank);
    }
    bool have_all_ended() const { return all.tasks_.have_all_ended(all.n_); }
    // relaxed: the barrier orders it.
    bool stops(bool) const { return all.is_cancelled_.load(relaxed) != 0; }
  };
  template <class Run>
  void pass(place& me, Run work) {
    hooks<Run> tasks{*this, me, work};
    barrier_.pass(me.wait, me.phase, n_, tasks);
  }

  rank_t n_;
  barrier barrier_;
  tasks_of_team tasks_;
  checked::atomic<unsigned> is_cancelled_{0};
};

// Phases with tasks and without follow each other. `Made` has a digit for each phase: one more than
// the ranks that make a task in it. The task of the last of them makes another.
template <class Wait, unsigned Made>
class phases : public with_tasks<Wait> {
  using base = with_tasks<Wait>;
  using typename base::place;

 public:
  explicit phases(rank_t n) : base(n) {}

  void thread(rank_t rank) override {
    place me{.rank = rank};
    for (unsigned phase = 0, digits = Made; digits != 0; ++phase, digits /= 10) {
      const rank_t makers = digits % 10 - 1;
      board_.write(phase, rank);
      if (rank < makers) {
        jobs_[phase][rank] = {rank, rank + 1 == makers};
        this->make_task(me, jobs_[phase][rank]);
      }
      this->pass(me, [&, phase](const job& j) {
        done_[phase][j.maker] = done_[phase][j.maker] + 1;
        if (!j.makes_one) return;
        jobs_[phase][this->n_] = {this->n_, false};
        this->make_task(me, jobs_[phase][this->n_]);
      });
      board_.check_all(phase, this->n_);
      for (rank_t maker = 0; maker < makers; ++maker) RL_ASSERT(done_[phase][maker] == 1u);
      RL_ASSERT(done_[phase][this->n_] == (makers == 0 ? 0u : 1u));
    }
  }

 private:
  static constexpr unsigned most_phases = 3;
  board board_;
  job jobs_[most_phases][most_threads + 1];
  checked_plain<unsigned> done_[most_phases][most_threads + 1];
};

// After a phase without tasks, rank 0 makes some and does not arrive before others have run them.
// If it `tells_first`, it first tells the others to look, in vain.
template <class Wait, unsigned Count>
class helping : public with_tasks<Wait> {
  using base = with_tasks<Wait>;
  using typename base::place;

 public:
  helping(rank_t n, bool tells_first) : base(n), tells_first_(tells_first) {}

  void thread(rank_t rank) override {
    place me{.rank = rank};
    const auto work = [this](const job& j) {
      RL_ASSERT(said_[&j - jobs_] == 7u);
      said_[&j - jobs_] = 8;
      // relaxed: the barrier orders what the tasks write.
      ran_.fetch_add(1, relaxed);
    };
    this->pass(me, work);
    if (rank == 0) {
      if (tells_first_) this->barrier_.tell_to_look();
      for (unsigned i = 0; i < Count; ++i) {
        said_[i] = 7;
        this->make_task(me, jobs_[i]);
      }
      // relaxed: see above.
      while (ran_.load(relaxed) != Count) checked::yield();
    }
    this->pass(me, work);
    for (unsigned i = 0; i < Count; ++i) RL_ASSERT(said_[i] == 8u);
  }

 private:
  const bool tells_first_;
  job jobs_[Count];
  checked_plain<unsigned> said_[Count];
  checked::atomic<unsigned> ran_{0};
};

// The last rank cancels the region and does not arrive.
template <class Wait>
class cancelling : public with_tasks<Wait> {
  using base = with_tasks<Wait>;
  using typename base::place;

 public:
  explicit cancelling(rank_t n) : base(n) {}

  void thread(rank_t rank) override {
    place me{.rank = rank};
    if (rank + 1 == this->n_) {
      // relaxed: the barrier orders it.
      this->is_cancelled_.store(1, relaxed);
      return this->barrier_.tell_to_look();
    }
    struct telling {
      cancelling& all;
      job* take() { return nullptr; }
      bool are_queued() const { return false; }
      void run(job&) {}
      bool have_all_ended() const { return true; }
      bool stops(bool was_told) {
        // relaxed: see above.
        if (all.is_cancelled_.load(relaxed) == 0) return false;
        if (was_told) all.barrier_.tell_to_look();
        return true;
      }
    };
    telling tasks{*this};
    RL_ASSERT(!this->barrier_.pass_or_stop(me.wait, me.phase, this->n_, tasks));
  }
};

// A team that never has tasks; its first rank does not wait for the last phase.
template <class Wait>
class without_tasks : public with_tasks<Wait> {
  using base = with_tasks<Wait>;
  using typename base::place;

 public:
  explicit without_tasks(rank_t n) : base(n) {}

  void thread(rank_t rank) override {
    place me{.rank = rank};
    const unsigned count = episodes_for(this->n_);
    for (unsigned phase = 0; phase < count; ++phase) {
      board_.write(phase, rank);
      if (rank == 0 && phase + 1 == count) return this->barrier_.arrive(me.phase, this->n_);
      this->barrier_.pass(me.wait, me.phase, this->n_);
      board_.check_all(phase, this->n_);
    }
  }

 private:
  board board_;
};

// The same where threads arrive in groups of two.
template <class Wait>
class in_groups : public scenario {
 public:
  explicit in_groups(rank_t n) : n_(n) {}

  void thread(rank_t rank) override {
    typename barrier::phase now{};
    typename Wait::wait_state mine{};
    for (unsigned phase = 0; phase < episodes_for(n_); ++phase) {
      board_.write(phase, rank);
      barrier_.pass_by_groups(mine, now, rank, n_);
      board_.check_all(phase, n_);
    }
  }

 private:
  using barrier = openmp::task_barrier<checked, Wait, 2>;
  const rank_t n_;
  barrier barrier_;
  board board_;
};

template <class Scenario, class... Arguments>
void add(std::string name, rank_t n, std::vector<program>& to, Arguments... arguments) {
  to.push_back(
      {std::move(name) + ", n = " + std::to_string(n), n,
       [=]() -> std::unique_ptr<scenario> { return std::make_unique<Scenario>(n, arguments...); }});
}

template <class Wait>
void add_all(const std::string& wait, rank_t n, std::vector<program>& to) {
  add<helping<Wait, 1>>(wait + ", helping", n, to, false);
  add<helping<Wait, 1>>(wait + ", helping, told before", n, to, true);
  add<helping<Wait, 2>>(wait + ", helping twice", n, to, false);
  add<cancelling<Wait>>(wait + ", cancelled", n, to);
  add<phases<Wait, 212>>(wait + ", tasks in phases 0 and 2", n, to);
  add<phases<Wait, 131>>(wait + ", tasks in phase 1", n, to);
  add<without_tasks<Wait>>(wait + ", no tasks", n, to);
  add<in_groups<Wait>>(wait + ", in groups", n, to);
}

}  // namespace

std::vector<subject> task_barrier_subjects() {
  subject made{"OpenMP's barrier", {}, "task_barrier."};
  for (rank_t n = 2; n <= 3; ++n) {
    add_all<park_wait<checked, 1>>("park", n, made.programs);
    add_all<adaptive_wait<checked>>("adaptive", n, made.programs);
  }
  return {std::move(made)};
}

}  // namespace tutti::model
