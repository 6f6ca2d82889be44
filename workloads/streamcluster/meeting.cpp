// SPDX-License-Identifier: Apache-2.0
// Synchronises ranks by tutti's team, or by the barriers that programs use otherwise.
#include "streamcluster/meeting.hpp"

#include <pthread.h>

#include <barrier>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/reduce/operations.hpp"

namespace tutti::streamcluster {
namespace {

constexpr std::array<std::string_view, 2> foreign_names{"pthread", "std"};

class team_meeting final : public meeting_point {
 public:
  explicit team_meeting(member& me) noexcept : meeting_point(me.rank(), me.size()), me_(me) {}

 private:
  void meet() override { me_.barrier(); }
  amounts combine(const amounts& mine) override { return me_.reduce(plus{}, mine); }

  member& me_;
};

class pthread_subject {
 public:
  explicit pthread_subject(rank_t n) {
    if (pthread_barrier_init(&barrier_, nullptr, n) != 0) {
      throw std::runtime_error("pthread_barrier_init failed");
    }
  }
  ~pthread_subject() { pthread_barrier_destroy(&barrier_); }
  pthread_subject(const pthread_subject&) = delete;
  pthread_subject& operator=(const pthread_subject&) = delete;
  void arrive_and_wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

class standard_subject {
 public:
  explicit standard_subject(rank_t n) : barrier_(static_cast<std::ptrdiff_t>(n)) {}
  void arrive_and_wait() { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

// The state that the ranks share. The parts of a sum are in two arrays used in turn: a rank that
// writes one of them again has met all others since they read it.
template <class Barrier>
struct foreign_hall {
  explicit foreign_hall(rank_t n) : barrier(n), parts{std::vector<part>(n), std::vector<part>(n)} {}
  struct alignas(128) part {
    amounts value;
  };
  Barrier barrier;
  std::array<std::vector<part>, 2> parts;
};

template <class Barrier>
class foreign_meeting final : public meeting_point {
 public:
  foreign_meeting(member& me, foreign_hall<Barrier>& hall) noexcept
      : meeting_point(me.rank(), me.size()), hall_(hall) {}

 private:
  void meet() override { hall_.barrier.arrive_and_wait(); }
  amounts combine(const amounts& mine) override {
    auto& parts = hall_.parts[turn_ ^= 1];
    parts[rank()].value = mine;
    hall_.barrier.arrive_and_wait();
    amounts total{};
    for (const auto& part : parts) total = plus{}(total, part.value);
    return total;
  }

  foreign_hall<Barrier>& hall_;
  unsigned turn_ = 0;
};

template <class Barrier>
void meet_foreign(team& ranks, const std::function<void(meeting_point&)>& body) {
  if (ranks.size() > ranks.threads()) {
    throw std::invalid_argument(
        "a third-party barrier needs a thread for each rank: " + std::to_string(ranks.size()) +
        " ranks on " + std::to_string(ranks.threads()) + " threads");
  }
  foreign_hall<Barrier> hall(ranks.size());
  ranks.run([&](member& me) {
    foreign_meeting<Barrier> point(me, hall);
    body(point);
  });
}

}  // namespace

std::span<const std::string_view> foreign_barriers() noexcept { return foreign_names; }

void meet_in(team& ranks, meeting_kind kind, const std::function<void(meeting_point&)>& body) {
  switch (kind) {
    case meeting_kind::pthread: return meet_foreign<pthread_subject>(ranks, body);
    case meeting_kind::standard: return meet_foreign<standard_subject>(ranks, body);
    case meeting_kind::team: break;
  }
  ranks.run([&](member& me) {
    team_meeting point(me);
    body(point);
  });
}

}  // namespace tutti::streamcluster
