// SPDX-License-Identifier: Apache-2.0
// Checks the events of user space: no notification is missed, whatever a waiter is doing, each
// signal ends one wait, and a condition variable may be destroyed under those whom it has woken.
//
// What a notification must publish by itself is plain data. Where a condition is a word of its own,
// the word is relaxed, so that it orders nothing; only in `conditions` does the word itself order.
#define TUTTI_CHECKS 0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/checked.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/wait/monitor.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

using memory = event_memory<checked>;
using spinning = spin_wait<memory>;
using parking = park_wait<memory, 0>;
using monitoring = monitor_wait<memory>;
using adapting = adaptive_wait<memory>;

template <class Scenario, class... Arguments>
program of(std::string name, rank_t n, Arguments... arguments) {
  return {std::move(name) + ", n = " + std::to_string(n), n, [=]() -> std::unique_ptr<scenario> {
            return std::make_unique<Scenario>(n, arguments...);
          }};
}

enum class way { by_store, by_update };

// The last thread notifies; the others wait for a condition. If `Takes` is true, each takes one of
// the items, and a notifier by update wakes one waiter at a time.
template <class Wait, way Way, bool Takes>
class conditions : public scenario {
 public:
  explicit conditions(rank_t n) : n_(n) {}

  void thread(rank_t rank) override { rank + 1 == n_ ? notify() : wait(); }

 private:
  static constexpr unsigned rounds = 2;
  // A taker takes one item; one who does not take sees all rounds.
  unsigned items() const { return Takes ? n_ - 1 : rounds; }

  void notify() {
    for (unsigned k = 1; k <= items(); ++k) {
      data_[k] = k;
      if constexpr (Way == way::by_update) {
        // seq_cst: the event needs no fence of its own then.
        count_.fetch_add(1, seq_cst);
        Takes ? event_.notify_one_ordered() : event_.notify_all_ordered();
      } else {
        // release: publishes the data.
        count_.store(k, release);
        event_.notify_all();
      }
    }
  }
  void wait() {
    if constexpr (Takes) {
      event_.wait([this]() noexcept { return take(); });
    } else {
      for (unsigned k = 1; k <= rounds; ++k) {
        // acquire: sees the data.
        event_.wait([&]() noexcept { return count_.load(acquire) >= k; });
        RL_ASSERT(data_[k] == k);
      }
    }
  }

  bool take() noexcept {
    // relaxed: the exchange orders.
    unsigned there = count_.load(relaxed);
    while (there != 0)
      // acquire: sees what the notifier did. relaxed: it has taken nothing.
      if (count_.compare_exchange_weak(there, there - 1, acquire, relaxed)) return true;
    return false;
  }

  rank_t n_;
  basic_eventcount<checked, Wait> event_;
  checked::atomic<unsigned> count_{0};
  checked_plain<unsigned> data_[most_threads + rounds + 1];
};

// The waiters wait in steps, and the notification alone publishes the data.
template <class Wait>
class in_steps : public scenario {
 public:
  explicit in_steps(rank_t n) : n_(n) {}

  void thread(rank_t rank) override { rank + 1 == n_ ? notify() : wait(); }

 private:
  void notify() {
    data_ = 5;
    // relaxed: the notification publishes the data.
    flag_.store(1, relaxed);
    event_.notify_all();
  }
  void wait() {
    const auto key = event_.prepare_wait();
    // relaxed: see above.
    if (flag_.load(relaxed) != 0) return event_.cancel_wait(key);
    event_.commit_wait(key);
    RL_ASSERT(data_ == 5u);
  }

  rank_t n_;
  basic_eventcount<checked, Wait> event_;
  checked::atomic<unsigned> flag_{0};
  checked_plain<unsigned> data_{0};
};

// Consumers take one item each from a queue under a mutex. The last thread produces.
template <class Wait, bool All>
class producing : public scenario {
 public:
  explicit producing(rank_t n) : n_(n) {}

