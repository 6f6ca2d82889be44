// SPDX-License-Identifier: Apache-2.0
// Queues that one would send small messages by otherwise: one for each receiver, or for each pair.
// None of them tells when all is delivered: the trial ends when as many messages have been taken as
// were sent, which each participant counts.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <vector>

#include "bench/trials/traffic.hpp"
#include "bench/trials/trial.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::bench {

// One participant.
template <class Queues, class T>
struct queue_port {
  Queues& queues;
  rank_t rank;
  std::uint64_t mine = 0;  // taken
  array<padded<std::atomic<std::uint64_t>>>& taken;
  std::uint64_t all;
  unsigned in_vain = 0;

  bool try_send(rank_t to, const T& message) { return queues.push(rank, to, message); }
  void drain(std::uint64_t& sum) {
    T message{};
    const std::uint64_t before = mine;
    for (; queues.pop(rank, message); ++mine) sum += message.words[0];
    in_vain = mine == before ? in_vain + 1 : 0;
    if (in_vain > 16) native::yield();
  }
  void end(std::uint64_t& sum) {
    for (;;) {
      drain(sum);
      // relaxed: a count.
      taken[rank].value.store(mine, relaxed);
      std::uint64_t so_far = 0;
      for (auto& count : taken) so_far += count.value.load(relaxed);  // relaxed: likewise
      if (so_far == all) return;
      native::relax();
    }
  }
};

// Queues<T> is made for n participants and has provider, name, push(from, to, message) and
// pop(receiver, message), which say whether they could.
template <template <class> class Queues, std::size_t Bytes>
trial queue_trial(rank_t n) {
  using message = payload<Bytes>;
  using queues_of = Queues<message>;
  auto queues = std::make_shared<queues_of>(n);
  return {"message",
          queues_of::provider,
          queues_of::name,
          fmt::format("others_{}_bytes", Bytes),
          n,
          [n, queues](team& threads, const placement& where, std::uint64_t count) {
            std::vector<std::uint64_t> sent(n), got(n);
            array<padded<std::atomic<std::uint64_t>>> taken(n);
            const std::uint64_t each = count / n + 1;
            const double ns = time_team(threads, where, [&](rank_t rank) {
              queue_port<queues_of, message> mine{*queues, rank, 0, taken, each * n};
              run_traffic<Bytes>(mine, rank, n, false, each, sent[rank], got[rank]);
            });
            check_sums(sent.data(), got.data(), n);
            return ns;
          }};
}

template <template <class> class Queues>
std::vector<trial> queue_trials(rank_t n) {
  return {queue_trial<Queues, 8>(n), queue_trial<Queues, 64>(n)};
}

}  // namespace tutti::bench
