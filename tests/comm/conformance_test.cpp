// SPDX-License-Identifier: Apache-2.0
// The duties of every detector, with every wait policy and any number of participants: messages
// that cause messages, data published through them, no early release, no message in another
// episode, and the votes of the episode that ends.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/comm/detectors.hpp"
#include "tests/comm/run_threads.hpp"
#include "tests/support/waits.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti {
namespace {

struct parcel {
  std::uint32_t episode;
  // The number among the messages of its source to this destination, in all episodes.
  std::uint32_t number;
  // The number of hops to go.
  std::uint32_t hops;
  // An index into the source's plain data.
  std::uint32_t cell;
};

// Detector, participants, wait policy.
using shape = std::tuple<std::string, rank_t, std::string>;

class Idle : public testing::TestWithParam<shape> {
 protected:
  void SetUp() override {
    if (!detail::find_by_name(wait_policies, wait())->available())
      GTEST_SKIP() << "this processor lacks what the wait policy " << wait() << " needs";
  }
  static std::string detector() { return std::get<0>(GetParam()); }
  static rank_t participants() { return std::get<1>(GetParam()); }
  static std::string wait() { return std::get<2>(GetParam()); }
  // A wait policy that polls and keeps the core needs a core per participant.
  static bool is_crowded() { return participants() > platform::usable_cpus(); }
  static std::uint32_t episodes() {
    if (!is_crowded()) return 400;
    return test::burns_the_core(wait()) ? 4 : 60;
  }
  static communicator_options options() {
    communicator_options chosen;
    chosen.detector = std::get<0>(GetParam());
    chosen.wait = std::get<2>(GetParam());
    // The rings are full now and then.
    chosen.ring_bytes = 512;
    chosen.batch_bytes = 64;
    return chosen;
  }
};

// One participant of a random program.
class walker {
 public:
  // The cells of a pair of participants: more than it has messages in an episode.
  static constexpr std::uint32_t cells = 2048;
  struct board {
    explicit board(rank_t n) : data(n * n * cells), entered(n), sent(n), delivered(n) {}
    // Plain: written before a message that names it, read after.
    std::vector<std::uint32_t> data;
    std::vector<std::atomic<std::uint32_t>> entered;
    // The messages of the episode; all participants read these after it.
    std::vector<std::uint64_t> sent, delivered;
  };

  walker(communicator& comm, rank_t rank, board& all)
      : me_(comm[rank]),
        n_(comm.size()),
        all_(all),
        random_(rank * 977 + comm.size()),
        numbers_(n_),
        expected_(n_) {}

  // relaxed everywhere: the test must not order what the library has to order.
  void run(std::uint32_t episodes) {
    for (episode_ = 0; episode_ < episodes; ++episode_) {
      const auto mine = static_cast<std::uint32_t>(random_() % 4 == 0 ? 0 : random_() % 20);
      for (std::uint32_t i = 0; i < mine; ++i)
        post(static_cast<rank_t>(random_() % n_), static_cast<std::uint32_t>(random_() % 4));
      // All vote true in every third episode.
      const bool vote = episode_ % 3 == 0 || (me_.rank() + episode_) % n_ != 0;
      const bool wanted = episode_ % 3 == 0;
      all_.entered[me_.rank()].store(episode_ + 1, std::memory_order_relaxed);
      note_counts();
      for (;;) {
        const idle_result now = me_.idle(vote);
        if (now == idle_result::message) {
          must(me_.can_recv(), "idle() says message, can_recv() does not");
          take_all();
          note_counts();
          continue;
        }
        must((now == idle_result::unanimous) == wanted,
             "the vote of episode " + std::to_string(episode_));
        break;
      }
      check_episode();
    }
  }

 private:
  void note_counts() {
    all_.sent[me_.rank()] = sent_total_;
    all_.delivered[me_.rank()] = delivered_total_;
  }

  void check_episode() {
    for (rank_t rank = 0; rank < n_; ++rank)
      must(all_.entered[rank].load(std::memory_order_relaxed) > episode_,
           "released before rank " + std::to_string(rank));
    must(!me_.can_recv(), "a message is left over, or of the next episode");
    // These plain data were written by all before idle(), and nobody may write them again before
    // all have read them.
    std::uint64_t sent = 0, delivered = 0;
    for (rank_t rank = 0; rank < n_; ++rank) {
      sent += all_.sent[rank];
      delivered += all_.delivered[rank];
    }
    must(sent == delivered, "released with messages under way");
    must(me_.idle(true) == idle_result::unanimous, "an empty episode");
  }

  void post(rank_t to, std::uint32_t hops) {
    while (!me_.can_send(to)) take_all();
    const std::uint32_t cell = numbers_[to] % cells;
    data_of(me_.rank(), to, cell) = episode_ + cell;
    me_.send(to, parcel{episode_, numbers_[to]++, hops, cell});
    ++sent_total_;
  }

