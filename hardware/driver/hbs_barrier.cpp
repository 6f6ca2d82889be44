// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/hbs_barrier.hpp"

#include <string>

#include "tutti/platform/misuse.hpp"

namespace tutti::hardware {

hbs_structure::hbs_structure(device& unit) : unit_(unit) {
  if (const std::uint64_t found = unit.read(hbs::id); found != hbs::id_value)
    fail(unit.name(),
         found == ~std::uint64_t{0}
             ? "does not answer"
             : "is no hardware barrier structure: its identity is " + std::to_string(found));
  if (const std::uint64_t found = unit.read(hbs::version); found >> 16 != hbs::version_value >> 16)
    fail(unit.name(), "is of version " + std::to_string(found >> 16) +
                          "; this driver is for version " +
                          std::to_string(hbs::version_value >> 16));
  require_window(unit, hbs::window_bytes);
  capable_ = hbs::capabilities::of(unit.read(hbs::capability));
  used_.resize(capable_.barriers);
}

rank_t hbs_structure::allocate() {
  const std::lock_guard hold(lock_);
  for (rank_t b = 0; b < used_.size(); ++b)
    if (!used_[b]) {
      used_[b] = true;
      return b;
    }
  fail(unit_.name(), "all " + std::to_string(used_.size()) + " barriers are in use");
}

void hbs_structure::give_back(rank_t barrier) {
  const std::lock_guard hold(lock_);
  used_[barrier] = false;
}

hbs_barrier::hbs_barrier(hbs_structure& structure, std::vector<rank_t> threads)
    : structure_(structure),
      threads_(std::move(threads)),
      episode_mask_((std::uint64_t{1} << structure.capable().generation_bits) - 1),
      rank_states_(threads_.size()) {
  const hbs::capabilities& has = structure.capable();
  std::vector<std::uint64_t> mask(has.words - 1);
  if (threads_.empty()) refuse("a barrier needs participants");
  for (const rank_t t : threads_) {
    if (t >= has.local)
      refuse("hardware device '" + structure.unit().name() + "' has threads 0 to " +
             std::to_string(has.local - 1) + ", not " + std::to_string(t));
    if ((mask[t / 64] >> t % 64 & 1) != 0)
      refuse("thread " + std::to_string(t) + " is given twice");
    mask[t / 64] |= std::uint64_t{1} << t % 64;
  }
  index_ = structure.allocate();
  // Clusters are written one after the other.
  std::unique_lock hold(structure.lock_);
  structure.unit().write(hbs::error, hbs::bad_create);
  for (rank_t w = 0; w + 1 < has.words; ++w)
    structure.unit().write(hbs::cluster(index_, w, has.words), mask[w]);
  // The write of the last word creates the barrier. That word is the timeout for cores; this driver
  // keeps its deadlines itself.
  structure.unit().write(hbs::cluster(index_, has.words - 1, has.words), 0);
  const bool is_refused = (structure.unit().read(hbs::error) & hbs::bad_create) != 0;
  hold.unlock();
  if (!is_refused) return;
  structure.give_back(index_);
  fail(structure.unit().name(),
       "refuses a barrier of " + std::to_string(threads_.size()) + " threads");
}

hbs_barrier::~hbs_barrier() { structure_.give_back(index_); }

void hbs_barrier::arrive(rank_t rank) {
  ++rank_states_[rank].episode;
  structure_.unit().write(hbs::trigger(index_, threads_[rank]), 1);
}

bool hbs_barrier::may_depart(rank_t rank) {
  const std::uint64_t episodes = structure_.unit().read(hbs::sense(index_, threads_[rank])) >> 32;
  return episodes == (rank_states_[rank].episode & episode_mask_);
}

std::vector<rank_t> hbs_barrier::missing() {
  const hbs::capabilities& has = structure_.capable();
  std::vector<rank_t> absent;
  for (rank_t r = 0; r < threads_.size(); ++r) {
    const rank_t t = threads_[r];
    const std::uint64_t arrived = structure_.unit().read(hbs::state(index_, t / 64, has.words));
    if ((arrived >> t % 64 & 1) == 0) absent.push_back(r);
  }
  return absent;
}

}  // namespace tutti::hardware
