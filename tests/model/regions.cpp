// SPDX-License-Identifier: Apache-2.0
// Checks parallel regions: what the master wrote reaches the workers with the job, their work
// reaches the master at the end, and some regions end in a reduction.
#include <array>

#include "tests/model/checked.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"
#include "tests/model/values.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/fork_join.hpp"
#include "tutti/team/loop_desk.hpp"
#include "tutti/team/region.hpp"

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
    unsigned job = 0;
    RL_ASSERT(team_.await(rank, job));
    RL_ASSERT(job == region + 7);
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

// Regions of the first two of three ranks, with loops in between for which nobody waits.
template <class Wait>
class offering : public scenario {
 public:
  offering(rank_t n, bool crowded, rank_t fan) : n_(n), team_(n, crowded, fan) {}

  void thread(rank_t rank) override {
    if (rank == 0) return lead();
    for (unsigned region = 0; region < regions; ++region)
      if (rank < width(region)) follow(region, rank);
  }

 private:
  static constexpr unsigned regions = 3;
  rank_t width(unsigned region) const { return region == 1 ? 2 : n_; }

  void lead() {
    for (unsigned region = 0; region < regions; ++region) {
      // relaxed: it must not help.
      hint_.store(region + 1, relaxed);
      team_.offer();
      if (region > 0) team_.wake(n_ - 1);
      desk_.give(region);
      team_.open(region + 7, width(region));
      if (region == 2)
        RL_ASSERT(team_.close_first(n_, value_of(region, 0), combine_in_order) ==
                  expected(region, n_));
      else
        RL_ASSERT(team_.close_first(width(region)));
      desk_.check(region, width(region));
    }
  }
  void follow(unsigned region, rank_t rank) {
    unsigned job = 0;
    while (!team_.await(rank, job)) {
      // What was written before an offer is seen after it: at least the value of the first offer
      // since this rank's last region.
      const unsigned since = region == 2 && rank >= 2 ? 1 : region;
      RL_ASSERT(hint_.load(relaxed) >= since + 1);  // relaxed: as above
    }
    RL_ASSERT(job == region + 7);
    desk_.take(region);
    desk_.work(region, rank);
    if (region == 2)
      team_.arrive(rank, value_of(region, rank), combine_in_order);
    else
      team_.arrive(rank);
  }

  rank_t n_;
  fork_join<unsigned, unsigned, checked, Wait> team_;
  checked_atomic<unsigned> hint_{0};
  desk desk_;
};

template <class Scenario>
program of(const std::string& name, rank_t n, bool crowded, rank_t fan) {
  return {name + (crowded ? ", crowded" : ", fan " + std::to_string(fan)) +
              ", n = " + std::to_string(n),
          n, [=]() -> std::unique_ptr<scenario> {
            return std::make_unique<Scenario>(n, crowded, fan);
          }};
}

// Consecutive loops on the same plain data, with helpers that come at any time.
template <class Wait>
class dealing : public scenario {
 public:
  dealing(rank_t n, loop_manner manner) : n_(n), manner_(manner), desk_(n) {}

  void thread(rank_t rank) override { rank == 0 ? lead() : help(rank); }

 private:
  static constexpr unsigned loops = 2;
  static constexpr std::uint32_t most_units = 2;

  std::uint32_t units(rank_t slot) const { return slot == 0 ? 1 : most_units; }

  void lead() {
    for (unsigned loop = 0; loop < loops; ++loop) {
      given_ = loop + 1;
      desk_.begin(loop + 1, manner_);
      std::uint32_t others = 0;
      for (rank_t slot = 0; slot < n_; ++slot) {
        desk_.put(slot, 0, units(slot));
        others += units(slot);
      }
      loop_part part;
      while (desk_.take(0, part, true)) {
        work(part, loop + 1);
        others -= part.units();
      }
      desk_.wait_for_others(others);
      for (rank_t slot = 0; slot < n_; ++slot)
        for (std::uint32_t unit = 0; unit < units(slot); ++unit)
          RL_ASSERT(done_[slot][unit] == loop + 1);
    }
  }
  void help(rank_t rank) {
    for (unsigned turn = 0; turn < 3; ++turn) {
      loop_part part;
      if (!desk_.take(rank, part)) {
        checked::relax();
        continue;
      }
      work(part, desk_.job());
      desk_.report(part.units());
    }
  }
  // Each unit runs once in each loop.
  void work(const loop_part& part, unsigned loop) {
    RL_ASSERT(given_ == loop);
    for (std::uint32_t unit = part.first; unit < part.last; ++unit) {
      RL_ASSERT(done_[part.slot][unit] == loop - 1);
      done_[part.slot][unit] = loop;
    }
  }

  rank_t n_;
  loop_manner manner_;
  loop_desk<unsigned, checked, Wait> desk_;
  checked_plain<unsigned> given_;
  checked_plain<unsigned> done_[most_threads][most_units];
};

subject loop_desk_subject() {
  subject made{"loop_desk", {}};
  const auto add = [&]<class Wait>(const std::string& wait, Wait*, rank_t n, loop_manner manner,
                                   const std::string& how) {
    made.programs.push_back(
        {wait + ", " + how + ", n = " + std::to_string(n), n, [=]() -> std::unique_ptr<scenario> {
           return std::make_unique<dealing<Wait>>(n, manner);
         }});
  };
  const loop_manner one_by_one{}, halves{1, 2, 0, false}, in_order{1, 0, 0, true},
      in_order_by_two{1, 1, 0, true, 2};
  for (rank_t n = 2; n <= 3; ++n) {
    add("spin", static_cast<spinning*>(nullptr), n, one_by_one, "one by one");
    add("park", static_cast<parking*>(nullptr), n, one_by_one, "one by one");
    add("park", static_cast<parking*>(nullptr), n, in_order, "in order");
    add("park", static_cast<parking*>(nullptr), n, in_order_by_two, "two in order");
  }
  add("spin", static_cast<spinning*>(nullptr), 4, halves, "halves");
  add("adaptive", static_cast<adapting*>(nullptr), 2, halves, "halves");
  return made;
}

// Programs for 2 to `most` ranks, with a core each and without, that spin and that park.
template <template <class> class Scenario>
void add_crowded_and_not(subject& to, const std::string& what, rank_t most, rank_t fan) {
  for (const bool crowded : {false, true})
    for (rank_t n = 2; n <= most; ++n) {
      to.programs.push_back(of<Scenario<spinning>>("spin" + what, n, crowded, fan));
      to.programs.push_back(of<Scenario<parking>>("park" + what, n, crowded, fan));
    }
}

subject fork_join_subject() {
  subject made{"fork_join", {}};
  add_crowded_and_not<forking>(made, "", 4, 2);
  made.programs.push_back(of<forking<spinning>>("spin", 4, false, 16));
  made.programs.push_back(of<forking<adapting>>("adaptive", 2, false, 2));
  made.programs.push_back(of<forking<adapting>>("adaptive", 2, true, 2));
  add_crowded_and_not<offering>(made, ", with loops", 3, 16);
  made.programs.push_back(of<offering<spinning>>("spin, with loops", 3, false, 2));
  made.programs.push_back(of<offering<parking>>("park, with loops", 4, false, 2));
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

// What opens the region is the same for all barriers; their own orders are checked as barriers.
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
          loop_desk_subject(),
          master_subject<registry::flags>(),
          master_subject<registry::recursive>(),
          master_subject<registry::atomic>(),
          master_subject<registry::mutex>(),
          any_subject()};
}

}  // namespace tutti::model
