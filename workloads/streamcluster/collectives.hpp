// SPDX-License-Identifier: Apache-2.0
// How the ranks of the clustering synchronise: by a member of a tutti team, or by a third-party
// barrier among the same threads. The algorithm sees only this interface, so runs differ only in
// the barrier.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "tutti/platform/interface_base.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/team/team.hpp"

namespace tutti::streamcluster {

// Costs in quanta, and counts. They are integers, whose sums are exact and therefore the same for
// any number of ranks.
using amounts = std::array<std::int64_t, 2>;

class collectives : public interface_base {
 public:
  collectives(rank_t rank, rank_t size) noexcept : rank_(rank), size_(size) {}

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return size_; }
  bool decides() const noexcept { return rank_ == 0; }

  void barrier() {
    ++barriers_;
    meet();
  }
  // Returns the sum over all ranks to each of them.
  amounts sum(const amounts& mine) {
    ++reductions_;
    return combine(mine);
  }

  // This rank's part of 0 .. count-1, which is contiguous.
  std::pair<std::size_t, std::size_t> block(std::size_t count) const noexcept {
    const std::size_t share = count / size_, rest = count % size_;
    const std::size_t begin = share * rank_ + std::min<std::size_t>(rank_, rest);
    return {begin, begin + share + (rank_ < rest ? 1 : 0)};
  }

  std::uint64_t barriers() const noexcept { return barriers_; }
  std::uint64_t reductions() const noexcept { return reductions_; }

 protected:
  virtual void meet() = 0;
  virtual amounts combine(const amounts& mine) = 0;

 private:
  const rank_t rank_;
  const rank_t size_;
  std::uint64_t barriers_ = 0;
  std::uint64_t reductions_ = 0;
};

// A rank of a team, on any platform.
template <class Memory>
class team_collectives final : public collectives {
 public:
  explicit team_collectives(basic_member<Memory>& me) noexcept
      : collectives(me.rank(), me.size()), me_(me) {}

 private:
  void meet() override { me_.barrier(); }
  amounts combine(const amounts& mine) override { return me_.reduce(plus{}, mine); }

  basic_member<Memory>& me_;
};

// Ranks that can run a function together: run(body) calls it once on each, in one region.
struct rank_group {
  rank_t size;
  std::function<void(const std::function<void(collectives&)>& body)> run;
};

// The ranks of a team, on any platform.
template <class Memory>
rank_group ranks_of(basic_team<Memory>& ranks) {
  return {ranks.size(), [&ranks](const std::function<void(collectives&)>& body) {
            ranks.run([&body](basic_member<Memory>& me) {
              team_collectives<Memory> point(me);
              body(point);
            });
          }};
}

enum class collectives_kind {
  // Tutti's: member::barrier and member::reduce of the team.
  team,
  // pthread_barrier_t.
  pthread,
  // std::barrier.
  standard,
};

// The names of the kinds besides the team's own: "pthread", "std".
std::span<const std::string_view> foreign_barriers() noexcept;

// The ranks of the team, with collectives of that kind. With a third-party barrier a sum is an
// array of parts and one barrier. Throws std::invalid_argument for a third-party barrier and more
// ranks than threads, because the barrier would stop a thread while other ranks of it have not
// arrived.
rank_group ranks_of(team& ranks, collectives_kind kind);

}  // namespace tutti::streamcluster
