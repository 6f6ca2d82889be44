// SPDX-License-Identifier: Apache-2.0
// Exchange reduction: each participant posts its value on a cache line of its own and reads the
// lines of all others. Barrier and reduction are one step, because the flag that announces the
// arrival is on the line of the value.
//
// Cost       one store and n-1 line transfers per participant. The transfers overlap, so for few
//            participants they take about as long as one. Each participant combines n values
//            itself.
// When       two to about eight participants with a core each. All-gather, scan and reduction cost
//            the same.
// When not   many participants (n^2 transfers in all), or more participants than cores.
// Source     the all-to-all exchange of MPI libraries for small groups, here with the flag inside
//            the line.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot holds a value while it travels: it is the type of the values, or a raw_value that holds
// values of several types.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class exchange_reduction {
 public:
  explicit exchange_reduction(rank_t participants)
      : n_(participants), locals_(participants), posts_(2 * participants), wait_(participants) {}

  // Posts `mine`, waits for all participants and then calls read(get), where get(rank) returns the
  // value that `rank` posted. If the deadline passes first, it returns false without the call, and
  // the object must not be used again. One thread at a time may use a rank.
  template <class T, class Read, class Deadline = no_deadline>
  bool gather(rank_t rank, const T& mine, Read&& read, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    post& own = post_of(rank, episode);
    own.value = mine;
    // release: publishes the value and my work before it; pairs with the others' load below.
    own.posted.store(episode, Memory::order("exchange.post", release));
    wait_.notify(own.posted);
    for (rank_t i = 1; i < n_; ++i) {
      const rank_t other = rank + i < n_ ? rank + i : rank + i - n_;
      // acquire: pairs with the other's post.
      if (!wait_.until(me.wait_state, post_of(other, episode).posted,
                       Memory::order("exchange.look", acquire), reached(episode), deadline))
        return false;
    }
    read([&](rank_t other) { return static_cast<T>(post_of(other, episode).value); });
    return true;
  }

  // Sets `result` to the values of all participants, combined in the order of the tournament
  // (schedule::fold). If the deadline passes first, it returns false and leaves `result` unchanged,
  // and the object must not be used again.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    return gather(
        rank, mine, [&](auto get) { result = schedule::fold(0, n_, get, combine); }, deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct alignas(cache_line) post {
    typename Memory::template atomic<std::uint32_t> posted{0};
    typename Memory::template plain<Slot> value{};
  };
  // Two posts take turns: no participant posts in the episode after the next before I have arrived
  // in the next episode, and so have read this one.
  post& post_of(rank_t rank, std::uint32_t episode) noexcept {
    return posts_[2 * std::size_t{rank} + episode % 2];
  }

  rank_t n_;
  array<participant<Wait>> locals_;
  array<post> posts_;
  Wait wait_;
};

}  // namespace tutti
