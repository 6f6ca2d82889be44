// SPDX-License-Identifier: Apache-2.0
// Litmus tests of the checker itself: it must see what C++ allows, and must not see what C++
// forbids.
#include "tests/model/checked.hpp"
#include "tests/model/subjects.hpp"

namespace tutti::model {
namespace {

using word = checked::atomic<std::uint32_t>;

// Each thread writes its own word, then reads the other's. In one order of all four operations at
// least one thread sees the other's write.
enum class ordered_by { nothing, fences, operations, an_update_and_a_fence, an_update_alone };

template <ordered_by How>
class store_buffering : public scenario {
 public:
  void thread(rank_t rank) override { rank == 0 ? notifier() : waiter(); }
  void after() override { RL_ASSERT(seen_[0] + seen_[1] > 0); }

 private:
  static constexpr bool is_mixed =
      How == ordered_by::an_update_and_a_fence || How == ordered_by::an_update_alone;

  void notifier() {
    // seq_cst, relaxed: what is tried.
    constexpr auto order = is_mixed || How == ordered_by::operations ? seq_cst : relaxed;
    x_.fetch_add(1, order);
    if (How == ordered_by::fences) checked::fence("litmus", seq_cst);
    seen_[0] = y_.load(order);
  }
  void waiter() {
    // seq_cst, relaxed: what is tried.
    constexpr auto order = How == ordered_by::operations ? seq_cst : relaxed;
    y_.fetch_add(1, order);
    if (How == ordered_by::fences || How == ordered_by::an_update_and_a_fence)
      checked::fence("litmus", seq_cst);
    seen_[1] = x_.load(order);
  }

  word x_{0}, y_{0};
  std::uint32_t seen_[2] = {0, 0};
};

// Plain data published by a word.
template <bool Publishes>
class message_passing : public scenario {
 public:
  void thread(rank_t rank) override {
    if (rank == 0) {
      data_ = 1;
      // release, relaxed: what is tried.
      word_.store(1, Publishes ? release : relaxed);
      // acquire, relaxed: what is tried.
    } else if (word_.load(Publishes ? acquire : relaxed) == 1) {
      RL_ASSERT(data_ == 1);
    }
  }

 private:
  word word_{0};
  checked_plain<int> data_{0};
};

// A thread sleeps until the word changes; the thread that changes it wakes it, or does not.
template <bool Wakes>
class sleeping : public scenario {
 public:
  void thread(rank_t rank) override {
    if (rank == 0) {
      while (word_.load(relaxed) == 0) checked::park(word_, 0u, 0);
      return;
    }
    word_.store(1, relaxed);
    if (Wakes) checked::unpark(word_);
  }

 private:
  word word_{0};
};

template <class Scenario>
program two_threads(std::string name) {
  return {std::move(name), 2,
          []() -> std::unique_ptr<scenario> { return std::make_unique<Scenario>(); }};
}

template <class Flawed, class Sound>
control litmus(std::string name) {
  return {"litmus: " + name, two_threads<Flawed>(name), two_threads<Sound>(name)};
}

}  // namespace

std::vector<control> litmus_tests() {
  using enum ordered_by;
  return {
      litmus<message_passing<false>, message_passing<true>>("message passing"),
      litmus<store_buffering<nothing>, store_buffering<fences>>("store buffering, fences"),
      litmus<store_buffering<nothing>, store_buffering<operations>>("store buffering, operations"),
      litmus<store_buffering<an_update_alone>, store_buffering<an_update_and_a_fence>>(
          "store buffering, an update and a fence"),
      litmus<sleeping<false>, sleeping<true>>("a sleeper nobody wakes"),
  };
}

}  // namespace tutti::model
