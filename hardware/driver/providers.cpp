// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/providers.hpp"

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "hardware/driver/hbs_barrier.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::hardware {

namespace {

// A barrier together with the object that it uses.
template <class Barrier, class Base>
class standing final : public any_barrier {
 public:
  template <class... Arguments>
  explicit standing(std::shared_ptr<Base> base, Arguments&&... arguments)
      : base_(std::move(base)), barrier_(std::forward<Arguments>(arguments)...) {}

  void arrive_and_wait(rank_t rank) override { barrier_.arrive_and_wait(rank); }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    return barrier_.arrive_and_wait(rank, until);
  }
  void episodes(rank_t rank, std::uint64_t count) override { barrier_.episodes(rank, count); }
  rank_t participants() const noexcept override { return barrier_.participants(); }

 private:
  // Must outlive the barrier.
  std::shared_ptr<Base> base_;
  Barrier barrier_;
};

struct structure_on_device {
  explicit structure_on_device(std::shared_ptr<device> on)
      : unit(std::move(on)), structure(*unit) {}
  std::shared_ptr<device> unit;
  hbs_structure structure;
};

// A unit, and whether it has a barrier.
struct single_unit {
  explicit single_unit(std::shared_ptr<device> on) : unit(std::move(on)) {}
  std::shared_ptr<device> unit;
  std::atomic<bool> taken{false};
};

// Takes the unit; the last reference gives it back.
std::shared_ptr<single_unit> take(const std::shared_ptr<single_unit>& from) {
  // acquire: pairs with the release below, so this barrier follows the end of the one before.
  if (from->taken.exchange(true, std::memory_order_acquire))
    fail(from->unit->name(), "it has one barrier at a time, which is in use");
  // release: publishes all that this owner did; pairs with the acquire of the next owner.
  return {from.get(),
          [from](single_unit* unit) { unit->taken.store(false, std::memory_order_release); }};
}

}  // namespace

barrier_provider harp_barriers(std::shared_ptr<device> unit, harp_options with) {
  return [on = std::make_shared<single_unit>(std::move(unit)), with](rank_t participants) {
    auto owned = take(on);
    device& taken = *owned->unit;
    return std::make_unique<standing<harp_barrier, single_unit>>(std::move(owned), taken,
                                                                 participants, with);
  };
}

barrier_provider hbs_barriers(std::shared_ptr<device> unit) {
  return [on = std::make_shared<structure_on_device>(std::move(unit))](rank_t participants) {
    if (const rank_t most = on->structure.capable().local; participants > most)
      refuse("hardware device '" + on->unit->name() + "' takes 1 to " + std::to_string(most) +
             " participants, not " + std::to_string(participants));
    std::vector<rank_t> threads(participants);
    std::iota(threads.begin(), threads.end(), 0);
    return std::make_unique<standing<hbs_barrier, structure_on_device>>(on, on->structure,
                                                                        std::move(threads));
  };
}

}  // namespace tutti::hardware
