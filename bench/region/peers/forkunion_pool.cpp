// SPDX-License-Identifier: Apache-2.0
// ForkUnion's pool: for_threads() on all of them, the caller among them. It never sleeps, and how it waits is a type: its
// own choice gives the core to the scheduler after every look, the other one only pauses.
#include <forkunion.hpp>
#include <stdexcept>
#include <vector>

#include "region/peers.hpp"

namespace tutti::bench {
namespace {

namespace fu = ashvardanian::forkunion;

template <class Wait>
class forkunion_pool final : public region_crew_base<forkunion_pool<Wait>> {
 public:
  explicit forkunion_pool(rank_t threads) : partial_(threads) {
    if (!pool_.try_spawn(threads)) {
      throw std::runtime_error("ForkUnion could not start its threads");
    }
  }

  template <class Body>
  void fork(Body body) {
    // The workers fetch it from here. In a line that nothing else is written to, where line transfers take 200 ns, a region
    // took 650 ns instead of 910.
    struct alignas(cache_line) job {
      Body body;
      void operator()(std::size_t rank) noexcept { body(static_cast<rank_t>(rank)); }
    };
    job each{body};
    pool_.for_threads(each);
  }

  // ForkUnion has no reductions: its users keep a value a thread.
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    partial_sum* const partial = partial_.data();
    fork([partial, body](rank_t rank) { partial[rank].value = body(rank); });
    pair_of_doubles sum;
    for (const auto& each : partial_) sum = sum + each.value;
    return sum;
  }

 private:
  struct alignas(cache_line) partial_sum {
    pair_of_doubles value;
  };
  std::vector<partial_sum> partial_;
  fu::flat_pool<std::allocator<std::thread>, Wait> pool_;
};

}  // namespace

std::unique_ptr<region_crew> make_forkunion_yielding(const crew_size& size) {
  return std::make_unique<forkunion_pool<fu::standard_yield_t>>(size.threads);
}

std::unique_ptr<region_crew> make_forkunion_spinning(const crew_size& size) {
  return std::make_unique<forkunion_pool<fu::preferred_yield_t>>(size.threads);
}

}  // namespace tutti::bench
