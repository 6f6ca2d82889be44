// SPDX-License-Identifier: Apache-2.0
#include "sim/notify.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "sim/simulated.hpp"
#include "sim/world.hpp"
#include "tutti/event/event.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::sim {
namespace {

template <class Wait>
class by_event : public notification {
 public:
  explicit by_event(rank_t receivers) : event_(receivers), seen_(receivers) {}
  void tell_one() override { event_.signal(); }
  void tell_all() override { event_.broadcast(); }
  void await_one() override { event_.wait(); }
  void await_all(rank_t receiver) override { event_.wait_past(seen_[receiver]); }

 private:
  basic_event<simulated, Wait> event_;
  std::vector<event_place> seen_;
};

// A count of notifications, in what both of the following wait for.
// On a line of its own, so that its times do not depend on where the allocator puts it.
class alignas(cache_line) by_count : public notification {
 public:
  explicit by_count(rank_t receivers) : seen_(receivers) {}

 protected:
  simulated_atomic<std::uint32_t> count_{0};
  std::vector<std::uint32_t> seen_;
};

class by_futex : public by_count {
 public:
  using by_count::by_count;
  void tell_one() override {
    count_.fetch_add(1, release);
    simulated::unpark_one(count_);
  }
  void tell_all() override {
    count_.fetch_add(1, release);
    simulated::unpark(count_);
  }
  void await_one() override { await_all(0); }
  void await_all(rank_t receiver) override {
    std::uint32_t now;
    while ((now = count_.load(acquire)) == seen_[receiver])
      simulated::park(count_, now, UINT64_MAX);
    seen_[receiver] = now;
  }
};

// A condition under a mutex, and a sequence number to sleep on, as programs use pthread_cond_t.
class by_condition_variable : public by_count {
 public:
  using by_count::by_count;
  void tell_one() override {
    change();
    simulated::unpark_one(sequence_);
  }
  void tell_all() override {
    change();
    simulated::unpark(sequence_);
  }
  void await_one() override { await_all(0); }
  void await_all(rank_t receiver) override {
    mutex_.lock();
    while (count_.load(relaxed) == seen_[receiver]) {
      const std::uint32_t sequence = sequence_.load(relaxed);
      mutex_.unlock();
      simulated::park(sequence_, sequence, UINT64_MAX);
      mutex_.lock();
    }
    seen_[receiver] = count_.load(relaxed);
    mutex_.unlock();
  }

