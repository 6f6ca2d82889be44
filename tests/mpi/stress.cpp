// SPDX-License-Identifier: Apache-2.0
// Random programs: messages of all sizes that cause others, every way to send and to be idle,
// deadlines that pass, values and votes. Each message, each end and each value is checked.
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "tests/mpi/scenario.hpp"
#include "tutti/comm/active_messages.hpp"

namespace tutti::test {
namespace {

class stranger {
 public:
  stranger(mpi::endpoint& me, std::uint64_t seed)
      : me_(me),
        n_(me.size()),
        mine_(seed * 1000 + me.rank()),
        common_(seed),
        sent_(n_),
        seen_(n_) {}

  void run(std::uint32_t episodes) {
    for (; episode_ < episodes; ++episode_) {
      const std::uint64_t letters = mine_.below(common_.below(3) == 0 ? 40 : 4);
      for (std::uint64_t i = 0; i < letters; ++i)
        post(static_cast<rank_t>(mine_.below(n_)), static_cast<std::uint32_t>(mine_.below(4)));
      // The votes and the kind of end are the same function of the episode for all.
      const std::uint64_t votes = common_.below(3);
      const bool vote = votes == 0 || (votes == 1 && me_.rank() % 2 == 0);
      const bool is_unanimous = votes == 0 || (votes == 1 && n_ == 1);
      const bool has_value = common_.below(3) == 0;
      expect(come_to_the_end(vote, has_value) == is_unanimous, "the votes of an episode");
    }
  }

 private:
  bool come_to_the_end(bool vote, bool has_value) {
    for (;;) {
      answer_all();
      idle_result now{};
      if (has_value) {
        const auto sum = me_.idle(vote, std::uint64_t{me_.rank()} + episode_, plus{});
        now = sum.result;
        if (now != idle_result::message)
          expect_equal(sum.value, std::uint64_t{n_} * (n_ - 1) / 2 + std::uint64_t{n_} * episode_,
                       "a sum");
      } else if (mine_.below(2) == 0) {
        // After a deadline, only a message of this episode gives cause to send: the report may have
        // ended the episode otherwise.
        timed_idle timed;
        do {
          if (can_take()) take();
          if (!to_answer_.empty()) break;
          timed = me_.idle_for(vote, std::chrono::microseconds(mine_.below(3000)));
        } while (!timed);
        if (timed) now = timed.result;
      } else {
        now = me_.idle(vote);
      }
      if (now != idle_result::message) return now == idle_result::unanimous;
      while (can_take()) take();
    }
  }

  bool can_take() { return me_.can_recv(); }
  void take() {
    const received message = me_.recv();
    // Now and then a message is held while another one is received.
    if (mine_.below(8) == 0 && me_.can_recv()) {
      const received next = me_.recv();
      check(message);
      check(next);
      me_.release(next);
      me_.release(message);
      return;
    }
    check(message);
    me_.release(message);
  }

  void check(const received& message) {
    letter got;
    expect(message.size >= sizeof got, "a message without its head");
    std::memcpy(&got, message.data, sizeof got);
    expect_equal(got.bytes, message.size, "size of a message");
    expect_equal(got.episode, episode_, "episode of a message");
    expect_equal(got.number, seen_[message.source]++, "order of messages");
    for (std::size_t i = sizeof got; i < message.size; ++i)
      expect(message.data[i] == static_cast<std::byte>(got.number + i), "bytes of a message");
    if (got.hops > 0) to_answer_.emplace_back(static_cast<rank_t>(mine_.below(n_)), got.hops - 1);
  }

  void answer_all() {
    while (!to_answer_.empty()) {
      const auto [to, hops] = to_answer_.front();
      to_answer_.pop_front();
      post(to, hops);
    }
  }

  void post(rank_t to, std::uint32_t hops) {
    std::size_t bytes = sizeof(letter) + mine_.below(49);
    if (mine_.below(16) == 0) bytes = sizeof(letter) + mine_.below(20'000);
    const letter mine{episode_, sent_[to]++, hops, static_cast<std::uint32_t>(bytes)};
    std::vector<std::byte> content(bytes);
    std::memcpy(content.data(), &mine, sizeof mine);
    for (std::size_t i = sizeof mine; i < bytes; ++i)
      content[i] = static_cast<std::byte>(mine.number + i);
    const auto keep = [this](const received& m) { check(m); };
    switch (mine_.below(3)) {
      case 0: return me_.send_wait(to, content.data(), bytes, keep);
      case 1:
        while (!me_.send_wait_for(to, content.data(), bytes,
                                  std::chrono::microseconds(mine_.below(500)), keep)) {
        }
        return;
      default:
        while (!me_.try_send(to, content.data(), bytes))
          while (can_take()) take();
    }
  }

  mpi::endpoint& me_;
  rank_t n_;
  dice mine_, common_;
  std::uint32_t episode_ = 0;
  std::vector<std::uint32_t> sent_, seen_;
  std::deque<std::pair<rank_t, std::uint32_t>> to_answer_;
};

// Another program each time.
void stress(const mpi::calls& mpi, const mpi::options& chosen) {
  static std::uint64_t seed = 0;
  ++seed;
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm,
                      [](mpi::endpoint& me) { stranger(me, seed).run(me.size() > 4 ? 40 : 150); });
}

// Active messages: all ask all others at once, of all sizes, and the handlers answer.
void active(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size();
    const std::uint32_t count = n > 4 ? 100 : 500;
    active_messages messages(me);
    std::vector<std::uint32_t> asked(n), answered(n);
    const auto answer = messages.on_later<std::uint32_t>(
        [&](rank_t from, std::uint32_t k) { expect_equal(k, answered[from]++, "an answer"); });
    const auto ask = messages.on_bytes([&](rank_t from, std::span<const std::byte> bytes) {
      expect_equal(bytes.size(), std::size_t{asked[from]} * 37 % 3000, "size of a question");
      messages.send(from, answer, asked[from]++);
    });
    const std::vector<std::byte> content(3000);
    for (std::uint32_t k = 0; k < count; ++k)
      for (rank_t to = 0; to < n; ++to)
        messages.send(to, ask, content.data(), std::size_t{k} * 37 % 3000);
    expect(messages.idle(true) == idle_result::unanimous, "votes");
    for (rank_t other = 0; other < n; ++other) {
      expect_equal(asked[other], count, "questions");
      expect_equal(answered[other], count, "answers");
    }
  });
}

}  // namespace

const std::vector<scenario> stress_scenarios{{"stress", stress}, {"active", active}};

}  // namespace tutti::test
