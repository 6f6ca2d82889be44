// SPDX-License-Identifier: Apache-2.0
// Checks the events of a kernel: counted events are run once each, level events at least once after
// their last raise, an interrupt is never missing, and a removed action does not run.
//
// The interrupt is a word on which the receiver sleeps. Its operations are relaxed: the interrupt
// must not be what orders the slots.
#include <memory>
#include <string>
#include <vector>

#include "tests/model/checked.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/event/actions.hpp"
#include "tutti/event/inbox.hpp"

namespace tutti::model {
namespace {

class pending_interrupt {
 public:
  void send() {
    // relaxed: see above.
    word_.fetch_add(1, relaxed);
    checked::unpark(word_);
  }
  // relaxed: see above.
  unsigned heard() const { return word_.load(relaxed); }
  void wait(unsigned heard) const { checked::park(word_, heard, 0); }

 private:
  checked::atomic<unsigned> word_{0};
};

// The last thread receives; the others send. Each event refers to plain data of its sender.
class posting : public scenario {
 public:
  posting(rank_t n, bool is_level) : n_(n), is_level_(is_level), inbox_(n - 1, 2) {}

  void thread(rank_t rank) override { rank + 1 == n_ ? receive() : send(rank); }

 private:
  static constexpr unsigned count = 3;

  // The last event is for an action that has taken the place of the others'.
  static action_id action_of(rank_t sender, unsigned k) {
    return sender % 2 + (k == count ? most_actions : 0);
  }

  void send(rank_t rank) {
    for (unsigned k = 1; k <= count;) {
      said_[rank][k] = k;
      const posted p = is_level_ ? inbox_.raise(rank, action_of(rank, k), k)
                                 : inbox_.post(rank, action_of(rank, k), k);
      if (p == posted::refused) {
        checked::relax();
        continue;
      }
      if (p == posted::first) interrupt_.send();
      ++k;
    }
  }

  void receive() {
    unsigned done = 0;
    while (done < n_ - 1) {
      const unsigned heard = interrupt_.heard();
      inbox_.take([&](rank_t sender, action_id action, std::uintptr_t payload) {
        const auto k = static_cast<unsigned>(payload);
        RL_ASSERT(action == action_of(sender, k));
        RL_ASSERT(is_level_ ? k >= last_[sender] : k == last_[sender] + 1);
        RL_ASSERT(said_[sender][k] == k);
        if (last_[sender] != count && k == count) ++done;
        last_[sender] = k;
      });
      if (done < n_ - 1) interrupt_.wait(heard);
    }
  }

  rank_t n_;
  bool is_level_;
  event_inbox<checked> inbox_;
  pending_interrupt interrupt_;
  checked_plain<unsigned> said_[most_threads][count + 1];
  unsigned last_[most_threads]{};
};

// A receiver runs an action while another thread removes it, destroys what the action uses, and
// adds another action in its place.
class removing : public scenario {
 public:
  removing() : actions_(1) { first_ = actions_.add(use, &data_); }

  void thread(rank_t rank) override { rank == 0 ? run() : remove(); }
  void after() override { RL_ASSERT(data_ == gone || data_ == 100 + gone); }

 private:
  static constexpr unsigned gone = 7;

  static void use(void* argument, rank_t, std::uintptr_t) {
    auto& data = *static_cast<checked_plain<unsigned>*>(argument);
    RL_ASSERT(data < gone);
    data = data + 1;
  }
  static void use_second(void* argument, rank_t, std::uintptr_t) {
    auto& second = *static_cast<checked_plain<unsigned>*>(argument);
    RL_ASSERT(second == 5);
  }

  void run() {
    for (int i = 0; i < 2; ++i) actions_.run(0, 0, first_, 0);
    // relaxed: the table orders what the action reads.
    const action_id second = second_.load(relaxed);
    if (second != 0) actions_.run(0, 0, second, 0);
  }
  void remove() {
    RL_ASSERT(actions_.remove(first_));
    RL_ASSERT(!actions_.remove(first_));
    data_ = gone;
    for_second_ = 5;
    // relaxed: see run().
    second_.store(actions_.add(use_second, &for_second_), relaxed);
  }

  action_table<checked> actions_;
  checked_plain<unsigned> data_{0}, for_second_{0};
  action_id first_ = 0;
  checked::atomic<action_id> second_{0};
};

}  // namespace

std::vector<subject> event_subjects() {
  subject inbox{"event inbox", {}, "event_inbox."}, actions{"event actions", {}, "actions."};
  for (const bool is_level : {false, true})
    for (rank_t n = 2; n <= 3; ++n)
      inbox.programs.push_back(
          {std::string(is_level ? "level" : "counted") + " events, n = " + std::to_string(n), n,
           [=]() -> std::unique_ptr<scenario> { return std::make_unique<posting>(n, is_level); }});
  actions.programs.push_back({"removed while it runs", 2, []() -> std::unique_ptr<scenario> {
                                return std::make_unique<removing>();
                              }});
  return {std::move(inbox), std::move(actions)};
}

}  // namespace tutti::model
