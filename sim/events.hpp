// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulator: events in the order of their times, and of their making where times
// are equal, so that a run depends on its seed only.
#pragma once

#include <algorithm>
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
