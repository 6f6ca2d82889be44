// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulator: events in the order of their times, and of their making where times
// are equal, so that a run depends on its seed only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::sim {

// In the unit of the simulation: ns between hosts, ps between cores.
using sim_time = std::uint64_t;

template <class Event>
class event_queue {
 public:
  // The time of the event that was taken last.
  sim_time now() const { return now_; }
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // When the next event is due. The queue must not be empty.
  sim_time next_time() const { return heap_.front().when; }

  // Times before now() are now.
  void at(sim_time when, Event event) {
    heap_.push_back({std::max(when, now_), made_++, std::move(event)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  // Moves the clock on, unless an event comes before or at that time. Returns whether it did: then
  // an event at that time would have been the next, and need not be made.
  bool skip_to(sim_time when) {
    if (!heap_.empty() && heap_.front().when <= when) return false;
    now_ = when;
    return true;
  }
  // The queue must not be empty.
  Event take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    entry first = std::move(heap_.back());
    heap_.pop_back();
    now_ = first.when;
    return std::move(first.event);
  }

 private:
  struct entry {
    sim_time when;
    std::uint64_t made;
    Event event;
  };
  static bool later(const entry& a, const entry& b) {
    return a.when != b.when ? a.when > b.when : a.made > b.made;
  }

  std::vector<entry> heap_;
  std::uint64_t made_ = 0;
  sim_time now_ = 0;
};

// The same queue for many events of which nearly all are due soon: an event that is due within
// `window` of now() is in the bucket of its time, in the order of the making. An event takes the
// same time however many there are.
template <class Event>
class near_event_queue {
 public:
  sim_time now() const { return now_; }
  bool empty() const { return near_ == 0 && far_.empty(); }

  void at(sim_time when, Event event) {
    when = std::max(when, now_);
    if (when - now_ < window)
      put(when, std::move(event));
    else
      far_.at(when, {when, std::move(event)});
  }
  // The queue must not be empty.
  Event take() {
    if (taken_ == buckets_[now_ % window].size()) move_on();
    --near_;
    return std::move(buckets_[now_ % window][taken_++]);
  }

 private:
  static constexpr sim_time window = 1 << 14, bits = 64;
  struct far_event {
    sim_time when;
    Event event;
  };

  void put(sim_time when, Event event) {
    const std::size_t place = when % window;
    buckets_[place].push_back(std::move(event));
    filled_[place / bits] |= std::uint64_t{1} << place % bits;
    ++near_;
  }
  // To the time of the next event.
  void move_on() {
    const std::size_t place = now_ % window;
    buckets_[place].clear();
    filled_[place / bits] &= ~(std::uint64_t{1} << place % bits);
    taken_ = 0;
    now_ = near_ > 0 ? now_ + until_next(place) : far_.next_time();
    // These events were made before all that will be put into the same buckets directly.
    while (!far_.empty() && far_.next_time() - now_ < window) {
      far_event next = far_.take();
      put(next.when, std::move(next.event));
    }
  }
  // How far the next filled bucket is from a place. There is one.
  sim_time until_next(std::size_t place) const {
    std::size_t word = place / bits;
    std::uint64_t left = filled_[word] >> place % bits << place % bits;
    while (left == 0) {
      word = (word + 1) % filled_.size();
      left = filled_[word];
    }
    const std::size_t next = word * bits + static_cast<std::size_t>(std::countr_zero(left));
    return (next + window - place) % window;
  }

  std::vector<std::vector<Event>> buckets_ = std::vector<std::vector<Event>>(window);
  std::vector<std::uint64_t> filled_ = std::vector<std::uint64_t>(window / bits, 0);
  event_queue<far_event> far_;
  sim_time now_ = 0;
  // Events in buckets, and how many of the bucket of now() have been taken.
  std::size_t near_ = 0, taken_ = 0;
};

// The generator of Steele, Lea and Flood (SplitMix64): 8 bytes of state, the same everywhere.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
  // In [0, bound); bound must not be 0.
  std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace tutti::sim
