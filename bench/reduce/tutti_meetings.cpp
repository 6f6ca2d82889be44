// SPDX-License-Identifier: Apache-2.0
// Barriers and reductions inside a region of tutti::team.
#include "bench/reduce/tutti_meetings.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "bench/crew/tutti_team.hpp"
#include "tutti/reduce/operations.hpp"

namespace tutti::bench {
namespace {

class tutti_member final : public crew_member {
 public:
  explicit tutti_member(member& me) : crew_member(me.rank()), me_(me) {}

  void barriers(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) me_.barrier();
  }

  void reductions(std::uint64_t count, tutti_share& mine) override {
    if (mine.width == 1) return numbers(count, mine);
    if (mine.width == 2) return pairs(count, mine);
    vectors(count, mine);
  }

 private:
  void numbers(std::uint64_t count, tutti_share& mine) {
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.out[0] = me_.reduce(plus{}, tutti_share_next(&mine));
      tutti_share_collect(&mine, mine.out[0], mine.out[0]);
    }
  }

  void pairs(std::uint64_t count, tutti_share& mine) {
    std::array<double, 2> sum{};
    for (std::uint64_t i = 0; i < count; ++i) {
      sum = me_.reduce(plus{}, std::array{tutti_share_next(&mine), mine.in[1]});
      tutti_share_collect(&mine, sum[0], sum[1]);
    }
    std::copy(sum.begin(), sum.end(), mine.out);
  }

  void vectors(std::uint64_t count, tutti_share& mine) {
    const std::span out(mine.out, mine.width);
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.in[0] = tutti_share_next(&mine);
      std::copy_n(mine.in, mine.width, mine.out);
      me_.reduce(plus{}, out);
      tutti_share_collect(&mine, out.front(), out.back());
    }
  }

  member& me_;
};

class tutti_meetings final : public meeting_crew {
 public:
  explicit tutti_meetings(const crew_size& size) : team_(options_of(size)) {}

  void place(const std::vector<int>& cpus) override { place_threads(team_, cpus); }

  void enter(const std::function<void(crew_member&)>& body) override {
    team_.run([&](member& me) {
      tutti_member rank(me);
      body(rank);
    });
  }

 private:
  tutti::team team_;
};

}  // namespace

std::unique_ptr<meeting_crew> make_tutti_meetings(const crew_size& size) {
  return std::make_unique<tutti_meetings>(size);
}

}  // namespace tutti::bench
