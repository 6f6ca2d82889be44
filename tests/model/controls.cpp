// SPDX-License-Identifier: Apache-2.0
// Mistakes made on purpose, one of each kind: a checker that does not find them sees nothing.
#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/destroying.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/barrier/participant.hpp"
#include "tutti/barrier/pool.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

enum class flaw {
  none,
  releases_early,
  forgets_reset,
  keeps_sense,
  publishes_nothing,
  notifies_before_the_store,
  never_notifies,
};

// A central barrier with a choice of mistakes.
template <class Wait, flaw Flaw>
class flawed_barrier {
 public:
  explicit flawed_barrier(rank_t n) : n_(n), locals_(n), wait_(n) {}

  void arrive_and_wait(rank_t rank) {
    participant<Wait>& me = locals_[rank];
    if (Flaw != flaw::keeps_sense || me.episode == 0) ++me.episode;
    constexpr bool publishes = Flaw != flaw::publishes_nothing;
    const rank_t all = Flaw == flaw::releases_early ? n_ - 1 : n_;
    // acq_rel: carries everybody's work to the last arriver. relaxed: the mistake.
    if (arrived_.fetch_add(1, publishes ? acq_rel : relaxed) + 1 == all) {
      // relaxed: read again only after the release.
      if (Flaw != flaw::forgets_reset) arrived_.store(0, relaxed);
      if (Flaw == flaw::notifies_before_the_store) wait_.notify(released_);
      // release: publishes everybody's work. relaxed: the mistake.
      released_.store(me.episode, publishes ? release : relaxed);
      if (Flaw != flaw::notifies_before_the_store && Flaw != flaw::never_notifies)
        wait_.notify(released_);
      return;
    }
    // acquire: pairs with the release. relaxed: the mistake.
    wait_.until(me.wait_state, released_, publishes ? acquire : relaxed, reached(me.episode));
  }

 private:
  rank_t n_;
  array<participant<Wait>> locals_;
  checked::atomic<std::uint32_t> arrived_{0}, released_{0};
  Wait wait_;
};

template <class Wait, flaw Flaw>
program central(rank_t n) {
  return meet("central", n, [](rank_t participants) {
    return std::make_unique<flawed_barrier<Wait, Flaw>>(participants);
  });
}

template <class Wait, flaw Flaw>
control compare(std::string name, rank_t n) {
  return {std::move(name), central<Wait, Flaw>(n), central<Wait, flaw::none>(n)};
}

}  // namespace

std::vector<control> controls() {
  using spinning = spin_wait<checked>;
  using parking = park_wait<checked, 1>;
  return {
      compare<spinning, flaw::releases_early>("one arrival too few releases", 3),
      compare<spinning, flaw::forgets_reset>("the count is not reset", 2),
      compare<spinning, flaw::keeps_sense>("the sense is not reversed", 2),
      compare<spinning, flaw::publishes_nothing>("no release, no acquire", 2),
      compare<parking, flaw::notifies_before_the_store>("notifies before the store", 2),
      compare<parking, flaw::never_notifies>("never notifies", 2),
      {"destroyed under those who leave", destroyed_by_first<ticket_barrier<checked, parking>>(2),
       destroyed_by_first<pool_barrier<checked, parking>>(2)},
  };
}

}  // namespace tutti::model
