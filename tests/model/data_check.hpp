// SPDX-License-Identifier: Apache-2.0
// The scenario that every barrier must pass: all participants write plain data, synchronise, read
// the data of all, and do so again on the same data.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tests/model/checked.hpp"
#include "tests/model/explore.hpp"

namespace tutti::model {

// The data that the participants of an episode exchange. Two copies are used in turn: a copy is
// written again two episodes later, which is right only if all reads, too, happen before the next
// episode but one.
class board {
 public:
  void write(unsigned episode, rank_t rank) { said_[episode % 2][rank] = episode + 1; }
  void check(unsigned episode, rank_t rank) const {
    RL_ASSERT(said_[episode % 2][rank] == episode + 1);
  }
  void check_all(unsigned episode, rank_t participants) const {
    for (rank_t rank = 0; rank < participants; ++rank) check(episode, rank);
  }

 private:
  checked_plain<unsigned> said_[2][most_threads];
};

template <class Barrier>
class data_check : public scenario {
 public:
  data_check(std::unique_ptr<Barrier> barrier, rank_t participants, unsigned episodes)
      : barrier_(std::move(barrier)), n_(participants), episodes_(episodes) {}

  void thread(rank_t rank) override {
    for (unsigned episode = 0; episode < episodes_; ++episode) {
      board_.write(episode, rank);
      barrier_->arrive_and_wait(rank);
      board_.check_all(episode, n_);
    }
  }

 private:
  std::unique_ptr<Barrier> barrier_;
  rank_t n_;
  unsigned episodes_;
  board board_;
};

// Three episodes use every copy of everything a second time; four threads can afford two.
constexpr unsigned episodes_for(rank_t participants) { return participants < 4 ? 3 : 2; }

// `make(n)` returns a unique_ptr to a barrier.
template <class Make>
program meet(std::string name, rank_t n, Make make) {
  return {std::move(name) + ", n = " + std::to_string(n), n,
          [n, make]() -> std::unique_ptr<scenario> {
            using barrier = typename decltype(make(n))::element_type;
            return std::make_unique<data_check<barrier>>(make(n), n, episodes_for(n));
          }};
}

}  // namespace tutti::model
