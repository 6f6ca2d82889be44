// SPDX-License-Identifier: Apache-2.0
// ForkUnion's pool: for_threads() on all of them, the caller among them. It never sleeps, and how
// it waits is a type: its own choice gives the core to the scheduler after every look, the other
// one only pauses.
#include <forkunion.hpp>
#include <stdexcept>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/summing_runtime.hpp"

namespace tutti::bench {
namespace {

namespace fu = ashvardanian::forkunion;

template <class Wait>
class forkunion_pool final : public summing_runtime<forkunion_pool<Wait>> {
 public:
  explicit forkunion_pool(rank_t threads) : summing_runtime<forkunion_pool<Wait>>(threads) {
    if (!pool_.try_spawn(threads)) {
      throw std::runtime_error("ForkUnion could not start its threads");
    }
  }

  template <class Body>
  void fork(Body body) {
    // The workers fetch it from here. In a line that nothing else is written to, where line
    // transfers take 200 ns, a region took 650 ns instead of 910.
    struct alignas(cache_line) job {
      Body body;
      void operator()(std::size_t rank) noexcept { body(static_cast<rank_t>(rank)); }
    };
    job each{body};
    pool_.for_threads(each);
  }

 private:
  fu::flat_pool<std::allocator<std::thread>, Wait> pool_;
};

}  // namespace

std::vector<contender> peer_forkunion() {
  return {{.name = "yields",
           .summary = "ForkUnion: sched_yield at every look, for ever",
           .regions = make_regions<forkunion_pool<fu::standard_yield_t>>},
          {.name = "spins",
           .summary = "ForkUnion: pauses the core, for ever",
           .regions = make_regions<forkunion_pool<fu::preferred_yield_t>>}};
}

}  // namespace tutti::bench