  void thread(rank_t rank) override { rank + 1 == n_ ? produce() : consume(); }
  void after() override { RL_ASSERT(items_ == 0u); }

 private:
  void produce() {
    if (All) {
      add(n_ - 1);
      changed_.notify_all();
      return;
    }
    for (rank_t i = 0; i + 1 < n_; ++i) {
      add(1);
      changed_.notify_one();
    }
  }
  void add(unsigned count) {
    mutex_.lock();
    items_ = items_ + count;
    mutex_.unlock();
  }
  void consume() {
    mutex_.lock();
    changed_.wait(mutex_, [&] { return items_ != 0u; });
    items_ = items_ - 1;
    mutex_.unlock();
  }

  rank_t n_;
  checked::mutex mutex_;
  checked_plain<unsigned> items_{0};
  basic_condition_variable<checked, Wait> changed_;
};

// The notifier destroys the condition variable, knowing only that it has notified all.
template <class Wait>
class deserting : public scenario {
  using condition = basic_condition_variable<checked, Wait>;

 public:
  explicit deserting(rank_t n) : n_(n), changed_(::new (storage_) condition) {}

  void thread(rank_t rank) override {
    mutex_.lock();
    if (rank + 1 == n_) {
      go_ = 1;
      changed_->notify_all();
      mutex_.unlock();
      changed_->~condition();
      return;
    }
    while (go_ == 0u) changed_->wait(mutex_);
    mutex_.unlock();
  }

 private:
  rank_t n_;
  checked::mutex mutex_;
  checked_plain<unsigned> go_{0};
  // The storage outlives the object, so that a late access is detected and does not crash.
  alignas(condition) unsigned char storage_[sizeof(condition)];
  condition* changed_;
};

// The last thread signals once for each of the others, which take a signal each.
template <class Wait, bool AtOnce>
class signalling : public scenario {
 public:
  explicit signalling(rank_t n) : n_(n) {}

  void thread(rank_t rank) override {
    if (rank + 1 < n_) {
      event_.wait();
      RL_ASSERT(data_ == 5u);
      return;
    }
    data_ = 5;
    if (AtOnce) return event_.signal(n_ - 1);
    for (rank_t i = 0; i + 1 < n_; ++i) event_.signal();
  }
  void after() override { RL_ASSERT(!event_.try_take()); }

 private:
  rank_t n_;
  basic_event<checked, Wait> event_;
  checked_plain<unsigned> data_{0};
};

// The last thread broadcasts; each of the others counts every broadcast once.
template <class Wait>
class broadcasting : public scenario {
 public:
  explicit broadcasting(rank_t n) : n_(n) {}

  void thread(rank_t rank) override {
    if (rank + 1 == n_) {
      for (unsigned k = 1; k <= broadcasts; ++k) {
        data_[k] = k;
        event_.broadcast();
      }
      return;
    }
    event_place seen;
    for (unsigned told = 0; told < broadcasts;) {
      told += event_.wait_past(seen);
      RL_ASSERT(data_[told] == told);
    }
    RL_ASSERT(seen.broadcasts() == broadcasts);
    RL_ASSERT(event_.now().broadcasts() == broadcasts);
  }

 private:
  static constexpr unsigned broadcasts = 2;
  rank_t n_;
  basic_event<checked, Wait> event_;
  checked_plain<unsigned> data_[broadcasts + 1];
};

// A receiver asks only where it is, and trusts that.
class looking_on : public scenario {
 public:
  explicit looking_on(rank_t) {}

  void thread(rank_t rank) override {
    if (rank == 1) {
      data_ = 5;
      return event_.broadcast();
    }
    while (event_.now().broadcasts() == 0) checked::relax();
    RL_ASSERT(data_ == 5u);
  }

 private:
  basic_event<checked, spinning> event_;
  checked_plain<unsigned> data_{0};
};