 private:
  void change() {
    mutex_.lock();
    count_.fetch_add(1, relaxed);
    mutex_.unlock();
    sequence_.fetch_add(1, relaxed);
  }
  simulated_mutex mutex_;
  simulated_atomic<std::uint32_t> sequence_{0};
};

template <class T>
std::unique_ptr<notification> make(rank_t receivers, std::uint32_t) {
  return std::make_unique<T>(receivers);
}

template <class Wait>
notifier of_wait() {
  return {.family = "tutti",
          .name = "event",
          .wait = std::string(Wait::info.name),
          .summary = "tutti::event",
          .polls_without_end = Wait::info.name == "spin",
          .make = make<by_event<typename Wait::template type<event_memory<simulated>>>>};
}

std::vector<notifier> of_programs() {
  return {of_wait<registry::adaptive>(),
          of_wait<registry::spin>(),
          of_wait<registry::yield>(),
          of_wait<registry::park>(),
          {.family = "futex",
           .name = "condition_variable",
           .wait = "",
           .summary = "a condition variable with its mutex",
           .make = make<by_condition_variable>},
          {.family = "futex",
           .name = "futex",
           .wait = "",
           .summary = "a word that is changed and slept on",
           .make = make<by_futex>}};
}

double deviation_of(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// One run, of broadcasts or of notifications of each receiver in turn.
class trial {
 public:
  trial(const machine& m, const notifier& who, const notify_plan& plan, bool broadcasts)
      : plan_(plan),
        broadcasts_(broadcasts),
        sleeps_(who.wait != "spin" && who.wait != "yield" && !who.interrupts),
        in_kernel_(who.interrupts),
        // Each receiver has been notified before its first notification that counts.
        warm_up_(broadcasts ? plan.warm_up : std::max(plan.warm_up, plan.receivers)),
        all_(warm_up_ + plan.notifications),
        back_(plan.receivers),
        world_(m, {.seed = plan.seed,
                   .poll_gap = m.poll_gap_or(plan.poll_gap_ns),
                   .skips_polls = who.polls_without_end}) {
    for (rank_t r = 0; r < (broadcasts ? 1 : plan.receivers); ++r)
      told_.push_back(who.make(broadcasts ? plan.receivers : 1, 1 + r));
  }

  void run(notified& result) {
    world_.run([&] {
      for (rank_t r = 0; r < plan_.receivers; ++r) world_.start([this, r] { receive(r); });
      for (std::uint32_t i = 0; i < all_; ++i) tell(i, result);
    });
  }

 private:
  void receive(rank_t r) {
    for (std::uint32_t i = 0; i < all_; ++i) {
      if (broadcasts_)
        told_[0]->await_all(r);
      else if (i % plan_.receivers == r)
        told_[r]->await_one();
      else
        continue;
      back_[r] = world_.now();
      ++returned_;
    }
  }
  // On their way to sleep, the receivers of a broadcast wait for the kernel's lock of their word
  // one after the other, or for the locks of the kernel's condition variable.
  sim_time gap() const {
    if (plan_.gap_ns > 0) return picoseconds(plan_.gap_ns);
    if (in_kernel_) return picoseconds(least_gap_ns * (1 + plan_.receivers / 16));
    const sim_time sleeping = world_.hardware().futex_wait +
                              world_.hardware().futex_lock * plan_.receivers * plan_.receivers;
    return picoseconds(least_gap_ns) + (sleeps_ ? sleeping : 0);
  }
  void tell(std::uint32_t i, notified& result) {
    world_.spend(gap());
    const sim_time began = world_.now();
    const rank_t expected = broadcasts_ ? plan_.receivers : 1;
    returned_ = 0;
    if (broadcasts_)
      told_[0]->tell_all();
    else
      told_[i % plan_.receivers]->tell_one();
    // The notifier does not look at the receivers' words, which would cost them time.
    while (returned_ < expected) world_.spend(picoseconds(1000));
    if (i < warm_up_) return;
    std::vector<double> times;
    for (rank_t r = 0; r < plan_.receivers; ++r)
      if (broadcasts_ || r == i % plan_.receivers) times.push_back(nanoseconds(back_[r] - began));
    if (!broadcasts_) {
      result.unicast.push_back(times[0]);
      result.unicast_receivers.push_back(i % plan_.receivers);
      return;
    }
    result.broadcast_last.push_back(*std::max_element(times.begin(), times.end()));
    result.broadcast_sigma.push_back(deviation_of(times));
  }

  static constexpr double least_gap_ns = 100'000;

  const notify_plan& plan_;
  const bool broadcasts_, sleeps_, in_kernel_;
  const std::uint32_t warm_up_, all_;
  std::vector<sim_time> back_;
  rank_t returned_ = 0;
  std::vector<std::unique_ptr<notification>> told_;
  world world_;
};

}  // namespace

const std::vector<notifier>& notifiers() {
  static const std::vector<notifier> all = [] {
    std::vector<notifier> made = of_programs();
    for (notifier& each : kernel_notifiers()) made.push_back(std::move(each));
    return made;
  }();
  return all;
}

void check_receivers(const machine& m, rank_t receivers) {
  if (receivers == 0 || receivers >= m.cpus())
    throw std::invalid_argument("the machine '" + m.name +
                                "' has a CPU for the notifier and one for each receiver, at most " +
                                std::to_string(m.cpus() - 1) + " and not " +
                                std::to_string(receivers));
}

void check_notifier(const machine& m, const notifier& who) {
  if (who.interrupts && !m.has_interrupts)
    throw std::invalid_argument("the description of the machine '" + m.name +
                                "' has no section [interrupt], which '" + who.name + "' needs");
}

notified notify(const machine& m, const notifier& who, const notify_plan& plan) {
  check_receivers(m, plan.receivers);
  check_notifier(m, who);
  const simulated::making_for here(m);
  notified result;
  trial(m, who, plan, false).run(result);
  trial(m, who, plan, true).run(result);
  return result;
}

}  // namespace tutti::sim
