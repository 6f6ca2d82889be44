// SPDX-License-Identifier: Apache-2.0
// Checks reductions: the plain data of all are published as by a barrier, and all get the one
// result.
#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/subjects.hpp"
#include "tests/model/values.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/reduce/after_barrier.hpp"
#include "tutti/reduce/list.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

// Arrives as if at a barrier, and checks the result.
template <class Reduction>
class summing {
 public:
  explicit summing(rank_t n, std::unique_ptr<Reduction> reduction)
      : n_(n), reduction_(std::move(reduction)), locals_(n) {}

  void arrive_and_wait(rank_t rank) {
    const unsigned episode = locals_[rank].value++;
    unsigned result = 0;
    RL_ASSERT(
        reduction_->all(rank, value_of(episode, rank), combine_in_order, result, no_deadline{}));
    RL_ASSERT(result == expected(episode, n_));
  }

 private:
  rank_t n_;
  std::unique_ptr<Reduction> reduction_;
  array<padded<unsigned>> locals_;
};

template <class Reduction>
program sum(const std::string& name, rank_t n) {
  return meet(name, n, [](rank_t participants) {
    return std::make_unique<summing<Reduction>>(participants,
                                                std::make_unique<Reduction>(participants));
  });
}

// A fan of two makes inner nodes with three participants.
template <class Wait>
struct narrow_tree : tree_reduction<unsigned, checked, Wait> {
  explicit narrow_tree(rank_t n) : tree_reduction<unsigned, checked, Wait>(n, 2) {}
};

// The values read from the slots must still be those of this episode.
template <class Wait>
class gathering {
 public:
  explicit gathering(rank_t n) : n_(n), exchange_(n), locals_(n) {}

  void arrive_and_wait(rank_t rank) {
    const unsigned episode = locals_[rank].value++;
    exchange_.gather(rank, value_of(episode, rank), [&](auto get) {
      for (rank_t other = 0; other < n_; ++other) RL_ASSERT(get(other) == value_of(episode, other));
    });
  }

 private:
  rank_t n_;
  exchange_reduction<unsigned, checked, Wait> exchange_;
  array<padded<unsigned>> locals_;
};

template <class Wait>
class after_tickets {
 public:
  explicit after_tickets(rank_t n) : barrier_(n), slots_(barrier_, n) {}
  template <class Combine>
  bool all(rank_t rank, unsigned mine, Combine combine, unsigned& result, no_deadline deadline) {
    return slots_.all(rank, mine, combine, result, deadline);
  }

 private:
  ticket_barrier<checked, Wait> barrier_;
  after_barrier_reduction<unsigned, ticket_barrier<checked, Wait>, checked> slots_;
};

using spinning = spin_wait<checked>;
using parking = park_wait<checked, 1>;
using adapting = adaptive_wait<checked>;

template <template <class> class Reduction>
subject subject_for(std::string name, rank_t most = 3) {
  subject made{std::move(name), {}};
  for (rank_t n = 2; n <= most; ++n) {
    made.programs.push_back(sum<Reduction<spinning>>("spin", n));
    made.programs.push_back(sum<Reduction<parking>>("park", n));
  }
  made.programs.push_back(sum<Reduction<adapting>>("adaptive", 2));
  return made;
}

// An entry of the list, in the shapes that a few participants can give it.
template <class Entry>
struct shapes {
  template <class Wait>
  using type = typename Entry::template type<unsigned, checked, Wait>;

  static subject all() {
    const std::string name = "reduce: " + std::string(Entry::info.name);
    if constexpr (std::is_same_v<Entry, registry::tree>) {
      subject made = subject_for<narrow_tree>(name, 4);
      made.programs.push_back(sum<type<spinning>>("spin, fan 8", 3));
      return made;
    } else {
      subject made = subject_for<type>(name, Entry::info.only_for == 2 ? 2 : 3);
      if constexpr (std::is_same_v<Entry, registry::exchange>)
        for (rank_t n = 2; n <= 3; ++n)
          made.programs.push_back(meet("spin, gather", n, [](rank_t k) {
            return std::make_unique<gathering<spinning>>(k);
          }));
      return made;
    }
  }
};

template <class... Entry>
std::vector<subject> all(std::tuple<Entry...>*) {
  return {shapes<Entry>::all()...};
}

}  // namespace

std::vector<subject> reduction_subjects() {
  std::vector<subject> made = all(static_cast<registry::reductions*>(nullptr));
  made.push_back(subject_for<after_tickets>("reduce: after_barrier"));
  return made;
}

}  // namespace tutti::model