// The last thread is the worker. Each sender posts more than it has slots.
template <class Wait, bool IsLevel>
class posting_to_worker : public scenario {
 public:
  explicit posting_to_worker(rank_t n) : n_(n), all_(1, n - 1, 1) { name_ = all_.add(take, this); }

  void thread(rank_t rank) override {
    if (rank + 1 == n_) {
      while (done_ < n_ - 1) (void)all_.wait(0);
      return;
    }
    auto me = all_.as_sender(rank);
    for (unsigned k = 1; k <= posts; ++k) {
      said_[rank][k] = k;
      if (IsLevel)
        me.raise(0, name_, k);
      else
        me.post(0, name_, k);
    }
  }

 private:
  static constexpr unsigned posts = 2;

  static void take(void* argument, rank_t sender, std::uintptr_t payload) {
    auto& me = *static_cast<posting_to_worker*>(argument);
    const auto k = static_cast<unsigned>(payload);
    RL_ASSERT(IsLevel ? k >= me.last_[sender] : k == me.last_[sender] + 1);
    RL_ASSERT(me.said_[sender][k] == k);
    if (me.last_[sender] != posts && k == posts) ++me.done_;
    me.last_[sender] = k;
  }

  rank_t n_;
  basic_event_workers<checked, Wait> all_;
  action_id name_ = 0;
  checked_plain<unsigned> said_[most_threads][posts + 1];
  unsigned last_[most_threads]{};
  unsigned done_ = 0;
};

template <class Wait>
void add_waiting(std::vector<program>& to, const std::string& name) {
  to.push_back(of<in_steps<Wait>>(name + ", in steps", 2));
  to.push_back(of<conditions<Wait, way::by_update, true>>(name + ", one takes, update", 3));
  to.push_back(of<conditions<Wait, way::by_store, false>>(name + ", all look, store", 2));
  to.push_back(of<conditions<Wait, way::by_update, false>>(name + ", all look, update", 3));
}

}  // namespace

std::vector<program> eventcount_programs() {
  std::vector<program> made;
  add_waiting<parking>(made, "eventcount, park");
  return made;
}

std::vector<subject> eventcount_subjects() {
  subject counts{"eventcount", eventcount_programs(), "eventcount."};
  add_waiting<adapting>(counts.programs, "eventcount, adaptive");
  counts.programs.push_back(of<in_steps<spinning>>("eventcount, spin, in steps", 3));
  counts.programs.push_back(
      of<conditions<monitoring, way::by_update, true>>("eventcount, monitor, one takes", 3));

  subject variables{"condition variable", {}, "event_word."};
  variables.programs = {of<deserting<parking>>("destroyed, park", 2),
                        of<deserting<spinning>>("destroyed, spin", 3),
                        of<producing<parking, false>>("one at a time, park", 3),
                        of<producing<parking, true>>("all, park", 3),
                        of<producing<adapting, false>>("one at a time, adaptive", 3)};

  subject events{"event", {}, "event."};
  events.programs = {of<signalling<parking, false>>("signal, park", 2),
                     of<signalling<parking, false>>("signal, park", 3),
                     of<signalling<adapting, true>>("signals at once, adaptive", 3),
                     of<broadcasting<parking>>("broadcast, park", 2),
                     of<broadcasting<parking>>("broadcast, park", 3),
                     of<broadcasting<spinning>>("broadcast, spin", 3),
                     of<looking_on>("looks on", 2)};

  subject workers{"event workers", {}, "event_workers."};
  workers.programs = {of<posting_to_worker<parking, false>>("counted, park", 2),
                      of<posting_to_worker<parking, false>>("counted, park", 3),
                      of<posting_to_worker<adapting, false>>("counted, adaptive", 3),
                      of<posting_to_worker<parking, true>>("level, park", 3)};
  return {std::move(counts), std::move(variables), std::move(events), std::move(workers)};
}

}  // namespace tutti::model
