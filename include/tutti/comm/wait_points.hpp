// SPDX-License-Identifier: Apache-2.0
// Where the participants of a communicator wait, and how others wake them.
#pragma once

#include <memory>
#include <vector>

#include "tutti/platform/config.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/wake_word.hpp"

namespace tutti {

template <class Memory, class Wait>
class wait_points {
 public:
  wait_points(rank_t participants, const auto&... wait_arguments) {
    for (rank_t rank = 0; rank < participants; ++rank)
      wait_points_.push_back(std::make_unique<wait_point>(participants, wait_arguments...));
  }

  rank_t size() const noexcept { return static_cast<rank_t>(wait_points_.size()); }

  bool set_patience(patience p) noexcept {
    bool has_patience = false;
    for (const auto& each : wait_points_) has_patience = set_patience_of(each->wait, p);
    return has_patience;
  }

  // Waits until is_ready(), which may read anything, or until the deadline. Returns false if the
  // deadline passed.
  template <class Ready, class Deadline>
  bool wait(rank_t me, Ready is_ready, Deadline until) {
    wait_point& mine = *wait_points_[me];
    const auto ready = [&](std::uint32_t) noexcept { return is_ready(); };
    // acquire: pairs with the waker's update of the wake word, after which everything else is
    // looked at again.
    return mine.wait.until(mine.wait_state, mine.word, Memory::order("wake_word.wait", acquire),
                           ready, until);
  }

  // Wakes `rank` after a plain store that may concern it.
  void wake(rank_t rank) noexcept { wait_points_[rank]->wait.notify(wait_points_[rank]->word); }

  // Wakes all participants but `me` after a seq_cst update that may concern them.
  void wake_all(rank_t me) noexcept {
    for (rank_t rank = 0; rank < size(); ++rank)
      if (rank != me) wait_points_[rank]->wait.notify_ordered(wait_points_[rank]->word);
  }

  // A function object that wakes one participant; it is small enough to be copied.
  class waker {
   public:
    explicit waker(wait_points& all) noexcept : all_(&all) {}
    void operator()(rank_t rank) const noexcept { all_->wake(rank); }

   private:
    wait_points* all_;
  };

 private:
  struct alignas(cache_line) wait_point {
    explicit wait_point(rank_t participants, const auto&... wait_arguments)
        : wait(participants, wait_arguments...) {}
    wake_word<Memory> word;
    typename Wait::wait_state wait_state{};
    Wait wait;
  };
  std::vector<std::unique_ptr<wait_point>> wait_points_;
};

}  // namespace tutti
