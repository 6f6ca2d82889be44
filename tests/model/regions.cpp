// SPDX-License-Identifier: Apache-2.0
// Parallel regions: what the master wrote reaches the workers with the job, their work reaches the master at the end,
// and some regions end in a reduction.
#include <array>

#include "checked.hpp"
#include "explore.hpp"
#include "subjects.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/fork_join.hpp"
#include "tutti/team/region.hpp"
#include "values.hpp"

namespace tutti::model {
namespace {

using spinning = spin_wait<checked>;
using parking = park_wait<checked, 1>;
using adapting = adaptive_wait<checked>;

// Plain data in both directions, the same in each region.
class desk {
 public:
  void give(unsigned region) { given_ = region + 1; }
  void take(unsigned region) const { RL_ASSERT(given_ == region + 1); }
  void work(unsigned region, rank_t rank) { done_[rank] = region + 1; }
  void check(unsigned region, rank_t n) const {
    for (rank_t rank = 1; rank < n; ++rank) RL_ASSERT(done_[rank] == region + 1);
  }

 private:
  checked_plain<unsigned> given_;
  checked_plain<unsigned> done_[most_threads];
};

constexpr unsigned regions_for(rank_t n) { return n < 4 ? 3 : 2; }

template <class Wait>
class forking : public scenario {
 public:
  forking(rank_t n, bool crowded, rank_t fan) : n_(n), team_(n, crowded, fan) {}

  void thread(rank_t rank) override {
    for (unsigned region = 0; region < regions_for(n_); ++region)
      rank == 0 ? lead(region) : follow(region, rank);
  }

 private:
  static bool is_reducing(unsigned region) { return region != 1; }

  void lead(unsigned region) {
    desk_.give(region);
    team_.open(region + 7);
    if (is_reducing(region))
      RL_ASSERT(team_.close(value_of(region, 0), combine_in_order) == expected(region, n_));
    else
      RL_ASSERT(team_.close());
    desk_.check(region, n_);
  }
  void follow(unsigned region, rank_t rank) {
    RL_ASSERT(team_.await(rank) == region + 7);
    desk_.take(region);
    desk_.work(region, rank);
    if (is_reducing(region))
      team_.arrive(rank, value_of(region, rank), combine_in_order);
    else
      team_.arrive(rank);
  }

  rank_t n_;
  fork_join<unsigned, unsigned, checked, Wait> team_;
  desk desk_;
};

template <class Wait>
program fork(const std::string& wait, rank_t n, bool crowded, rank_t fan) {
  return {wait + (crowded ? ", crowded" : ", fan " + std::to_string(fan)) +
              ", n = " + std::to_string(n),
          n, [=]() -> std::unique_ptr<scenario> {
            return std::make_unique<forking<Wait>>(n, crowded, fan);
          }};
}

subject fork_join_subject() {
  subject made{"fork_join", {}};
  for (const bool crowded : {false, true})
    for (rank_t n = 2; n <= 4; ++n) {
      made.programs.push_back(fork<spinning>("spin", n, crowded, 2));
      made.programs.push_back(fork<parking>("park", n, crowded, 2));
    }
  made.programs.push_back(fork<spinning>("spin", 4, false, 16));
  made.programs.push_back(fork<adapting>("adaptive", 2, false, 2));
  made.programs.push_back(fork<adapting>("adaptive", 2, true, 2));
  return made;
}

// Regions by a barrier of the registry.
template <class Region>
class opening : public scenario {
 public:
  opening(std::unique_ptr<Region> region, rank_t n) : n_(n), region_(std::move(region)) {}

  void thread(rank_t rank) override {
    for (unsigned region = 0; region < regions_for(n_); ++region) {
      if (rank == 0) {
        desk_.give(region);
        region_->open();
      } else {
        region_->await(rank);
        desk_.take(region);
        desk_.work(region, rank);
      }
      region_->collect(rank);
      if (rank == 0) desk_.check(region, n_);
    }
  }

 private:
  rank_t n_;
  std::unique_ptr<Region> region_;
  desk desk_;
};

template <class Make>
program open(std::string name, rank_t n, Make make) {
  return {std::move(name) + ", n = " + std::to_string(n), n,
          [n, make]() -> std::unique_ptr<scenario> {
            using region = typename decltype(make(n))::element_type;
            return std::make_unique<opening<region>>(make(n), n);
          }};
}

template <class Algorithm, class Wait>
program by_master(const std::string& wait, rank_t n) {
  return open(std::string(Algorithm::info.name) + ", " + wait, n,
              [](rank_t k) { return Algorithm::template make<checked, Wait>(k); });
}

template <class Algorithm>
subject master_subject() {
  subject made{"region: " + std::string(Algorithm::info.name), {}};
  for (rank_t n = 2; n <= 4; ++n) {
    made.programs.push_back(by_master<Algorithm, spinning>("spin", n));
    made.programs.push_back(by_master<Algorithm, parking>("park", n));
  }
  made.programs.push_back(by_master<Algorithm, adapting>("adaptive", 2));
  return made;
}

template <class Algorithm, class Wait>
program by_any(const std::string& wait, rank_t n) {
  return open(std::string(Algorithm::info.name) + ", " + wait, n, [](rank_t k) {
    auto barrier = Algorithm::template make<checked, Wait>(k);
    using region = region_before_barrier<typename decltype(barrier)::element_type, checked, Wait>;
    return std::make_unique<region>(std::move(barrier), k);
  });
}

// What opens the region is the same for all; their own orders are checked as barriers.
subject any_subject() {
  subject made{"region: any barrier", {}, "region."};
  for (rank_t n = 2; n <= 3; ++n) {
    made.programs.push_back(by_any<registry::ticket, spinning>("spin", n));
    made.programs.push_back(by_any<registry::dissemination, parking>("park", n));
    made.programs.push_back(by_any<registry::central, parking>("park", n));
  }
  made.programs.push_back(by_any<registry::ticket, adapting>("adaptive", 2));
  return made;
}

}  // namespace

std::vector<subject> region_subjects() {
  return {fork_join_subject(),
          master_subject<registry::flags>(),
          master_subject<registry::recursive>(),
          master_subject<registry::atomic>(),
          master_subject<registry::mutex>(),
          any_subject()};
}

}  // namespace tutti::model
