// SPDX-License-Identifier: Apache-2.0
// Regions of tutti::team: run() and run_reduce().
#include "bench/region/tutti_regions.hpp"

#include <array>

#include "bench/crew/tutti_team.hpp"
#include "tutti/reduce/operations.hpp"

namespace tutti::bench {
namespace {

class tutti_regions final : public region_crew_base<tutti_regions> {
 public:
  explicit tutti_regions(const crew_size& size) : team_(options_of(size)) {}

  void place(const std::vector<int>& cpus) override { place_threads(team_, cpus); }

  template <class Body>
  void fork(Body body) {
    team_.run([body](member& me) { body(me.rank()); });
  }
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    const auto sum = team_.run_reduce(plus{}, [body](member& me) {
      const pair_of_doubles mine = body(me.rank());
      return std::array{mine.first, mine.last};
    });
    return {sum[0], sum[1]};
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    const auto [a, x, y, elements, ranks] = loop;
    for (std::uint64_t i = 0; i < count; ++i)
      team_.parallel_for(0, elements, [a, x, y](std::size_t k) { y[k] += a * x[k]; });
  }

 private:
  tutti::team team_;
};

}  // namespace

std::unique_ptr<region_crew> make_tutti_regions(const crew_size& size) {
  return std::make_unique<tutti_regions>(size);
}

}  // namespace tutti::bench
