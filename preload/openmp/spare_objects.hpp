// SPDX-License-Identifier: Apache-2.0
// Objects that a thread can use again. One thread may make many objects that another one frees, so
// a thread that has many gives half of them to a list that all threads share, and a thread that has
// none takes some from there. Without that, the list of the thread that frees would grow forever.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "preload/free_list.hpp"
#include "preload/openmp/atomic.hpp"
#include "preload/openmp/locks.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::openmp {

template <class T>
class spare_objects {
 public:
  // Returns an object, a new one if none can be used again.
  T* take() {
    if (mine_.empty()) fetch();
    return take_or_make(mine_);
  }
  void give(T* one) {
    mine_.push_back(one);
    if (mine_.size() >= most) give_away(most / 2);
  }
  // The thread ends.
  void give_all() { give_away(mine_.size()); }

  // Around a fork: the child has only one thread, and may use the list.
  static void lock_shared() { shared().lock.lock(); }
  static void unlock_shared() { shared().lock.unlock(); }
  static void reset_shared() { shared().lock.reset(); }

 private:
  static constexpr std::size_t most = 128;

  struct shared_list {
    small_lock lock;
    std::vector<T*> objects;
    // Changes under the lock, too.
    atomic<std::size_t> count{0};
  };
  // Never destroyed, because workers outlive the destructors of static objects.
  static shared_list& shared() {
    static shared_list& one = *new shared_list;
    return one;
  }

  void give_away(std::size_t objects) {
    shared_list& all = shared();
    const locked guard(all.lock);
    const auto first = mine_.end() - static_cast<std::ptrdiff_t>(objects);
    all.objects.insert(all.objects.end(), first, mine_.end());
    mine_.erase(first, mine_.end());
    // relaxed: a hint; the lock orders the objects.
    all.count.store(all.objects.size(), relaxed);
  }
  void fetch() {
    shared_list& all = shared();
    // relaxed: a hint.
    if (all.count.load(relaxed) == 0) return;
    const locked guard(all.lock);
    const auto first =
        all.objects.end() - static_cast<std::ptrdiff_t>(std::min(most / 2, all.objects.size()));
    mine_.insert(mine_.end(), first, all.objects.end());
    all.objects.erase(first, all.objects.end());
    // relaxed: see give_away.
    all.count.store(all.objects.size(), relaxed);
  }

  std::vector<T*> mine_;
};

}  // namespace tutti::openmp
