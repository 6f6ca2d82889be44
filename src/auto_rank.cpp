// SPDX-License-Identifier: Apache-2.0
// The compiled part of auto_rank: it assigns ranks to threads that arrive without one.

#include "tutti/barrier/auto_rank.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tutti/barrier/any.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/team/fibers.hpp"

namespace tutti {

namespace {

class ranked_by_participant final : public auto_rank {
 public:
  ranked_by_participant(std::string_view algorithm, std::unique_ptr<any_barrier> barrier)
      : auto_rank(*barrier),
        barrier_(std::move(barrier)),
        name_(algorithm),
        owners_(barrier_->participants()) {}

  rank_t rank_of_this_thread() override {
    struct claim {
      std::uint64_t barrier = 0;
      std::uint64_t participant = 0;
      rank_t rank = 0;
    };
    constexpr std::size_t count = 8;
    thread_local claim claims[count];
    // A thread is known by a number that no other thread gets, because a later thread may have the
    // addresses of one that has ended. A virtual rank is a participant of its own. The address of
    // its fiber is even, and the number of a thread is odd.
    thread_local const std::uint64_t thread = 2 * next_id() + 1;
    const auto fiber = reinterpret_cast<std::uintptr_t>(fiber_group::running());
    const std::uint64_t me = fiber != 0 ? fiber : thread;
    claim& mine = claims[(id_ + fiber / sizeof(claim)) % count];
    if (mine.barrier != id_ || mine.participant != me) mine = {id_, me, find_or_claim_rank(me)};
    return mine.rank;
  }

 private:
  // `participant` identifies the thread or the virtual rank when it uses more barriers than it can
  // remember.
  rank_t find_or_claim_rank(std::uint64_t participant) {
    // relaxed: here and below, a thread searches for what it wrote itself.
    for (rank_t rank = 0; rank < barrier_->participants(); ++rank)
      if (owners_[rank].load(relaxed) == participant) return rank;
    // relaxed: only uniqueness matters.
    const rank_t rank = next_rank_.fetch_add(1, relaxed);
    if (rank >= barrier_->participants())
      refuse("algorithm '" + name_ + "' needs the same " +
             std::to_string(barrier_->participants()) +
             " threads in every episode; another thread arrived without a rank");
    owners_[rank].store(participant, relaxed);
    return rank;
  }

  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    // relaxed: only uniqueness matters.
    return last.fetch_add(1, relaxed) + 1;
  }

  std::unique_ptr<any_barrier> barrier_;
  std::string name_;
  // The thread or virtual rank of each rank.
  array<std::atomic<std::uint64_t>> owners_;
  std::uint64_t id_ = next_id();
  std::atomic<rank_t> next_rank_{0};
};

}  // namespace

auto_rank* make_auto_rank(std::string_view algorithm, rank_t participants, std::string_view wait,
                          patience p) {
  return new ranked_by_participant(algorithm, make_barrier(algorithm, participants, wait, p));
}

}  // namespace tutti