  std::uint32_t& data_of(rank_t from, rank_t to, std::uint32_t cell) {
    return all_.data[(from * n_ + to) * cells + cell];
  }

  void take_all() {
    while (me_.can_recv()) {
      const received message = me_.recv();
      const auto p = message.as<parcel>();
      must(p.episode == episode_,
           "a message of episode " + std::to_string(p.episode) + " in " + std::to_string(episode_));
      must(p.number == expected_[message.source]++, "out of order");
      must(data_of(message.source, me_.rank(), p.cell) == episode_ + p.cell, "the data behind it");
      me_.release(message);
      ++delivered_total_;
      if (p.hops > 0) pending_.push_back(p.hops - 1);
    }
    // Sent from here and not from the loop, because post() may come back here.
    while (!pending_.empty()) {
      const std::uint32_t hops = pending_.back();
      pending_.pop_back();
      post(static_cast<rank_t>(random_() % n_), hops);
    }
  }

  endpoint& me_;
  rank_t n_;
  board& all_;
  std::mt19937 random_;
  std::uint32_t episode_ = 0;
  std::uint64_t sent_total_ = 0, delivered_total_ = 0;
  std::vector<std::uint32_t> numbers_, expected_;
  std::vector<std::uint32_t> pending_;
};

TEST_P(Idle, EndsEachEpisodeWhenAllMessagesAreDelivered) {
  communicator comm(participants(), options());
  walker::board all(participants());
  run_threads(participants(), [&](rank_t rank) { walker(comm, rank, all).run(episodes()); });
  std::uint64_t sent = 0, received = 0;
  for (rank_t rank = 0; rank < participants(); ++rank) {
    const endpoint_statistics s = comm[rank].statistics();
    EXPECT_EQ(s.episodes, 2 * episodes());
    sent += s.sent + s.self;
    received += s.received + s.self;
  }
  EXPECT_EQ(sent, received);
}

// A token goes round while all others wait; its data are plain.
TEST_P(Idle, IsWokenByAToken) {
  const rank_t n = participants();
  communicator comm(n, options());
  const std::uint32_t hops = episodes() * 4;
  std::uint64_t carried = 0;
  run_threads(n, [&](rank_t rank) {
    endpoint& me = comm[rank];
    if (rank == 0) me.send((rank + 1) % n, std::uint32_t{1});
    finish(me, true, [&](const received& message) {
      const auto hop = message.as<std::uint32_t>();
      must(++carried == hop, "the token's data");
      if (hop < hops) me.send((rank + 1) % n, hop + 1);
    });
  });
  EXPECT_EQ(carried, hops);
}

TEST_P(Idle, CombinesValuesInOneOrder) {
  const rank_t n = participants();
  communicator comm(n, options());
  const auto value = [](std::uint32_t episode, rank_t rank) {
    return 0.1 * (rank + 1) + 1e9 * (episode % 5) * (rank % 2);
  };
  run_threads(n, [&](rank_t rank) {
    endpoint& me = comm[rank];
    std::mt19937 random(rank);
    for (std::uint32_t episode = 0; episode < episodes(); ++episode) {
      if (random() % 2 == 0) me.send(static_cast<rank_t>(random() % n), 1);
      idle_value<double> sum;
      while ((sum = me.idle(true, value(episode, rank), plus{})).result == idle_result::message)
        drain(me);
      const double expected = schedule::fold(
          0, n, [&](rank_t r) { return value(episode, r); }, plus{});
      must(std::memcmp(&sum.value, &expected, sizeof expected) == 0, "the bits of a sum");
      // The operation is not commutative, so the order of the ranks shows.
      const auto first = [](std::uint64_t a, std::uint64_t b) { return 31 * a + b; };
      const auto word = me.idle(false, std::uint64_t{rank} + 1, first);
      must(word.result == (idle_result::idle), "the vote beside a value");
      must(word.value == schedule::fold(
                             0, n, [](rank_t r) { return std::uint64_t{r} + 1; }, first),
           "the order");
    }
  });
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  for (const std::string& detector : test::detector_names())
    for (const rank_t n : {1u, 2u, 3u, 4u, 7u, 8u, 17u})
      all.emplace_back(detector, n, default_wait);
  for (const detector_info& detector : detectors) {
    // All protocols wait in the same way.
    if (detector.is_protocol && detector.name != "star") continue;
    for (const wait_info& wait : wait_policies)
      for (const rank_t n : {2u, 3u, 8u})
        if (wait.name != default_wait && (n < 8 || !wait.burns_the_core))
          all.emplace_back(detector.name, n, wait.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Idle, testing::ValuesIn(shapes()), [](const auto& tested) {
  return std::get<0>(tested.param) + "_" + std::to_string(std::get<1>(tested.param)) + "_" +
         std::get<2>(tested.param);
});

}  // namespace
}  // namespace tutti
