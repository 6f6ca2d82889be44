// SPDX-License-Identifier: Apache-2.0
// tutti's events, with each wait policy.
#include <mutex>
#include <string>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "tutti/comm/any_wait.hpp"
#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::bench {
namespace {

template <class T>
using for_each_receiver = array<padded<T>>;

template <class Wait>
class by_broadcast final : public notifier {
 public:
  explicit by_broadcast(rank_t receivers) : event_(receivers), places_(receivers) {}
  void notify() override { event_.broadcast(); }
  void wait(rank_t receiver) override { event_.wait_past(places_[receiver].value); }

 private:
  basic_event<native, Wait> event_;
  for_each_receiver<event_place> places_;
};

template <class Wait>
class by_signals final : public notifier {
 public:
  explicit by_signals(rank_t receivers) : receivers_(receivers), event_(receivers) {}
  void notify() override { event_.signal(receivers_); }
  void wait(rank_t) override { event_.wait(); }

 private:
  rank_t receivers_;
  basic_event<native, Wait> event_;
};

template <class Wait>
class by_condition_variable final : public notifier {
 public:
  explicit by_condition_variable(rank_t receivers)
      : receivers_(receivers), changed_(receivers), seen_(receivers) {}
  void notify() override {
    {
      const std::lock_guard lock(mutex_);
      ++count_;
    }
    receivers_ == 1 ? changed_.notify_one() : changed_.notify_all();
  }
  void wait(rank_t receiver) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ != seen_[receiver].value; });
    seen_[receiver].value = count_;
  }

 private:
  rank_t receivers_;
  std::mutex mutex_;
  std::uint64_t count_ = 0;
  basic_condition_variable<native, Wait> changed_;
  for_each_receiver<std::uint64_t> seen_;
};

template <class Wait>
class by_post final : public notifier {
 public:
  explicit by_post(rank_t receivers) : workers_(receivers, 1) {
    name_ = workers_.add([](void*, rank_t, std::uintptr_t) {}, nullptr);
  }
  void notify() override {
    for (rank_t w = 0; w < workers_.workers(); ++w) workers_.post(0, w, name_, 0);
  }
  void wait(rank_t receiver) override { (void)workers_.wait(receiver); }

 private:
  basic_event_workers<native, Wait> workers_;
  action_id name_;
};

template <class... Entry>
void add_events(std::vector<contender>& to, std::tuple<Entry...>*) {
  const auto add = [&]<class E>(E) {
    if (!E::info.available()) return;
    using wait = typename E::template type<event_memory<native>>;
    const auto one = [&](const char* name, const char* summary, auto make) {
      to.push_back({.family = "tutti",
                    .name = name,
                    .summary = summary,
                    .wait = std::string(E::info.name),
                    .events = make});
    };
    one("event", "tutti::event, broadcast", make_notifier<by_broadcast<wait>>);
    one("signal", "tutti::event, a signal for each receiver", make_notifier<by_signals<wait>>);
    one("condition_variable", "tutti::condition_variable with std::mutex",
        make_notifier<by_condition_variable<wait>>);
    one("ranks", "tutti::event, broadcast to virtual ranks", make_notifier<by_broadcast<wait>>);
    to.back().events_on_fibers = true;
    one("post", "tutti::event_workers, an action posted to each", make_notifier<by_post<wait>>);
  };
  (add(Entry()), ...);
}

}  // namespace

std::vector<contender> tutti_events() {
  std::vector<contender> all;
  add_events(all, static_cast<registry::waits*>(nullptr));
  return all;
}

}  // namespace tutti::bench
