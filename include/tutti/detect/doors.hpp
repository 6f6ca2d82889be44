// SPDX-License-Identifier: Apache-2.0
// Where the participants of a communicator wait, and how others wake them.
#pragma once

#include <memory>
#include <vector>

#include "tutti/detect/bell.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory, class Wait>
class doors {
 public:
  doors(rank_t participants, const auto&... wait_arguments) {
    for (rank_t rank = 0; rank < participants; ++rank)
      doors_.push_back(std::make_unique<door>(participants, wait_arguments...));
  }

  rank_t size() const noexcept { return static_cast<rank_t>(doors_.size()); }

  bool set_patience(patience p) noexcept {
    bool has_patience = false;
    for (const auto& each : doors_) has_patience = set_patience_of(each->wait, p);
    return has_patience;
  }

  // Waits until is_ready(), which may read anything, or until the deadline. Returns false if the
  // deadline passed.
  template <class Ready, class Deadline>
  bool wait(rank_t me, Ready is_ready, Deadline until) {
    door& mine = *doors_[me];
    const auto ready = [&](std::uint32_t) noexcept { return is_ready(); };
    // acquire: pairs with the bell's ring, after which everything else is looked at again.
    return mine.wait.until(mine.habit, mine.rings, Memory::order("bell.wait", acquire), ready,
                           until);
  }

  // Wakes `rank` after a plain store that may concern it.
  void call(rank_t rank) noexcept { doors_[rank]->wait.notify(doors_[rank]->rings); }

  // Wakes all participants but `me` after a seq_cst update that may concern them.
  void call_all(rank_t me) noexcept {
    for (rank_t rank = 0; rank < size(); ++rank)
      if (rank != me) doors_[rank]->wait.notify_ordered(doors_[rank]->rings);
  }

  // A function object that wakes one participant; it is small enough to be copied.
  class caller {
   public:
    explicit caller(doors& all) noexcept : all_(&all) {}
    void operator()(rank_t rank) const noexcept { all_->call(rank); }

   private:
    doors* all_;
  };

 private:
  struct alignas(cache_line) door {
    explicit door(rank_t participants, const auto&... wait_arguments)
        : wait(participants, wait_arguments...) {}
    bell<Memory> rings;
    typename Wait::seat habit{};
    Wait wait;
  };
  std::vector<std::unique_ptr<door>> doors_;
};

}  // namespace tutti
